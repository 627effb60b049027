"""Verdicts on numbers: what both sides computed, judged as the contract says. Nothing here runs a framework."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from migrator.facts import Check
from migrator.worker import compare

EXACT = 1e-9  # relative error in float64 that always passes
NAMED = 1e-6  # passes where a single-precision constant of TensorFlow's is named
FACTOR = 8.0  # how many noise floors float32 may be off
ROUNDING = float(np.finfo(np.float32).eps)  # no float32 floor is below one rounding
# Keras layers and activations that keep a constant in single precision inside float64 graphs.
SINGLE = {
    "LeakyReLU": "its slope",
    "leaky_relu": "its slope",
    "GELU": "its constant",
    "gelu": "its constant",
    "Rescaling": "its scale",
    "Resizing": "its sampling positions",
    "UpSampling2D": "its sampling positions",
}

Arrays = Mapping[str, np.ndarray]
References = Mapping[str, compare.Reference]


@dataclass
class Tally:
    """The worst of several comparisons: `error` and where, and what did not match at all."""

    error: float = 0.0
    floor: float | None = None
    worst: str = ""
    mismatches: list[str] = field(default_factory=list)

    def add(self, name: str, error: float) -> None:
        """Count one comparison."""
        if not error < self.error:  # NaN counts as the worst
            self.error, self.worst = error, name


def tally(references: References, arrays: Arrays, scale: float | None = None, kinds: bool = False) -> Tally:
    """Compare arrays with references by name; a name that only one side has is a mismatch."""
    found = Tally()
    for name in references.keys() ^ arrays.keys():
        found.mismatches.append(f"{name} is there only on the {_owner(name, references)} side")
    for name in (name for name in references if name in arrays):
        try:
            found.add(name, compare.error(references[name], arrays[name], scale, kinds))
        except compare.Mismatch as mismatch:
            found.mismatches.append(f"{name}: {mismatch}")
    return found


def _owner(name: str, references: References) -> str:
    return "TensorFlow" if name in references else "PyTorch"


def scale_of(references: Iterable[compare.Reference]) -> float:
    """The largest value among several references."""
    return max((compare.largest(reference) for reference in references), default=0.0)


def single_constants(events: Iterable[Mapping[str, Any]]) -> list[str]:
    """The layers of a model that are known to keep a single-precision constant in float64, with which."""
    found = {}
    for event in events:
        for name in (event["class"], event.get("activation") or ""):
            if name in SINGLE:
                found[event["layer"]] = f"{event['layer']} ({name}: {SINGLE[name]})"
    return list(found.values())


def exact(id_: str, found: Tally, constants: list[str], limit: float = EXACT) -> Check:
    """The float64 judgement: at most `limit`, or at most 1e-6 where a single-precision constant is named."""
    details = {"worst": found.worst}
    if found.mismatches:
        return Check(id_, "fail", found.error, None, None, "; ".join(sorted(found.mismatches)), details)
    if found.error <= limit:
        return Check(id_, "pass", found.error, found.floor, found.error, details=details)
    named = found.error <= NAMED and constants
    reason = f"single-precision constants: {', '.join(constants)}" if named else _off(found, limit)
    return Check(id_, "pass" if named else "fail", found.error, found.floor, found.error, reason, details)


def _off(found: Tally, limit: float) -> str:
    if not np.isfinite(found.error):
        return f"{found.worst} is not finite"
    return f"{found.worst} is off by {found.error:.2g} of the largest value, {limit:.1g} is allowed"


def floating(id_: str, truth: References, theirs: References, ours: Arrays, scale: float | None = None) -> Check:
    """The float32 judgement: as near to the truth as TensorFlow's float32 (`theirs`) is, within a factor of eight."""
    worst = Tally(floor=0.0)
    worst.mismatches += [f"{name} is there on one side only" for name in truth.keys() ^ ours.keys()]
    failed = []
    for name in (name for name in truth if name in ours):
        try:
            floor = max(_error(truth[name], theirs[name], scale), ROUNDING)
            error = compare.error(truth[name], ours[name], scale)
        except compare.Mismatch as mismatch:
            worst.mismatches.append(f"{name}: {mismatch}")
            continue
        worst.floor = max(worst.floor or 0.0, floor)
        worst.add(name, error)
        if not (np.isfinite(error) and error <= FACTOR * floor):
            failed.append(f"{name} is off by {error:.2g} in float32, {FACTOR:.0f} times the noise floor {floor:.2g}")
    details = {"worst": worst.worst}
    if failed or worst.mismatches:
        reason = "; ".join(failed + sorted(worst.mismatches))
        return Check(id_, "fail", worst.error, worst.floor, worst.error, reason, details)
    return Check(id_, "pass", worst.error, worst.floor, worst.error, details=details)


def _error(reference: compare.Reference, other: compare.Reference, scale: float | None = None) -> float:
    return compare.error(reference, other, scale)


def floor_of(references: References, nudged: References) -> float:
    """How far the same computation drifts from weights one rounding apart: the worst over all arrays."""
    return max((_error(references[name], nudged[name]) for name in references), default=0.0)
