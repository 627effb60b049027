"""Regularisation as Keras charges for it: a term per weight, added to the training loss."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import nn


def regularized(layer: nn.Module, **penalties: Any) -> Any:
    """The layer, with penalties on its `weight` or `bias` for `regularization` to find; None is no penalty."""
    layer.penalties = {name: penalty for name, penalty in penalties.items() if penalty is not None}  # type: ignore[assignment]
    return layer


def regularization(model: nn.Module) -> torch.Tensor:
    """The sum of all penalties in a model, a scalar tensor."""
    total = next(model.parameters()).new_zeros(())
    for layer in model.modules():
        for name, penalty in getattr(layer, "penalties", {}).items():
            total = total + penalty(getattr(layer, name))
    return total


def l2_penalty(factor: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """factor * sum(w ** 2)"""
    return lambda weight: factor * weight.square().sum()


def l1_penalty(factor: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """factor * sum(|w|)"""
    return lambda weight: factor * weight.abs().sum()


def l1_l2_penalty(l1: float, l2: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """l1 * sum(|w|) + l2 * sum(w ** 2)"""
    return lambda weight: l1 * weight.abs().sum() + l2 * weight.square().sum()
