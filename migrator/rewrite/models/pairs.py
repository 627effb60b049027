"""The pair of migrate.toml for a rewritten factory: where both are, and what array the model takes."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from migrator.facts import Accept, Pair
from migrator.rewrite.models.constants import fold
from migrator.rewrite.models.group import Printed
from migrator.rewrite.models.inputs import InputFacts
from migrator.rewrite.models.layer_call import NOT_CONSTANT

_BECAUSE = {
    "batchnorm-variance": "PyTorch remembers the unbiased variance of a batch, Keras 3 the biased one: "
    "a factor of N / (N - 1) on what is remembered, with N values per channel and batch",
}


def pair_of(item: Printed) -> Pair | None:
    """None where the factory needs arguments, or an input's shape is only known at run time."""
    function, model = item.function, item.model
    if model is None or any(param.default is None for param in function.params) or function.stars:
        return None
    specs = [_spec(item, given, len(model.inputs) > 1) for given in model.inputs]
    if not specs or any(spec is None for spec in specs):
        return None
    reference = f"{function.definition.file}:{function.name}"
    accept = tuple(
        Accept(difference, _BECAUSE[difference])
        for difference in sorted(item.summary.differences)
        if difference in _BECAUSE
    )
    return Pair(
        name=_name(item),
        tensorflow=reference,
        torch=reference,
        inputs=tuple(spec for spec in specs if spec is not None),
        accept=accept,
    )


def output_width(item: Printed) -> int | None:
    """The channels of a model's only output, from the defaults of the factory's parameters."""
    model = item.model
    if model is None or len(model.outputs) != 1 or model.outputs[0].rank != 2 or model.outputs[0].channels is None:
        return None
    known = fold(model.outputs[0].channels.expr, item.reading.names.api, _named(item))
    return known if isinstance(known, int) and not isinstance(known, bool) else None


def targeted(pair: Pair, width: int | None) -> Pair:
    """The pair with targets that its loss can take: classes for a sparse cross-entropy, and so on."""
    if pair.loss is None or pair.target is not None or width is None:
        return pair
    name = pair.loss.name
    if name == "SparseCategoricalCrossentropy":
        return replace(pair, target=f"int64[batch]:int(0,{width})")
    if name == "BinaryCrossentropy":
        return replace(pair, target=f"float32[batch,{width}]:uniform(0,1)")
    return pair


def _named(item: Printed) -> dict[str, cst.BaseExpression]:
    defaults = {param.name.value: param.default for param in item.function.params if param.default is not None}
    return {**defaults, **item.reading.named}


def _name(item: Printed) -> str:
    stem = item.function.definition.file.removesuffix(".py").replace("/", "-")
    return f"{stem}-{item.function.name}".replace("_", "-").lower()


def _spec(item: Printed, given: InputFacts, several: bool) -> str | None:
    """`float32[batch,28,28,1]`, from the defaults of the factory's parameters."""
    if given.shape is None or given.dtype != "float32":
        return None
    named = {param.name.value: param.default for param in item.function.params if param.default is not None} | dict(
        item.reading.named
    )
    known = fold(given.shape, item.reading.names.api, named)
    if known is NOT_CONSTANT or not isinstance(known, (tuple, list)):
        return None
    if not all(isinstance(size, int) and not isinstance(size, bool) for size in known):
        return None
    return f"float32[{','.join(['batch', *map(str, known)])}]"
