"""Batch normalisation whose moving variance is that of the batch itself, as Keras 3 keeps it."""

from __future__ import annotations

import torch
from torch import nn


class PopulationVariance:
    """Mixed into a batch norm: PyTorch scales the batch's variance by N / (N - 1) before it is remembered."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.training:  # type: ignore[attr-defined]
            return super().forward(x)  # type: ignore[misc,no-any-return]
        before = self.running_var.clone()  # type: ignore[attr-defined]
        result = super().forward(x)  # type: ignore[misc]
        count = x.numel() / x.shape[1]
        with torch.no_grad():
            kept = (1 - self.momentum) * before  # type: ignore[attr-defined]
            self.running_var.copy_(kept + (self.running_var - kept) * (count - 1) / count)  # type: ignore[attr-defined]
        return result  # type: ignore[no-any-return]


class PopulationBatchNorm1d(PopulationVariance, nn.BatchNorm1d):
    """nn.BatchNorm1d with Keras 3's moving variance."""


class PopulationBatchNorm2d(PopulationVariance, nn.BatchNorm2d):
    """nn.BatchNorm2d with Keras 3's moving variance."""


class PopulationBatchNorm3d(PopulationVariance, nn.BatchNorm3d):
    """nn.BatchNorm3d with Keras 3's moving variance."""
