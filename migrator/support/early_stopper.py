"""Ends a training run that has stopped improving."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import torch
from torch import nn


class EarlyStopper:
    """Says when `monitor` has not improved by more than `min_delta` for `patience` epochs.

    `baseline` is a value to be beaten before the count starts anew; epochs before `start_from_epoch` do not count.
    """

    def __init__(
        self,
        monitor: str = "val_loss",
        min_delta: float = 0.0,
        patience: int = 0,
        mode: Literal["min", "max"] = "min",
        baseline: float | None = None,
        restore_best_weights: bool = False,
        start_from_epoch: int = 0,
    ) -> None:
        self.monitor, self.min_delta, self.patience = monitor, abs(min_delta), patience
        self.sign = 1.0 if mode == "min" else -1.0
        self.baseline, self.start_from_epoch = baseline, start_from_epoch
        self.restore_best_weights = restore_best_weights
        self.best: float | None = None
        self.best_weights: dict[str, torch.Tensor] | None = None
        self.wait = 0

    def _improves(self, value: float, reference: float | None) -> bool:
        return reference is None or self.sign * value + self.min_delta < self.sign * reference

    def _keep(self, model: nn.Module) -> None:
        if self.restore_best_weights:
            self.best_weights = {name: value.clone() for name, value in model.state_dict().items()}

    def step(self, epoch: int, logs: Mapping[str, float], model: nn.Module) -> bool:
        """Look at the values of an epoch (counted from 0) and return whether training should end."""
        if epoch < self.start_from_epoch:
            return False
        if self.best_weights is None:
            self._keep(model)
        value = logs[self.monitor]
        self.wait += 1
        if self._improves(value, self.best):
            self.best = value
            self._keep(model)
            if self._improves(value, self.baseline):
                self.wait = 0
            return False
        return self.wait >= self.patience and epoch > 0

    def restore(self, model: nn.Module) -> None:
        """Give the model the weights of its best epoch, if they were kept."""
        if self.best_weights is not None:
            model.load_state_dict(self.best_weights)
