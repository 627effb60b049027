"""Activation: a function by name, or a callable of the program."""

from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall


def activation(call: LayerCall) -> Step:
    """The function itself; `softmax` along the channels, wherever the layout has them."""
    found = call.activation()
    code = found.around("{x}")
    return call.finish(Step(code["first"], code["last"], parts=found.parts, activation=found.label))
