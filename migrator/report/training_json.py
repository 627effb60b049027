"""Real trainings of both versions, `migrate.training/1`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from migrator.facts import TrainingResult


def to_json(results: Iterable[TrainingResult]) -> dict[str, Any]:
    """JSON values: for each pair its runs, one for each side and seed, with curves by epoch and the test metric."""
    return {"schema": "migrate.training/1", "pairs": [asdict(result) for result in results]}
