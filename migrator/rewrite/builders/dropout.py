"""Dropout: both frameworks count the share that is dropped and scale up the rest in training."""

from migrator.rewrite.models.construction import construct
from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall


def dropout(call: LayerCall) -> Step:
    """`nn.Dropout`."""
    return call.finish(Step("{self}({x})", "{self}({x})", construct("nn.Dropout", [call.value("rate")], {}), "dropout"))
