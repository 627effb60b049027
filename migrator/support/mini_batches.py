"""Mini-batches of tensors from NumPy arrays, the last and smaller one included."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch


def mini_batches(
    x: Any, y: Any, batch_size: int = 32, shuffle: bool = False, device: torch.device | str | None = None
) -> Iterator[tuple[Any, torch.Tensor]]:
    """Yield (inputs, targets), `batch_size` samples at a time, in a new random order at every call if `shuffle`.

    `x` is an array whose first axis counts the samples, or a list of such arrays for a model with several
    inputs (`inputs` is then a tuple). Integers of 32 and 64 bits keep their type, all else becomes the default dtype.
    """
    kept = (torch.int32, torch.int64)

    def part(data: Any, index: torch.Tensor) -> Any:
        if isinstance(data, list):
            return tuple(part(one, index) for one in data)
        rows = torch.as_tensor(data[index.numpy()])
        return rows.to(device, rows.dtype if rows.dtype in kept else torch.get_default_dtype())

    inputs = [np.asarray(one) for one in x] if isinstance(x, list | tuple) else np.asarray(x)
    targets = np.asarray(y)
    order = torch.randperm(len(targets)) if shuffle else torch.arange(len(targets))
    for index in torch.split(order, batch_size):
        yield part(inputs, index), part(targets, index)
