"""GlobalMaxPooling2D."""

from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall
from migrator.rewrite.models.reduction import global_pool2d


def global_max_pool2d(call: LayerCall) -> Step:
    """The largest value over height and width."""
    return global_pool2d(call, "amax")
