"""Mean of the absolute differences between outputs and targets."""

from __future__ import annotations

import torch
import torch.nn.functional as F


def absolute_error(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the mean of the absolute differences; targets of shape (N,) fit outputs of shape (N, 1)."""
    return F.l1_loss(outputs, targets.to(outputs.dtype).reshape(outputs.shape))
