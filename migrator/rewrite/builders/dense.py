"""Dense acts on the last axis of the source's order, whatever the rank."""

import libcst as cst

from migrator.rewrite.models.construction import construct, features, kept
from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall


def dense(call: LayerCall) -> Step:
    """`nn.Linear`, lazy where the number of features cannot be derived."""
    units = call.size("units")
    bias = None if call.left_out("use_bias") else call.value("use_bias")
    inputs = features(call.operand.channels)
    if inputs is None:
        make = construct("nn.LazyLinear", [units.expr], {"bias": bias})
    else:
        make = construct("nn.Linear", [inputs, units.expr], {"bias": bias})
    make, penalty = kept(call, make)
    activation = call.activation()
    code = activation.around("{self}({x})")
    return call.finish(
        Step(
            code["first"],
            code["last"],
            make,
            "dense",
            wants="last",
            channels=units,
            keeps=frozenset({"rank", "spatial"}),
            parts=activation.parts,
            activation=activation.label,
            penalty=penalty,
            notes=_notes(inputs),
        )
    )


def _notes(inputs: cst.BaseExpression | None) -> tuple[str, ...]:
    return () if inputs is not None else ("the number of input features is only known at the first call",)
