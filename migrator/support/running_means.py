"""Means over the samples of an epoch, from means over its batches."""

from __future__ import annotations

import torch


class RunningMeans:
    """Collects batch means, each weighted by the number of samples it stands for."""

    def __init__(self) -> None:
        self.samples = 0
        self.totals: dict[str, torch.Tensor] = {}

    def update(self, samples: int, **means: torch.Tensor) -> None:
        """Add one batch: how many samples it has, and its means (scalars) by name."""
        self.samples += samples
        for name, mean in means.items():
            self.totals[name] = self.totals.get(name, 0) + mean.detach() * samples

    def compute(self) -> dict[str, float]:
        """Return the means so far by name."""
        return {name: float(total) / self.samples for name, total in self.totals.items()}
