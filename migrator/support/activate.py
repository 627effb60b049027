"""An activation that only a run can tell, applied where the channels are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F


def activate(x: torch.Tensor, activation: Any, dim: int = -1) -> torch.Tensor:
    """`activation` is a Keras name, a function of a tensor, or None. `dim` is the axis of the channels."""
    known: dict[Any, Callable[[torch.Tensor], torch.Tensor]] = {
        None: lambda tensor: tensor,
        "linear": lambda tensor: tensor,
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
        "softmax": lambda tensor: F.softmax(tensor, dim=dim),
        "log_softmax": lambda tensor: F.log_softmax(tensor, dim=dim),
    }
    function: Callable[[torch.Tensor], torch.Tensor] = activation if callable(activation) else known[activation]
    return function(x)
