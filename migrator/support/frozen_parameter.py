"""A parameter that PyTorch has and Keras does not: kept at its initial value."""

from __future__ import annotations

from typing import Any

from torch import nn


def frozen(layer: nn.Module, name: str) -> Any:
    """The layer, its parameter `name` no longer trained."""
    getattr(layer, name).requires_grad_(False)
    return layer
