"""Batch normalisation whose moving variance is that of the batch itself, as Keras 3 keeps it."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import nn


def population_batch_norm(layer: Any, x: torch.Tensor) -> torch.Tensor:
    """What a batch norm layer yields; in training it remembers the batch's variance without the factor N / (N - 1)."""
    if not layer.training:
        mean, variance = layer.running_mean, layer.running_var
        return F.batch_norm(x, mean, variance, layer.weight, layer.bias, False, 0.0, layer.eps)
    with torch.no_grad():
        axes = [axis for axis in range(x.dim()) if axis != 1]
        layer.running_mean.lerp_(x.mean(axes), layer.momentum)
        layer.running_var.lerp_(x.var(axes, correction=0), layer.momentum)
    return F.batch_norm(x, None, None, layer.weight, layer.bias, True, 0.0, layer.eps)


class PopulationBatchNorm1d(nn.BatchNorm1d):
    """nn.BatchNorm1d with Keras 3's moving variance."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return population_batch_norm(self, x)


class PopulationBatchNorm2d(nn.BatchNorm2d):
    """nn.BatchNorm2d with Keras 3's moving variance."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return population_batch_norm(self, x)


class PopulationBatchNorm3d(nn.BatchNorm3d):
    """nn.BatchNorm3d with Keras 3's moving variance."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return population_batch_norm(self, x)
