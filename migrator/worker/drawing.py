"""Seeded arrays that are the same on every machine, Python and NumPy: the generator of inputs and weights.

Only the raw 64-bit words of NumPy's Philox generator are used, keyed by the first 16 bytes of the SHA-256 of
`"<seed>/<name>"`; NumPy promises that stream, while it does not promise how `normal()` uses it. A word `w` becomes the
uniform number `(w >> 40) * 2**-24`, which float32 holds exactly. Normal numbers are Box-Muller pairs
`sqrt(-2 log(1 - u)) * cos(2 pi v)` rounded to multiples of `2**-16`, so that the last bit of a machine's logarithm
does not show and float32 and float64 runs see the same number.
"""

from __future__ import annotations

import hashlib
from typing import Any, Mapping, Sequence

import numpy as np

SEED = 20260101


def words(seed: int, name: str, count: int) -> np.ndarray:
    """`count` raw 64-bit words of the stream that `seed` and `name` open."""
    key = hashlib.sha256(f"{seed}/{name}".encode()).digest()[:16]
    generator = np.random.Philox(key=int.from_bytes(key, "little"))
    return np.asarray(generator.random_raw(count), dtype=np.uint64).reshape(count)


def uniform(seed: int, name: str, shape: Sequence[int], low: float = 0.0, high: float = 1.0) -> np.ndarray:
    """float32 array of the given shape, uniform in [low, high)."""
    unit = _unit(words(seed, name, _size(shape)))
    return (low + unit * (high - low)).astype(np.float32).reshape(tuple(shape))


def normal(seed: int, name: str, shape: Sequence[int], mean: float = 0.0, std: float = 1.0) -> np.ndarray:
    """float32 array of the given shape, normal with the given mean and standard deviation."""
    size = _size(shape)
    raw = words(seed, name, 2 * size)
    radius = np.sqrt(-2.0 * np.log(1.0 - _unit(raw[:size])))
    unit = np.rint(radius * np.cos(2.0 * np.pi * _unit(raw[size:])) * 65536.0) / 65536.0
    return (mean + std * unit).astype(np.float32).reshape(tuple(shape))


def integers(seed: int, name: str, shape: Sequence[int], low: int, high: int) -> np.ndarray:
    """int64 array of the given shape, uniform over low, low + 1, … high - 1."""
    unit = _unit(words(seed, name, _size(shape)))
    drawn: np.ndarray = low + np.floor(unit * (high - low)).astype(np.int64)
    return drawn.reshape(tuple(shape))


def permutation(seed: int, name: str, count: int) -> np.ndarray:
    """A permutation of 0 … count - 1 (int64): the order that sorts `count` words of the stream."""
    return np.argsort(words(seed, name, count), kind="stable").astype(np.int64)


def array(spec: Mapping[str, Any], shape: Sequence[int], seed: int, name: str) -> np.ndarray:
    """The array that a parsed SPEC means.

    `spec` has `dtype` and optionally `distribution` (`normal`, `uniform`, `int`, `bernoulli`; None: the default of
    the dtype), `low`, `high`, `p`. Raises ValueError for integers without a distribution.
    """
    dtype = np.dtype(spec["dtype"])
    kind = spec.get("distribution") or {"f": "normal", "b": "bernoulli"}.get(dtype.kind)
    if kind == "normal":
        return normal(seed, name, shape).astype(dtype)
    if kind == "uniform":
        return uniform(seed, name, shape, _or(spec.get("low"), 0.0), _or(spec.get("high"), 1.0)).astype(dtype)
    if kind == "int":
        return integers(seed, name, shape, int(spec["low"]), int(spec["high"])).astype(dtype)
    if kind == "bernoulli":
        return (uniform(seed, name, shape) < _or(spec.get("p"), 0.5)).astype(dtype)
    raise ValueError(f"{dtype} needs a distribution, for example {dtype}[8]:int(0,10)")


def _or(value: Any, default: float) -> float:
    return default if value is None else float(value)


def _unit(raw: np.ndarray) -> np.ndarray:
    return (raw >> np.uint64(40)).astype(np.float64) * 2.0**-24


def _size(shape: Sequence[int]) -> int:
    return int(np.prod(tuple(shape), dtype=np.int64))
