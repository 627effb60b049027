"""Outputs of a model for a whole data set, as NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import nn


@torch.no_grad()
def predict_in_batches(model: nn.Module, x: Any, batch_size: int = 32, integer_inputs: bool = False) -> Any:
    """Return the outputs for all samples of `x`, computed in evaluation mode, `batch_size` samples at a time.

    `x` is an array whose first axis counts the samples, or a list of them for a model with several inputs. A model
    with several outputs gives a list of arrays. Inputs become floats, unless `integer_inputs` keeps integers.
    """
    model.eval()
    parameter = next(model.parameters(), torch.empty(0))
    tensors = [torch.as_tensor(np.asarray(array)) for array in (x if isinstance(x, list | tuple) else [x])]
    if not integer_inputs:
        tensors = [tensor.to(parameter.dtype) for tensor in tensors]
    parts = [
        model(*(rows.to(parameter.device) for rows in batch))
        for batch in zip(*(torch.split(tensor, batch_size) for tensor in tensors), strict=True)
    ]
    if isinstance(parts[0], list | tuple):
        return [torch.cat(outputs).cpu().numpy() for outputs in zip(*parts, strict=True)]
    return torch.cat(parts).cpu().numpy()
