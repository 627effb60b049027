"""What the TensorFlow side's variables start from: a fixed array, or a distribution known by its quantiles.

A declared initialiser is drawn from directly, each time with another seed, until there are enough values; a variable
without one has only the values of the models that were built.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from .tensorflow_model import Model, Variable

ENOUGH = 20_000  # pooled values
MOST_DRAWS = 400
QUANTILES = 257


def describe(model: Model, others: Sequence[np.ndarray]) -> Any:
    """Facts and arrays of every floating variable of a freshly built model.

    `others` are the starting values in another build. Facts are `fixed`, or `drawn` with `count` values; the array
    is the fixed one, or 257 evenly spaced quantiles, the smallest and largest value among them.
    """
    facts: list[dict[str, Any]] = []
    arrays: dict[str, np.ndarray] = {}
    for index, (variable, other) in enumerate(zip(model.variables, others)):
        fact, array = _one(variable, other)
        facts.append(fact)
        if array is not None:
            arrays[str(index)] = array
    return facts, arrays


def _one(variable: Variable, other: np.ndarray) -> Any:
    first = variable.numpy()
    if first.dtype.kind != "f":
        return {"kind": "counter"}, None
    drawn = _draws(variable)
    if drawn is None:
        if np.array_equal(first, other.astype(first.dtype)):
            return {"kind": "fixed"}, first.astype(np.float32)
        drawn = np.concatenate([first.reshape(-1), other.reshape(-1)])
    quantiles = np.quantile(drawn.astype(np.float64), np.linspace(0.0, 1.0, QUANTILES))
    return {"kind": "drawn", "count": int(drawn.size)}, quantiles


def _draws(variable: Variable) -> Any:
    """Pooled values of a declared initialiser that draws at random; None where there is none."""
    initialiser: Any = getattr(variable.layer, variable.role + "_initializer", None)
    config: Mapping[str, Any] = initialiser.get_config() if hasattr(initialiser, "get_config") else {}
    if initialiser is None or "seed" not in config:
        return None
    pooled: list[np.ndarray] = []
    count = 0
    while count < ENOUGH and len(pooled) < MOST_DRAWS:
        made = type(initialiser).from_config(dict(config, seed=len(pooled) + 1))
        values = np.asarray(made(variable.shape, dtype="float32")).reshape(-1)
        pooled.append(values)
        count += values.size
    return np.concatenate(pooled)[: max(ENOUGH, variable_size(variable))]


def variable_size(variable: Variable) -> int:
    """The number of values of a variable."""
    return int(np.prod(variable.shape, dtype=np.int64))
