"""Means over the samples of an epoch, from means over its batches."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch


class RunningMeans:
    """The means of the loss and of metrics; a metric takes (outputs, targets) of a batch and returns its mean."""

    def __init__(
        self, metrics: Mapping[str, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] | None = None
    ) -> None:
        self.metrics = metrics or {}
        self.samples = 0
        self.totals: dict[str, torch.Tensor] = {}

    @torch.no_grad()
    def update(self, loss: torch.Tensor, outputs: torch.Tensor, targets: torch.Tensor) -> None:
        """Add one batch, which counts by its number of samples; `loss` is its mean."""
        means = {"loss": loss.detach(), **{name: metric(outputs, targets) for name, metric in self.metrics.items()}}
        for name, mean in means.items():
            self.totals[name] = self.totals.get(name, 0) + mean * len(targets)
        self.samples += len(targets)

    def compute(self) -> dict[str, float]:
        """Return the means so far by name."""
        return {name: float(total) / self.samples for name, total in self.totals.items()}
