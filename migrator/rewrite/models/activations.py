"""Keras's activations by name, as PyTorch writes them."""

from __future__ import annotations

# name -> forward template; {dim} is where the channels are
_CODE = {
    "relu": "F.relu({y})",
    "relu6": "F.relu6({y})",
    "sigmoid": "torch.sigmoid({y})",
    "tanh": "torch.tanh({y})",
    "elu": "F.elu({y})",
    "selu": "F.selu({y})",
    "softplus": "F.softplus({y})",
    "softsign": "F.softsign({y})",
    "swish": "F.silu({y})",
    "silu": "F.silu({y})",
    "gelu": "F.gelu({y})",
    "exponential": "torch.exp({y})",
    "mish": "F.mish({y})",
    "softmax": "F.softmax({y}, dim={dim})",
    "log_softmax": "F.log_softmax({y}, dim={dim})",
    "hard_silu": "F.hardswish({y})",
    "hard_swish": "F.hardswish({y})",
    "leaky_relu": "F.leaky_relu({y}, 0.2)",
    "linear": "{y}",
}
# Keras 2 computes clip(0.2 x + 0.5, 0, 1), Keras 3 relu6(x + 3) / 6
_HARD_SIGMOID = {2: "torch.clamp(0.2 * {y} + 0.5, 0.0, 1.0)", 3: "F.hardsigmoid({y})"}
_PREFIXES = ("tf.keras.activations.", "tf.nn.", "tf.math.", "tf.", "tf.keras.backend.", "tf.keras.ops.")
# The same word means another function outside Keras's own names
_OTHER_THAN_KERAS = {"tf.keras.ops.gelu", "tf.keras.backend.hard_sigmoid"}


def activation_code(name: str, keras: int) -> tuple[str, str, str | None] | None:
    """Forward templates for channels-first and channels-last operands, and the activation's plain name.

    `name` is Keras's string or the canonical name of a function. None where there is no translation.
    """
    short = _short(name)
    if short is None:
        return None
    template = _HARD_SIGMOID[keras] if short == "hard_sigmoid" else _CODE.get(short)
    if template is None:
        return None
    return template.replace("{dim}", "1"), template.replace("{dim}", "-1"), None if short == "linear" else short


def _short(name: str) -> str | None:
    if name in _OTHER_THAN_KERAS:
        return None
    if "." not in name:
        return name
    for prefix in _PREFIXES:
        rest = name.removeprefix(prefix)
        if rest != name and "." not in rest:
            return rest
    return None
