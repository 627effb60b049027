"""Accuracy, of the kind that the shapes of outputs and targets ask for."""

from __future__ import annotations

import torch


def batch_accuracy(outputs: torch.Tensor, targets: torch.Tensor) -> torch.Tensor:
    """Return the share of hits.

    One output per sample is compared with 0.5; several are a choice of class, and `targets` are labels, (...) or
    (..., 1), or one-hot, (..., classes).
    """
    if outputs.shape[-1] == 1:
        return ((outputs > 0.5) == targets.reshape(outputs.shape)).float().mean()
    if targets.ndim == outputs.ndim:
        targets = targets.squeeze(-1) if targets.shape[-1] == 1 else targets.argmax(dim=-1)
    return (outputs.argmax(dim=-1) == targets).float().mean()
