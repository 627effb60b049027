"""Pieces that builders share: a constructor call, and what Keras's weights start from and are charged for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from decimal import Decimal

import libcst as cst

from migrator.rewrite.models.layer_call import NOT_CONSTANT, LayerCall, NotConstant
from migrator.rewrite.models.sizes import Size
from migrator.rewrite.templates import expression

_INITIALIZERS = {
    "glorot_uniform": "glorot_uniform_",
    "glorot_normal": "glorot_normal_",
    "he_normal": "he_normal_",
    "he_uniform": "he_uniform_",
    "lecun_normal": "lecun_normal_",
    "lecun_uniform": "lecun_uniform_",
    "orthogonal": "orthogonal_weights(1.0)",
    "zeros": "nn.init.zeros_",
    "ones": "nn.init.ones_",
    "random_normal": "normal_weights(0.0, 0.05)",
    "random_uniform": "uniform_weights(-0.05, 0.05)",
    "truncated_normal": "truncated_normal_weights(0.0, 0.05)",
    "normal": "normal_weights(0.0, 0.05)",
    "uniform": "uniform_weights(-0.05, 0.05)",
}


def construct(
    callee: str, positional: Sequence[cst.BaseExpression], keywords: Mapping[str, cst.BaseExpression | None]
) -> cst.BaseExpression:
    """`callee(positional…, keyword=…)`; keywords that are None are left out."""
    names = [f"p{index}" for index in range(len(positional))]
    given = {name: value for name, value in keywords.items() if value is not None}
    template = ", ".join([*(f"{{{name}}}" for name in names), *(f"{name}={{{name}}}" for name in given)])
    return expression(f"{callee}({template})", **dict(zip(names, positional, strict=True)), **given)


def features(size: Size | None) -> cst.BaseExpression | None:
    """A size as a constructor's argument, None where it is unknown."""
    return None if size is None else size.expr


def kept(
    call: LayerCall, make: cst.BaseExpression, weight: str = "kernel", bias: str | None = "bias"
) -> tuple[cst.BaseExpression, bool]:
    """The module wrapped with the initialisers and regularisers that differ from Keras's defaults.

    Returns the expression, and whether the layer adds to the regularisation loss.
    """
    starts = {"weight": _initializer(call, f"{weight}_initializer", "glorot_uniform")}
    penalties = {"weight": _regularizer(call, f"{weight}_regularizer")}
    if bias is not None:
        starts["bias"] = _initializer(call, f"{bias}_initializer", "zeros")
        penalties["bias"] = _regularizer(call, f"{bias}_regularizer")
    if any(value is not None for value in starts.values()):
        make = construct("initialized", [make], starts)
    regular = any(value is not None for value in penalties.values())
    if regular:
        make = construct("regularized", [make], penalties)
    return make, regular


def _initializer(call: LayerCall, parameter: str, default: str) -> cst.BaseExpression | None:
    node = call.raw(parameter)
    known = call.around.constant(node)
    if known is None or known == default or (isinstance(known, str) and known.lower() == default):
        return None
    if isinstance(known, str):
        if known.lower() not in _INITIALIZERS:
            raise call.refuse(f"the initialiser {known!r} has no translation yet")
        return cst.parse_expression(_INITIALIZERS[known.lower()])
    if not isinstance(known, NotConstant):
        raise call.refuse(f"`{parameter}={known!r}` is no initialiser")
    value = call.around.construct(node)
    if isinstance(node, cst.Call) and call.around.api(node.func) is not None:
        return value
    return expression("initializer_named({value})", value=value)


def _regularizer(call: LayerCall, parameter: str) -> cst.BaseExpression | None:
    node = call.raw(parameter)
    known = call.around.constant(node)
    if known is None:
        return None
    if isinstance(known, str):
        text = known.lower()
        if text not in ("l1", "l2"):
            raise call.refuse(f"the regulariser {known!r} has no translation yet")
        return cst.parse_expression(f"{text}_penalty(0.01)")
    return call.around.construct(node)


def complement(call: LayerCall, name: str) -> cst.BaseExpression:
    """1 - value, written as a plain decimal where the value is one: Keras's momentum as PyTorch counts it."""
    known = call.constant(name)
    if isinstance(known, (int, float)) and not isinstance(known, bool):
        return cst.parse_expression(format(1 - Decimal(str(known)), "f"))
    return expression("1 - {value}", value=call.value(name))


def flag(call: LayerCall, name: str) -> bool:
    """A boolean argument that the source settles. Refuses where only a run can tell."""
    known = call.constant(name)
    if known is NOT_CONSTANT:
        raise call.refuse(f"whether `{name}` is true is only known when the program runs")
    return bool(known)


def channels_last_only(call: LayerCall) -> None:
    """Refuses `data_format` other than channels-last."""
    known = call.constant("data_format")
    if known not in (None, "channels_last"):
        raise call.refuse("only `data_format='channels_last'` is handled")


def padding_mode(call: LayerCall) -> str | None:
    """`"same"` or `"valid"`; None where only a run can tell."""
    known = call.constant("padding")
    if isinstance(known, str) and known.lower() in ("same", "valid"):
        return known.lower()
    if isinstance(known, NotConstant):
        return None
    raise call.refuse(f"the padding {known!r} is not handled")
