"""MaxPooling2D: padding never wins."""

from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall
from migrator.rewrite.models.pooling import pool2d


def max_pool2d(call: LayerCall) -> Step:
    """`F.max_pool2d`, or `MaxPool2dSame` where TensorFlow pads."""
    return pool2d(call, "F.max_pool2d", "nn.MaxPool2d", "MaxPool2dSame")
