"""Whether two results are the same: values, shape, dtype, gradients; for random draws, the distribution."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from migrator.facts import Rule
from migrator.proofs.plan import Case

if TYPE_CHECKING:
    import numpy as np

Arrays = Mapping[str, "np.ndarray"]
DOUBLE = 1e-9
SINGLE = 1e-5
_INTEGERS = {"int32", "int64"}


def verdict(case: Case, index: int, rule: Rule, results: tuple[Any, Any], outputs: tuple[Arrays, Arrays]) -> str | None:
    """None where both sides agree, else one sentence that says how they differ."""
    reference, found = results
    if "error" in reference:
        return f"TensorFlow raised {reference['error']}" if case.certain else None
    if "error" in found:
        return f"PyTorch raised {found['error']} for {case.after}"
    if "effect" in reference:
        return None if reference["effect"] and found["effect"] else "the effect does not show on both sides"
    if len(reference["kinds"]) != len(found["kinds"]):
        return f"TensorFlow gives {len(reference['kinds'])} results, PyTorch {len(found['kinds'])}"
    for number, (kind, other) in enumerate(zip(reference["kinds"], found["kinds"], strict=True)):
        key = f"{index} out {number}"
        reason = _dtypes(kind, other, rule) or _compared(outputs[0][key], outputs[1][key], case, rule)
        if reason:
            return f"{reason} ({case.after})"
    return _gradients(case, index, rule, results, outputs)


def _dtypes(kind: str, other: str, rule: Rule) -> str | None:
    if kind == other or "number" in (kind, other):  # a Python number has no dtype
        return None
    if "integer-width" in rule.differences and {kind, other} <= _INTEGERS:
        return None
    return f"the dtype is {kind} in TensorFlow and {other} in PyTorch"


def _compared(left: np.ndarray, right: np.ndarray, case: Case, rule: Rule) -> str | None:
    if left.shape != right.shape:
        return f"the shape is {left.shape} in TensorFlow and {right.shape} in PyTorch"
    if case.proof == "distribution":
        return _distribution(left, right)
    tolerance = DOUBLE if case.precision == 64 and "float32" not in (left.dtype.name, right.dtype.name) else SINGLE
    own = rule.example.atol if rule.example is not None else 0.0
    error = _error(left, right)
    return f"values differ by {error:.3g}" if not error <= max(tolerance, own) else None


def _gradients(
    case: Case, index: int, rule: Rule, results: tuple[Any, Any], outputs: tuple[Arrays, Arrays]
) -> str | None:
    counts = tuple(result["gradients"] for result in results)
    if counts[0] != counts[1]:
        return "only one side is differentiable"
    own = rule.example.atol if rule.example is not None else 0.0
    for number in range(counts[0]):
        key = f"{index} gradient {number}"
        error = _error(outputs[0][key], outputs[1][key])
        if not error <= max(DOUBLE, own):
            name = case.differentiable[number]
            return f"the gradient with respect to {name} differs by {error:.3g} ({case.after})"
    return None


def _error(left: np.ndarray, right: np.ndarray) -> float:
    """Largest difference on the scale of the larger values; infinite where no numbers or infinities do not match."""
    import numpy as np

    if left.size == 0:
        return 0.0
    if left.dtype.kind in "biu" and right.dtype.kind in "biu":
        return 0.0 if np.array_equal(left, right) else float(np.max(np.abs(left.astype(float) - right.astype(float))))
    finite = np.isfinite(left)
    if not np.array_equal(finite, np.isfinite(right)) or not np.array_equal(
        left[~finite], right[~finite], equal_nan=True
    ):
        return float("inf")
    scale = max(1.0, float(np.max(np.abs(left[finite]), initial=0.0)))
    return float(np.max(np.abs(left[finite] - right[finite]), initial=0.0)) / scale


def _distribution(left: np.ndarray, right: np.ndarray) -> str | None:
    """Two-sample Kolmogorov-Smirnov at about one in a million, on draws from fixed seeds."""
    import numpy as np

    one, other = np.sort(left.ravel().astype(float)), np.sort(right.ravel().astype(float))
    points = np.concatenate([one, other])
    steps = [np.searchsorted(sample, points, side="right") / sample.size for sample in (one, other)]
    distance = float(np.max(np.abs(steps[0] - steps[1])))
    limit = 2.7 * float(np.sqrt((one.size + other.size) / (one.size * other.size)))
    return (
        f"the distributions differ: distance {distance:.3g}, at most {limit:.3g} by chance"
        if distance > limit
        else None
    )
