"""Layers that pad as TensorFlow's SAME does: as much as the input's size asks for, the odd cell at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import torch.nn.functional as F
from torch import nn


def pad_same(
    x: torch.Tensor, kernel: Sequence[int], stride: Sequence[int], dilation: Sequence[int] = (1, 1), value: float = 0.0
) -> torch.Tensor:
    """x of shape (N, C, H, W), padded so that a window with this stride yields ceil(size / stride) positions.

    The total is max((ceil(n / s) - 1) * s + (k - 1) * d + 1 - n, 0) along an axis; half of it, rounded down, in front.
    """
    pads: list[int] = []
    for size, k, s, d in zip(x.shape[:1:-1], kernel[::-1], stride[::-1], dilation[::-1], strict=True):
        total = max((-(-size // s) - 1) * s + (k - 1) * d + 1 - size, 0)
        pads += [total // 2, total - total // 2]
    return F.pad(x, pads, value=value)


def both_axes(value: int | Sequence[int]) -> tuple[int, int]:
    """A number, or a pair of them, as a pair."""
    return (value, value) if isinstance(value, int) else (value[0], value[1])


class Conv2dSame(nn.Conv2d):
    """nn.Conv2d whose `padding` is "same" or "valid" as TensorFlow means it, whatever the stride."""

    def __init__(self, in_channels: int, out_channels: int, kernel_size: Any, padding: str = "same", **kwargs: Any):
        super().__init__(in_channels, out_channels, kernel_size, **kwargs)
        self.same = padding.lower() == "same"

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.same:
            x = pad_same(x, both_axes(self.kernel_size), both_axes(self.stride), both_axes(self.dilation))
        return super().forward(x)


class Pool2dSame(nn.Module):
    """What pooling with TensorFlow's "same" or "valid" padding keeps."""

    def __init__(
        self, kernel_size: int | Sequence[int], stride: int | Sequence[int] | None = None, padding: str = "same"
    ):
        super().__init__()
        self.kernel_size = both_axes(kernel_size)
        self.stride = self.kernel_size if stride is None else both_axes(stride)
        self.same = padding.lower() == "same"


class MaxPool2dSame(Pool2dSame):
    """Max pooling with TensorFlow's "same" or "valid" padding; padded cells never win."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.same:
            x = pad_same(x, self.kernel_size, self.stride, value=float("-inf"))
        return F.max_pool2d(x, self.kernel_size, self.stride)


class AvgPool2dSame(Pool2dSame):
    """Average pooling with TensorFlow's "same" or "valid" padding; padded cells are left out of the mean."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.same:
            return F.avg_pool2d(x, self.kernel_size, self.stride)
        total = F.avg_pool2d(pad_same(x, self.kernel_size, self.stride), self.kernel_size, self.stride)
        real = pad_same(torch.ones_like(x[:1, :1]), self.kernel_size, self.stride)
        return total / F.avg_pool2d(real, self.kernel_size, self.stride)
