"""Axes of the source's order as the layout of a tensor has them."""

from __future__ import annotations

from migrator.rewrite.models.layer_call import LayerCall, NotConstant


def first_axis(axis: int, rank: int) -> int:
    """Where an axis of the channels-last order stands once channels come first. The last axis is 1 then."""
    positive = axis + rank if axis < 0 else axis
    if positive == 0:
        return 0
    return 1 if positive == rank - 1 else positive + 1


def axis_code(call: LayerCall, name: str) -> tuple[str, str]:
    """An axis argument as `dim` for channels-first and for channels-last operands.

    Refuses an axis that only a run can tell, or one outside the tensor.
    """
    axis = call.constant(name)
    if isinstance(axis, NotConstant) or not isinstance(axis, int):
        raise call.refuse(f"`{name}` is only known when the program runs")
    rank = call.operand.rank
    if rank is None:
        return str(axis), str(axis)
    if not -rank <= axis < rank:
        raise call.refuse(f"`{name}={axis}` is outside a tensor of rank {rank}")
    return (str(first_axis(axis, rank)) if rank > 2 else str(axis)), str(axis)
