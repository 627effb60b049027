"""Mini-batches of tensors from NumPy arrays, the last and smaller one included."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import torch


def mini_batches(
    x: Any,
    y: Any,
    batch_size: int = 32,
    shuffle: bool = False,
    device: torch.device | str | None = None,
    integer_inputs: bool = False,
) -> Iterator[tuple[Any, torch.Tensor]]:
    """Yield (inputs, targets), `batch_size` samples at a time, in a new random order at every call if `shuffle`.

    `x` is an array whose first axis counts the samples, or a list of such arrays for a model with several
    inputs (`inputs` is then a tuple). Inputs become floats, unless `integer_inputs` keeps integers as they are;
    integer targets stay integers, for they are labels. Raises ValueError where the lengths differ.
    """

    def part(data: Any, index: torch.Tensor, integers: bool) -> Any:
        if isinstance(data, list):
            return tuple(part(one, index, integers) for one in data)
        rows = torch.as_tensor(data[index.numpy()])
        kept = integers and not rows.is_floating_point()
        return rows.to(device, rows.dtype if kept else torch.get_default_dtype())

    inputs = [np.asarray(one) for one in x] if isinstance(x, list | tuple) else np.asarray(x)
    targets = np.asarray(y)
    if any(len(one) != len(targets) for one in (inputs if isinstance(inputs, list) else [inputs])):
        raise ValueError(f"inputs and targets differ in length: {len(targets)} targets")
    order = torch.randperm(len(targets)) if shuffle else torch.arange(len(targets))
    for index in torch.split(order, batch_size):
        yield part(inputs, index, integer_inputs), part(targets, index, True)
