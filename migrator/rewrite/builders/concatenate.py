"""Concatenate along an axis of the source's order."""

from functools import reduce

from migrator.rewrite.models.axes import axis_code
from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall
from migrator.rewrite.models.sizes import Size, add, combine


def concatenate(call: LayerCall) -> Step:
    """`torch.cat` with the axis where the layout has it; sizes along it add up."""
    if len({tensor.rank for tensor in call.operands} - {None}) > 1:
        raise call.refuse("tensors of different ranks are concatenated")
    if call.operand.rank is None and not call.around.draft and call.constant("axis") != -1:
        raise call.refuse("the rank of the tensors to concatenate is not known")
    first, last = axis_code(call, "axis")
    rank = call.operand.rank
    axis = int(last) + rank if rank is not None and int(last) < 0 else int(last)
    channels, spatial = call.operand.channels, call.operand.spatial
    if axis == -1 or (rank is not None and axis == rank - 1):
        channels = _sum(call, [tensor.channels for tensor in call.operands])
    elif axis == 0:
        raise call.refuse("concatenation along the batch axis is not handled")
    elif spatial is not None:
        along = [tensor.spatial[axis - 1] if tensor.spatial else None for tensor in call.operands]
        joined = None if call.twin else _sum(call, along)
        spatial = tuple(joined if index == axis - 1 else size for index, size in enumerate(spatial))
    operands = "{xs}" if call.twin else "[" + ", ".join(f"{{x{i}}}" for i in range(len(call.operands))) + "]"
    return call.finish(
        Step(
            f"torch.cat({operands}, dim={first})",
            f"torch.cat({operands}, dim={last})",
            channels=channels,
            spatial=spatial,
            keeps=frozenset({"rank"}),
        )
    )


def _sum(call: LayerCall, sizes: list[Size | None]) -> Size | None:
    if call.twin is not None:
        twin = call.around.size(_name(call.twin))
        return combine("sum({list})", None, list=twin)
    known = [size for size in sizes if size is not None]
    return reduce(add, known) if len(known) == len(sizes) else None


def _name(twin: str):  # type: ignore[no-untyped-def]
    import libcst as cst

    return cst.parse_expression(twin)
