"""Names of classes and attributes, taken from what the source calls things."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable

import libcst as cst

from migrator.rewrite.models.ir import Layer

_ACRONYMS = {
    "resnet": "ResNet", "unet": "UNet", "lstm": "LSTM", "gru": "GRU", "cnn": "CNN", "mlp": "MLP", "se": "SE",
    "vgg": "VGG", "vae": "VAE", "gan": "GAN", "rnn": "RNN", "fcn": "FCN", "densenet": "DenseNet", "bn": "BN",
    "mobilenet": "MobileNet", "efficientnet": "EfficientNet", "convnet": "ConvNet", "autoencoder": "Autoencoder",
}  # fmt: skip
_VERBS = {"build", "create", "get", "make", "define", "construct"}
_TAILS = {"fn", "model"}
_IRREGULAR = {"dense": "dense_layers", "batch": "batches"}
_WORD = 3  # letters that a computed name must have in one piece to be a word
# names that say nothing about a layer
_VAGUE = {
    "x", "y", "z", "h", "o", "out", "output", "outputs", "net", "tensor", "inputs", "input", "features", "feature",
    "res", "result", "layer", "model", "hidden", "tmp", "temp", "prev", "current", "branch", "path", "block_output",
}  # fmt: skip
# what nn.Module has already
_TAKEN = {
    "forward", "penalty", "training", "train", "eval", "type", "to", "float", "double", "half", "cuda", "cpu", "apply",
    "parameters", "modules", "children", "buffers", "state_dict", "load_state_dict", "zero_grad", "compile",
    "share_memory", "add_module", "register_buffer", "register_parameter", "named_modules", "named_parameters",
    "extra_repr", "bfloat16", "requires_grad_", "get_parameter", "get_buffer", "get_submodule", "ipu", "xpu", "mtia",
    "dump_patches", "call_super_init",
}  # fmt: skip


def class_name(function: str, taken: Iterable[str], fallbacks: Iterable[str] = ()) -> str:
    """`build_resnet` -> `ResNet`; the first fallback with a word in it where nothing is left of the name."""
    for text in (function, *fallbacks, "model"):
        words = [word for word in re.split(r"[_\W]+", text) if word]
        if (len(words) == 1 and re.search(r"[a-z][A-Z]", words[0])) or (
            words and text == text.capitalize() and len(words) == 1 and text[:1].isupper()
        ):
            name = words[0][:1].upper() + words[0][1:]
        else:
            kept = [word for word in words if word.lower() not in _VERBS]
            while len(kept) > 1 and kept[-1].lower() in _TAILS:
                kept.pop()
            if [word.lower() for word in kept] in (["model"], ["fn"], []):
                continue
            name = "".join(_ACRONYMS.get(word.lower(), word[:1].upper() + word[1:]) for word in kept)
        name = name.lstrip("0123456789")
        if name:
            break
    else:
        name = "Net"
    taken = set(taken)
    while name in taken:
        name += "Module"
    return name


def hints_of(call: cst.Call) -> tuple[str, ...]:
    """What the literal `name=` of a layer offers as an attribute's name."""
    for argument in call.args:
        if argument.keyword is not None and argument.keyword.value == "name":
            return tuple(_from_literal(argument.value))
    return ()


def _from_literal(node: cst.BaseExpression) -> list[str]:
    if isinstance(node, cst.SimpleString):
        text = str(node.evaluated_value)
    elif isinstance(node, cst.FormattedString):
        parts = [part.value for part in node.parts if isinstance(part, cst.FormattedStringText)]
        text = "_".join(re.sub(r"\d+", "", part) for part in parts)
        if max((len(word) for word in re.split(r"[_\W]+", text)), default=0) < _WORD:
            return []
    elif isinstance(node, cst.BinaryOperation) and isinstance(node.operator, cst.Add):
        return [hint for side in (node.right, node.left) for hint in _from_literal(side)][:1]
    else:
        return []
    text = re.sub(r"_+", "_", text).strip("_").lower()
    return [text] if _usable(text) and len(text) > 1 else []


def hints_of_helper(function: str, call: cst.Call) -> tuple[str, ...]:
    """Attribute names for a helper's module: its literal `name=`, then the helper's own name."""
    words = [word for word in re.split(r"_+", _snake(function)) if word and word not in _VERBS]
    return (*hints_of(call), "_".join(words) or "block")


def of_target(target: str) -> tuple[str, ...]:
    """What the variable offers that a layer's output is bound to."""
    return () if target.lower() in _VAGUE or re.fullmatch(r"[a-z]{1,2}\d*", target) else (target,)


def assign_attributes(layers: list[Layer], taken: set[str]) -> None:
    """Gives every kept layer its attribute: a hint where there is one, else its kind, numbered from two on."""
    wanted = [_wish(layer, taken) for layer in layers]
    totals = {name: wanted.count(name) for name in wanted}
    used = set(taken) | _TAKEN
    counters: dict[str, int] = {}
    for layer, name in zip(layers, wanted, strict=True):
        if totals[name] == 1 and name not in used:
            layer.attribute = name
        else:
            while True:
                counters[name] = counters.get(name, 0) + 1
                candidate = f"{name}{counters[name]}" if not name[-1:].isdigit() else f"{name}_{counters[name]}"
                if candidate not in used and candidate not in wanted:
                    break
            layer.attribute = candidate
        used.add(layer.attribute)


def _wish(layer: Layer, taken: set[str]) -> str:
    for hint in (*layer.hints, layer.short):
        name = hint
        if not name or not _usable(name):
            continue
        if layer.listed:
            name = plural(re.sub(r"_?\d+$", "", name) or name)
        if name not in taken and name not in _TAKEN:
            return name
    return plural("layer") if layer.listed else "layer"


def plural(name: str) -> str:
    """A list's name: `conv` -> `convs`."""
    if name in _IRREGULAR:
        return _IRREGULAR[name]
    if re.search(r"(s|x|z|ch|sh)$", name):
        return name + "es" if not name.endswith("s") or name.endswith("ss") else name
    return name[:-1] + "ies" if re.search(r"[^aeiou]y$", name) else name + "s"


def singular(name: str) -> str:
    """One of a list: `skips` -> `skip`."""
    stem = name.rstrip("0123456789")
    if stem and stem != name:
        return singular(stem) + name[len(stem) :]
    for one, many in _IRREGULAR.items():
        if name == many:
            return one
    if name.endswith("ies"):
        return name[:-3] + "y"
    if re.search(r"(xes|zes|ches|shes|sses)$", name):
        return name[:-2]
    return name[:-1] if name.endswith("s") and not name.endswith("ss") else f"{name}_item"


def _snake(name: str) -> str:
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower()


def _usable(name: str) -> bool:
    return name.isidentifier() and not keyword.iskeyword(name) and not name.startswith("_")
