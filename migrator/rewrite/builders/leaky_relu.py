"""LeakyReLU: Keras's slope is 0.3 where PyTorch's is 0.01; Keras 2 calls it `alpha`."""

from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall


def leaky_relu(call: LayerCall) -> Step:
    """`F.leaky_relu` with the slope written out."""
    name = "negative_slope" if call.left_out("alpha") else "alpha"
    slope = call.raw(name)
    return call.finish(
        Step(
            "F.leaky_relu({x}, {slope})", "F.leaky_relu({x}, {slope})", parts={"slope": slope}, activation="leaky_relu"
        )
    )
