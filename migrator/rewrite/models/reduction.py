"""Global pooling: a reduction over the axes between batch and channels."""

from __future__ import annotations

from migrator.rewrite.models.construction import channels_last_only, flag
from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall
from migrator.rewrite.models.sizes import number


def global_pool2d(call: LayerCall, method: str) -> Step:
    """`x.mean(dim=…)` or `x.amax(dim=…)` over height and width, wherever the layout has them."""
    call.settle_rank(4)
    channels_last_only(call)
    keep = flag(call, "keepdims")
    tail = ", keepdim=True" if keep else ""
    first, last = (f"{{x}}.{method}(dim={axes}{tail})" for axes in ("(2, 3)", "(1, 2)"))
    if keep:
        one = number(1)
        return call.finish(Step(first, last, rank=4, spatial=(one, one), keeps=frozenset({"channels"})))
    return call.finish(Step(first, last, rank=2, spatial=(), keeps=frozenset({"channels"})))
