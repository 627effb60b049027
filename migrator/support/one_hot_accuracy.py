"""Share of samples whose largest output is at the largest target."""

from __future__ import annotations

import torch


def one_hot_accuracy(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the share of hits; `outputs` and one-hot `targets` are both (..., classes)."""
    return (outputs.argmax(dim=-1) == targets.argmax(dim=-1)).float().mean()
