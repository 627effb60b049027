"""The arrays that examples run on: drawn from their SPEC with a fixed seed, and made of edge values."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from migrator.spec import FLOATS, Spec, parse_spec

if TYPE_CHECKING:
    import numpy as np

PLAIN = "numpy."  # in front of a SPEC: the example gets a NumPy array instead of a tensor


def array_of(text: str, name: str, variety: str, precision: int) -> np.ndarray:
    """One array; `variety` is `random` or `edge`, `precision` 32 or 64 for SPECs of float32.

    Edge arrays hold zeros, ones, ties, negative and extreme values within the SPEC's range.
    """
    import numpy as np

    spec = _spec(text.removeprefix(PLAIN))
    shape = tuple(int(size) for size in spec.dims)
    dtype = "float64" if spec.dtype == "float32" and precision == 64 else spec.dtype
    if variety == "edge":
        values = _edge_values(spec)
        return np.resize(np.array(values), shape).astype(dtype)
    seed = int.from_bytes(hashlib.sha256(f"{name}:{text}".encode()).digest()[:8], "little")
    return np.asarray(_drawn(spec, np.random.default_rng(seed), shape)).astype(dtype)


def is_float(text: str) -> bool:
    """Whether gradients can be taken for this input."""
    return not text.startswith(PLAIN) and _spec(text).dtype in FLOATS


def _spec(text: str) -> Spec:
    plain = text if ":" in text or not text.startswith(("int", "uint")) else f"{text}:int(-3,4)"
    return parse_spec(plain)


def _drawn(spec: Spec, generator: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    import numpy as np

    if spec.distribution == "normal":
        return generator.standard_normal(shape)
    if spec.distribution == "bernoulli":
        return np.asarray(generator.random(shape) < (spec.p or 0.5))
    low, high = spec.low or 0, spec.high or 0
    if spec.distribution == "uniform":
        return generator.uniform(low, high, shape)
    return generator.integers(int(low), int(high), shape)


def _edge_values(spec: Spec) -> list[float]:
    if spec.distribution == "bernoulli":
        return [1, 1, 0, 1, 0]
    if spec.distribution == "normal":
        return [0.0, 1.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.5, 0.0, 30.0, -30.0]
    low, high = spec.low or 0, spec.high or 0
    if spec.distribution == "int":
        return [low, low, high - 1, (low + high) // 2, high - 1]
    return [low, high, (low + high) / 2, low, low, high]
