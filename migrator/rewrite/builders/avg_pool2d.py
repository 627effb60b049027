"""AveragePooling2D: padded cells do not count."""

from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall
from migrator.rewrite.models.pooling import pool2d


def avg_pool2d(call: LayerCall) -> Step:
    """`F.avg_pool2d`, or `AvgPool2dSame` where TensorFlow pads."""
    return pool2d(call, "F.avg_pool2d", "nn.AvgPool2d", "AvgPool2dSame")
