"""Weights moved off their initial values by a rule that can be repeated anywhere from a seed.

A fresh model hides mistakes: its biases are zero, its scales one, its moving means zero. So every floating variable is
drawn anew. Its rule, which the record keeps, depends only on the values that it starts from:
all equal to zero: normal with spread 0.1; all equal to another number c: uniform between c/2 and 3c/2 (a variance
stays positive); else normal with the same spread. Integer variables keep their values.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from . import drawing


def rule_for(initial: np.ndarray) -> dict[str, Any]:
    """The drawing rule of a variable that starts from `initial`, as JSON."""
    if initial.dtype.kind != "f":
        return {"kind": "kept", "value": initial.tolist()}
    values = initial.astype(np.float64)
    first = float(values.flat[0]) if values.size else 0.0
    if not np.all(values == first):
        return {"kind": "normal", "mean": 0.0, "std": float(np.float32(values.std()))}
    if first == 0.0:
        return {"kind": "normal", "mean": 0.0, "std": 0.1}
    return {"kind": "uniform", "low": 0.5 * first, "high": 1.5 * first}


def values(rule: Mapping[str, Any], shape: Sequence[int], seed: int, index: int) -> np.ndarray:
    """The array that a rule gives for variable number `index`: float32, or the kept integers."""
    name = f"weight/{index}"
    if rule["kind"] == "kept":
        return np.asarray(rule["value"]).reshape(tuple(shape))
    if rule["kind"] == "normal":
        return drawing.normal(seed, name, shape, rule["mean"], rule["std"])
    return drawing.uniform(seed, name, shape, min(rule["low"], rule["high"]), max(rule["low"], rule["high"]))


def nudged(array: np.ndarray, seed: int, index: int) -> np.ndarray:
    """The same array, each value one rounding step up or down at random: how far rounding alone may carry."""
    if array.dtype.kind != "f":
        return array
    up = drawing.uniform(seed, f"nudge/{index}", array.shape) < 0.5
    direction = np.where(up, np.inf, -np.inf).astype(array.dtype)
    stepped: np.ndarray = np.nextafter(array, direction)
    return stepped
