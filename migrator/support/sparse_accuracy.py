"""Share of samples whose largest output is the label's."""

from __future__ import annotations

import torch


def sparse_accuracy(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the share of hits; `outputs` (..., classes), labels (...) or (..., 1)."""
    if targets.ndim == outputs.ndim:
        targets = targets.squeeze(-1)
    return (outputs.argmax(dim=-1) == targets).float().mean()
