"""BatchNormalization: momentum counts the other way round, epsilon is larger, scale and centre are apart."""

from migrator.rewrite.models.construction import complement, construct, features, flag
from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall, NotConstant
from migrator.rewrite.templates import expression

_CLASSES = {2: "BatchNorm1d", 3: "BatchNorm1d", 4: "BatchNorm2d", 5: "BatchNorm3d"}


def batch_norm(call: LayerCall) -> Step:
    """`nn.BatchNorm…d` by the operand's rank; a missing gamma or beta is kept and frozen."""
    rank = call.operand.rank
    if rank is None and call.around.draft:
        rank = 4  # a caller will tell
    if rank not in _CLASSES:
        raise call.refuse("the rank of the tensor to normalise is not known")
    axis = call.constant("axis")
    if axis == [-1] or axis == (-1,):
        axis = -1
    if isinstance(axis, NotConstant) or axis not in (-1, rank - 1):
        raise call.refuse("only the channel axis (the last one) can be normalised")
    count = features(call.operand.channels)
    if count is None:
        raise call.refuse("the number of channels to normalise cannot be derived")
    scale, centre = flag(call, "scale"), flag(call, "center")
    faithful = call.around.profile == "faithful" and call.keras == 3
    callee = ("Population" if faithful else "nn.") + _CLASSES[rank]
    make = construct(
        callee,
        [count],
        {
            "eps": call.value("epsilon"),
            "momentum": complement(call, "momentum"),
            "affine": None if scale or centre else expression("False"),
        },
    )
    for kept, name, other in ((scale, "weight", centre), (centre, "bias", scale)):
        if not kept and other:
            make = expression(f'frozen({{make}}, "{name}")', make=make)
    for name, default in (("beta", "zeros"), ("gamma", "ones"), ("moving_mean", "zeros"), ("moving_variance", "ones")):
        if call.constant(f"{name}_initializer") != default:
            raise call.refuse(f"`{name}_initializer` other than {default!r} is not handled yet")
    step = call.finish(Step("{self}({x})", "{self}({x})", make, "bn", wants="first" if rank > 2 else None))
    return step if not faithful else _without(step, "batchnorm-variance")


def _without(step: Step, difference: str) -> Step:
    from dataclasses import replace

    return replace(step, differences=step.differences - {difference})
