"""Share of yes-or-no outputs on the right side of a threshold."""

from __future__ import annotations

import torch


def threshold_accuracy(outputs: torch.Tensor, targets: torch.Tensor, threshold: float = 0.5) -> torch.Tensor:
    """Return the share of hits; targets of shape (N,) fit outputs of shape (N, 1)."""
    return ((outputs > threshold) == targets.reshape(outputs.shape)).float().mean()
