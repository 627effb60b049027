"""An activation that only a run can tell, applied where the channels are."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F


def activate(x: torch.Tensor, activation: Any, dim: int = -1) -> torch.Tensor:
    """`activation` is a Keras name, a function of a tensor, or None. `dim` is the axis of the channels."""
    if activation is None or activation == "linear":
        return x
    if callable(activation):
        return activation(x)
    if activation in ("softmax", "log_softmax"):
        return getattr(F, activation)(x, dim=dim)
    known = {
        "relu": F.relu,
        "relu6": F.relu6,
        "sigmoid": torch.sigmoid,
        "tanh": torch.tanh,
        "elu": F.elu,
        "selu": F.selu,
        "softplus": F.softplus,
        "softsign": F.softsign,
        "swish": F.silu,
        "silu": F.silu,
        "gelu": F.gelu,
        "exponential": torch.exp,
        "mish": F.mish,
    }
    return known[activation](x)
