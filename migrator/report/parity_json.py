"""Parity results as the contract prints them, `migrate.parity/1`."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from migrator.facts import Check, PairResult


def to_json(results: Iterable[PairResult]) -> dict[str, Any]:
    """JSON values. Errors are relative; one that is not finite is null, and its check's `reason` says so."""
    return {"schema": "migrate.parity/1", "pairs": [_pair(result) for result in results]}


def _pair(result: PairResult) -> dict[str, Any]:
    return {
        "name": result.name,
        "verdict": result.verdict,
        "reason": result.reason,
        "checks": [_check(check) for check in result.checks],
        "first_divergence": plain(result.first_divergence),
        "differences": plain(result.differences),
    }


def _check(check: Check) -> dict[str, Any]:
    found: dict[str, Any] = plain(asdict(check))
    figures = (check.error, check.floor, check.needed)
    if any(value is not None and not math.isfinite(value) for value in figures) and not check.reason:
        found["reason"] = "not finite"
    return found


def plain(value: Any) -> Any:
    """The same value with what JSON cannot say as null."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, Mapping):
        return {str(key): plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [plain(each) for each in value]
    return value
