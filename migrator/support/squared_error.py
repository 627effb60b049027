"""Mean of the squared differences between outputs and targets."""

from __future__ import annotations

import torch
import torch.nn.functional as F


def squared_error(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the mean of the squared differences; targets of shape (N,) fit outputs of shape (N, 1)."""
    return F.mse_loss(outputs, targets.to(outputs.dtype).reshape(outputs.shape))
