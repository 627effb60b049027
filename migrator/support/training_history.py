"""What was measured in each epoch of a training run."""

from __future__ import annotations

from collections.abc import Mapping


class TrainingHistory:
    """`history` holds one list of values per name, `epoch` the epochs they belong to."""

    def __init__(self) -> None:
        self.epoch: list[int] = []
        self.history: dict[str, list[float]] = {}

    def append(self, epoch: int, logs: Mapping[str, float]) -> None:
        """Add the values of one epoch."""
        self.epoch.append(epoch)
        for name, value in logs.items():
            self.history.setdefault(name, []).append(value)
