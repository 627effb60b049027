"""The last samples of a data set, held back for validation."""

from __future__ import annotations

import math
from typing import Any


def split_validation(x: Any, y: Any, fraction: float) -> tuple[tuple[Any, Any], tuple[Any, Any]]:
    """Return ((x, y) for training, (x, y) for validation); the last `fraction` of the samples validates.

    `x` may be a list of arrays, for a model with several inputs.
    """
    split = math.floor(len(y) * (1 - fraction))

    def part(array: Any, where: slice) -> Any:
        return [one[where] for one in array] if isinstance(array, list | tuple) else array[where]

    training, validation = slice(None, split), slice(split, None)
    return (part(x, training), y[training]), (part(x, validation), y[validation])
