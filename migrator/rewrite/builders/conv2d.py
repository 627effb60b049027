"""Conv2D: PyTorch pads "same" itself where the stride is 1, everywhere else the pad depends on the input's size."""

import libcst as cst

from migrator.rewrite.models.construction import channels_last_only, construct, kept, padding_mode
from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall
from migrator.rewrite.models.sizes import Pair, window_sizes


def conv2d(call: LayerCall) -> Step:
    """`nn.Conv2d`, or `Conv2dSame` where the padding depends on the size of the input."""
    call.settle_rank(4)
    channels_last_only(call)
    filters = call.size("filters")
    kernel, stride, dilation = call.pair("kernel_size"), call.pair("strides"), call.pair("dilation_rate")
    mode = padding_mode(call)
    keywords = {
        "stride": _unless_one(call, "strides"),
        "padding": None,
        "dilation": _unless_one(call, "dilation_rate"),
        "groups": _unless_one(call, "groups"),
        "bias": None if call.left_out("use_bias") else call.value("use_bias"),
    }
    callee = "nn.Conv2d"
    if mode is None:
        callee, keywords["padding"] = "Conv2dSame", call.value("padding")
    elif mode == "same" and not _all_one(kernel):
        if _all_one(stride):
            keywords["padding"] = cst.parse_expression('"same"')
        else:
            callee = "Conv2dSame"
    inputs = call.operand.channels
    if inputs is None:
        if callee != "nn.Conv2d":
            raise call.refuse("the number of input channels cannot be derived")
        make = construct("nn.LazyConv2d", [filters.expr, call.compact("kernel_size")], keywords)
    else:
        make = construct(callee, [inputs.expr, filters.expr, call.compact("kernel_size")], keywords)
    make, penalty = kept(call, make)
    activation = call.activation()
    code = activation.around("{self}({x})")
    return call.finish(
        Step(
            code["first"],
            code["last"],
            make,
            "conv",
            wants="first",
            rank=4,
            channels=filters,
            spatial=window_sizes(call.operand.spatial, kernel, stride, dilation, mode),
            keeps=frozenset(),
            parts=activation.parts,
            activation=activation.label,
            penalty=penalty,
        )
    )


def _unless_one(call: LayerCall, name: str) -> cst.BaseExpression | None:
    if call.constant(name) in (1, (1, 1), [1, 1]):
        return None
    return call.compact(name)


def _all_one(pair: Pair) -> bool:
    return pair is not None and all(size.value == 1 for size in pair)
