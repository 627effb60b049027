"""What the PyTorch side's parameters start from: values pooled over models built with different seeds."""

from __future__ import annotations

import time
from typing import Any, Mapping, Sequence

import numpy as np
import torch

from . import torch_train
from .torch_model import Model

ENOUGH = 20_000  # pooled values of one variable
MOST_BUILDS = 400
SECONDS = 15.0


def pooled(
    request: Mapping[str, Any],
    inputs: Sequence[np.ndarray],
    mapping: Sequence[Mapping[str, Any]],
    shapes: Sequence[Any],
    drawn: Sequence[int],
) -> dict[str, np.ndarray]:
    """`<n>` -> pooled values for the variables in `drawn`, the values of one build in Keras's layout for the others."""
    found: dict[str, list[np.ndarray]] = {}
    sizes = [int(np.prod(shapes[index], dtype=np.int64)) for index in drawn]
    builds = min(MOST_BUILDS, max([1, *(-(-ENOUGH // max(size, 1)) for size in sizes)]))
    started = time.monotonic()
    for number in range(builds):
        torch.manual_seed(number + 1)
        values = torch_train.values(Model(request, "float32", inputs), mapping, shapes)
        for name, array in values.items():
            index = int(name.rpartition("/")[2])
            held = found.setdefault(str(index), [])
            if not held or (index in drawn and sum(each.size for each in held) < ENOUGH):
                held.append(array)
        if (number == 1 and _repeats(found, drawn)) or time.monotonic() - started > SECONDS:
            break
    flat = {str(index) for index in drawn}
    return {
        name: np.concatenate([array.reshape(-1) for array in _distinct(held)]) if name in flat else held[0]
        for name, held in found.items()
    }


def _repeats(found: Mapping[str, list[np.ndarray]], drawn: Sequence[int]) -> bool:
    """Whether the second build drew the same values as the first: the code sets a seed of its own."""
    return all(len(_distinct(found.get(str(index), []))) < 2 for index in drawn)


def _distinct(arrays: Sequence[np.ndarray]) -> list[np.ndarray]:
    if len(arrays) > 1 and np.array_equal(arrays[0], arrays[1]):
        return [arrays[0]]
    return list(arrays)
