"""Bench results as the contract prints them, `migrate.bench/1`."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from migrator.facts import BenchResult


def to_json(results: Iterable[BenchResult]) -> dict[str, Any]:
    """JSON values; times in milliseconds or seconds as the names say, memory in bytes."""
    return {"schema": "migrate.bench/1", "pairs": [asdict(result) for result in results]}
