"""Flatten reads the source's order, so a channels-first tensor is turned back before it."""

from functools import reduce

from migrator.rewrite.models.construction import channels_last_only
from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall
from migrator.rewrite.models.sizes import Size, multiply


def flatten(call: LayerCall) -> Step:
    """`x.flatten(1)`, with the product of all sizes as the number of features where every one is known."""
    channels_last_only(call)
    operand = call.operand
    total: Size | None = None
    if operand.rank == 2:
        total = operand.channels
    elif operand.spatial is not None and operand.channels is not None and None not in operand.spatial:
        sizes = [size for size in operand.spatial if size is not None]
        total = reduce(multiply, [*sizes, operand.channels])
    code = "{x}.flatten(1)"
    return call.finish(Step(code, code, wants="last", rank=2, channels=total, spatial=(), keeps=frozenset()))
