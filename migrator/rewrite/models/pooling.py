"""What the pooling builders share: sizes, and whether a function will do or a module must be kept."""

from __future__ import annotations

import libcst as cst

from migrator.rewrite.models.construction import channels_last_only, construct, padding_mode
from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall, NotConstant
from migrator.rewrite.models.sizes import window_sizes


def pool2d(call: LayerCall, function: str, module: str, same: str) -> Step:
    """A function for plain pooling with literal arguments, a module of the support code for SAME padding."""
    call.settle_rank(4)
    channels_last_only(call)
    mode = padding_mode(call)
    sizes = call.pair("pool_size")
    strides = sizes if call.constant("strides") is None else call.pair("strides")
    arguments = [call.compact("pool_size")]
    stride = None if call.constant("strides") is None else call.compact("strides")
    if stride is not None and cst.Module([]).code_for_node(stride) == cst.Module([]).code_for_node(arguments[0]):
        stride = None
    literal = not isinstance(call.constant("pool_size"), NotConstant) and not isinstance(
        call.constant("strides"), NotConstant
    )
    spatial = window_sizes(call.operand.spatial, sizes, strides, None, mode) if sizes is not None else None
    if mode == "valid" and literal:
        text = construct(function, [cst.Name("OPERAND"), *arguments], {"stride": stride})
        code = cst.Module([]).code_for_node(text).replace("OPERAND", "{x}")
        return call.finish(
            Step(code, code, None, wants="first", rank=4, spatial=spatial, keeps=frozenset({"channels"}))
        )
    padding = call.value("padding") if mode is None else None
    make = construct(module if mode == "valid" else same, arguments, {"stride": stride, "padding": padding})
    return call.finish(
        Step(
            "{self}({x})",
            "{self}({x})",
            make,
            "pool",
            wants="first",
            rank=4,
            spatial=spatial,
            keeps=frozenset({"channels"}),
        )
    )
