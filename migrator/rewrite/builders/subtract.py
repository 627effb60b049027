"""Subtract, element by element."""

from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall
from migrator.rewrite.models.merging import elementwise


def subtract(call: LayerCall) -> Step:
    """The first operand minus the second."""
    if call.twin is not None or len(call.operands) != 2:
        raise call.refuse("Subtract takes exactly two tensors, written one by one")
    return elementwise(call, " - ", "")
