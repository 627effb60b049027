"""Softmax along an axis of the source's order."""

from migrator.rewrite.models.axes import axis_code
from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall


def softmax(call: LayerCall) -> Step:
    """`F.softmax` with the axis where the layout has it."""
    first, last = axis_code(call, "axis")
    label = "softmax" if last in ("-1", str((call.operand.rank or 0) - 1)) else None
    return call.finish(Step(f"F.softmax({{x}}, dim={first})", f"F.softmax({{x}}, dim={last})", activation=label))
