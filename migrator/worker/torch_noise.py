"""Dropout on the PyTorch side: which rates a training call uses, and switching all of it off.

`nn.Dropout` and functional dropout alike end in a function of `torch.nn.functional`; `install` replaces those once,
before the team's code is imported, so that names bound by `from torch.nn.functional import dropout` are caught too.
"""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as functional

from .torch_model import Place, user_place

NAMES = ("dropout", "dropout1d", "dropout2d", "dropout3d", "alpha_dropout", "feature_alpha_dropout")


class Noise:
    """`rates` fills while recording; `silent` makes every dropout pass its input through."""

    def __init__(self) -> None:
        self.rates: list[float] = []
        self.places: list[Place | None] = []  # of each rate, the line of the team's code
        self.silent = False

    def clear(self) -> None:
        """Forget what was recorded."""
        self.rates.clear()
        self.places.clear()

    def install(self) -> None:
        """Replace the functional dropouts of this process."""
        for name in NAMES:
            setattr(functional, name, self._watched(getattr(functional, name)))

    def _watched(self, original: Any) -> Any:
        def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
            if training and p > 0:
                self.rates.append(float(p))
                self.places.append(user_place())
            return input if self.silent else original(input, p, training, inplace)

        return dropout


def silence_modules(module: Any) -> None:
    """Zero the rates that modules hand to fused kernels: attention and recurrent layers between their own layers."""
    for part in module.modules():
        if isinstance(part, (torch.nn.MultiheadAttention, torch.nn.RNNBase)):
            part.dropout = 0.0
