"""Clips the gradient of every parameter on its own."""

from __future__ import annotations

from collections.abc import Iterable

import torch


def clip_grad_norm_each_(parameters: Iterable[torch.Tensor], max_norm: float) -> None:
    """Scale each parameter's gradient down to norm `max_norm`; nn.utils.clip_grad_norm_ clips all of them as one."""
    for parameter in parameters:
        if parameter.grad is not None:
            torch.nn.utils.clip_grad_norm_([parameter], max_norm)
