"""How far an array is from what a record holds of the other one: the whole array, or a sketch of it.

The error of an array is its largest difference over the largest reference. A sketch keeps the reference's largest
value, its norm and 64 projections on random signs; the mean square of the 64 differences of projections estimates the
squared Euclidean length of the difference to within about a sixth. That length bounds the largest difference from
above, so an error taken from a sketch is never smaller than about five sixths of the true one. Floors are taken
from the same sketches, so both sides of a judgement are measured with one yardstick.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence, Union

import numpy as np

from . import drawing

PROJECTIONS = 64
WHOLE = 256  # arrays up to this many elements are kept as they are


class Mismatch(Exception):
    """Two arrays that cannot be compared: another shape or another kind of number."""


class Sketch:
    """What is kept of a large array. `projections` has 64 float64 values."""

    def __init__(self, shape: Sequence[int], dtype: str, largest: float, norm: float, projections: np.ndarray) -> None:
        self.shape = tuple(int(size) for size in shape)
        self.dtype = np.dtype(dtype)
        self.largest = largest
        self.norm = norm
        self.projections = projections

    def packed(self) -> np.ndarray:
        """The numbers as one float64 array of 66 values: largest, norm, projections."""
        return np.concatenate([[self.largest, self.norm], self.projections])

    def facts(self) -> dict[str, Any]:
        """What `packed` leaves out, as JSON."""
        return {"shape": list(self.shape), "dtype": str(self.dtype)}

    @classmethod
    def unpacked(cls, facts: Mapping[str, Any], packed: np.ndarray) -> Sketch:
        """The sketch of `facts()` and `packed()`."""
        return cls(facts["shape"], facts["dtype"], float(packed[0]), float(packed[1]), packed[2:])


Reference = Union[np.ndarray, Sketch]


def sketch(array: np.ndarray) -> Sketch:
    """The sketch of a numeric array. Infinite and NaN values make its figures NaN, which no comparison passes."""
    values = array.astype(np.float64)
    largest = float(np.max(np.abs(values))) if values.size else 0.0
    return Sketch(array.shape, str(array.dtype), largest, float(np.linalg.norm(values)), project(values))


def project(values: np.ndarray) -> np.ndarray:
    """64 sums of all elements, each with its own random signs; the signs depend on the number of elements alone."""
    flat = values.reshape(-1)
    bits = drawing.words(0, "signs", flat.size)
    sums = []
    total = float(flat.sum())
    for number in range(PROJECTIONS):
        plus = ((bits >> np.uint64(number)) & np.uint64(1)).astype(bool)
        sums.append(2.0 * float(flat[plus].sum()) - total)
    return np.asarray(sums)


def largest(reference: Reference) -> float:
    """The largest absolute value of a reference; 0 for an empty one, NaN where it is not finite."""
    if isinstance(reference, Sketch):
        return reference.largest
    return float(np.max(np.abs(reference.astype(np.float64)))) if reference.size else 0.0


def difference(reference: Reference, array: np.ndarray | Sketch, kinds: bool = False) -> float:
    """The largest absolute difference, or its bound from projections; infinity where a value is not finite.

    With `kinds` the dtypes must be equal too. Raises Mismatch for other shapes or dtypes.
    """
    if tuple(reference.shape) != tuple(array.shape):
        raise Mismatch(f"shape {list(array.shape)} against {list(reference.shape)}")
    if kinds and reference.dtype != array.dtype:
        raise Mismatch(f"dtype {array.dtype} against {reference.dtype}")
    with np.errstate(invalid="ignore", over="ignore"):
        gap = _gap(reference, array)
    finite = np.isfinite(gap) and np.isfinite(largest(reference))
    return gap if finite else float("inf")


def _gap(reference: Reference, array: np.ndarray | Sketch) -> float:
    if isinstance(reference, Sketch) or isinstance(array, Sketch):
        ours = array.projections if isinstance(array, Sketch) else project(array.astype(np.float64))
        theirs = reference.projections if isinstance(reference, Sketch) else project(reference.astype(np.float64))
        return float(np.sqrt(np.mean((ours - theirs) ** 2)))
    gaps = np.abs(array.astype(np.float64) - reference.astype(np.float64))
    return float(np.max(gaps)) if gaps.size else 0.0


def error(reference: Reference, array: np.ndarray | Sketch, scale: float | None = None, kinds: bool = False) -> float:
    """`difference` over `scale`, by default the largest reference; over 1 where that is zero."""
    gap = difference(reference, array, kinds)
    size = largest(reference) if scale is None else scale
    return gap / size if size > 0 and np.isfinite(gap) else gap


def in_layout_of(reference: Reference, array: np.ndarray) -> Sequence[np.ndarray]:
    """The array as it is and with channels moved last or first, those that have the reference's shape."""
    found = [array]
    if array.ndim > 2:
        found += [np.moveaxis(array, 1, -1), np.moveaxis(array, -1, 1)]
    return [each for each in found if tuple(each.shape) == tuple(reference.shape)]


def agrees(reference: Reference, array: np.ndarray, tolerance: float) -> bool:
    """Whether the array, in any layout, is the reference to within a relative tolerance."""
    return any(error(reference, each) <= tolerance for each in in_layout_of(reference, array))
