"""Add, element by element."""

from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall
from migrator.rewrite.models.merging import elementwise


def add(call: LayerCall) -> Step:
    """The operands joined by `+`."""
    return elementwise(call, " + ", "sum({xs})")
