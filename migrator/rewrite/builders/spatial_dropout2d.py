"""SpatialDropout2D drops whole channels."""

from migrator.rewrite.models.construction import channels_last_only, construct
from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall


def spatial_dropout2d(call: LayerCall) -> Step:
    """`nn.Dropout2d`, which needs channels first."""
    call.settle_rank(4)
    channels_last_only(call)
    make = construct("nn.Dropout2d", [call.value("rate")], {})
    return call.finish(Step("{self}({x})", "{self}({x})", make, "dropout", wants="first"))
