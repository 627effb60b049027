"""What the merging builders share: operands of one shape, combined element by element."""

from __future__ import annotations

from functools import reduce

from migrator.rewrite.models.ir import Step
from migrator.rewrite.models.layer_call import LayerCall
from migrator.rewrite.models.sizes import Size


def elementwise(call: LayerCall, operator: str, listed: str) -> Step:
    """`a + b + …` where the operands stand one by one ({x0}, {x1} …), `listed` where they are a list ({xs}).

    Keras lets a vector per sample meet images: it gets axes of length one between batch and channels.
    """
    ranks = {tensor.rank for tensor in call.operands} - {None}
    if len(ranks) > 1:
        return _spread(call, operator)
    wide = [tensor for tensor in call.operands if tensor.channels is not None and tensor.channels.value != 1]
    channels = min((tensor.channels for tensor in wide), key=_told) if wide else call.operand.channels
    spatial = reduce(_wider, (tensor.spatial for tensor in call.operands))
    names = [f"{{x{index}}}" for index in range(len(call.operands))]
    code = listed if call.twin else operator.join(names)
    return call.finish(Step(code, code, channels=channels, spatial=spatial, keeps=frozenset({"rank"})))


def _spread(call: LayerCall, operator: str) -> Step:
    """Images merged with a tensor of rank 2, one value a channel."""
    ranks = [tensor.rank for tensor in call.operands]
    rank = max(item for item in ranks if item is not None)
    if call.twin or any(item not in (2, rank) for item in ranks):
        raise call.refuse("tensors of different ranks are merged")
    image = call.operands[ranks.index(rank)]
    gaps = ", ".join(["None"] * (rank - 2))
    first, last = [], []
    for index, item in enumerate(ranks):
        name = f"{{x{index}}}"
        first.append(f"{name}[:, :, {gaps}]" if item == 2 else name)
        last.append(f"{name}[:, {gaps}, :]" if item == 2 else name)
    step = Step(
        operator.join(first),
        operator.join(last),
        rank=rank,
        channels=image.channels,
        spatial=image.spatial,
        keeps=frozenset(),
    )
    return call.finish(step)


def _told(size: Size | None) -> tuple[bool, int]:
    """Orders sizes that are equal when the program runs: a number first, then what reads the least."""
    assert size is not None
    return size.value is None, sum(1 + (version > 0) for version in size.reads.values())


def _wider(first: tuple | None, second: tuple | None) -> tuple | None:  # type: ignore[type-arg]
    if first is None or second is None or len(first) != len(second):
        return first if first is not None else second
    return tuple(b if a is None or a.value == 1 else a for a, b in zip(first, second, strict=True))
