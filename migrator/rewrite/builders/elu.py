"""ELU."""

from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall


def elu(call: LayerCall) -> Step:
    """`F.elu` with its slope where it is not 1."""
    if call.left_out("alpha"):
        return call.finish(Step("F.elu({x})", "F.elu({x})", activation="elu"))
    parts = {"alpha": call.raw("alpha")}
    return call.finish(Step("F.elu({x}, {alpha})", "F.elu({x}, {alpha})", parts=parts, activation="elu"))
