"""The `init` check: freshly built, do both sides start from the same distributions?

What Keras starts from a fixed array must start from that array. What it draws is compared by two tests on pooled
values: the largest distance between the two distribution functions (Kolmogorov and Smirnov), and the count of values
beyond the other side's extremes, which sees a cut-off tail that the first is blind to. A difference is called one
where chance would produce it less than once in a million.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from migrator.facts import Check
from migrator.parity.checks import Both

CHANCE = 1e-6
EQUAL = 1e-6  # absolute, for fixed arrays in float32


@dataclass(frozen=True)
class Verdict:
    """How one parameter compares: how likely the difference is by chance, and what it is."""

    chance: float
    distance: float
    what: str = ""


def judge(both: Both) -> Check:
    """Every parameter of a fresh model; `error` is the largest distance between distribution functions."""
    facts, theirs = both.record.facts.get("initial"), both.record.references("initial")
    ours = both.ours("initial")
    if facts is None:
        return Check("init", "error", reason="the record has no initial distributions; record it again")
    verdicts = {}
    for index, fact in enumerate(facts):
        name, reference = both.variable(f"variable/{index}"), theirs.get(str(index))
        array = ours.get(str(index))
        if fact["kind"] == "counter" or not isinstance(reference, np.ndarray) or array is None:
            continue
        fixed = fact["kind"] == "fixed"
        verdicts[name] = compare_fixed(reference, array) if fixed else compare_drawn(reference, fact["count"], array)
    failed = {name: verdict for name, verdict in verdicts.items() if verdict.chance < CHANCE}
    worst = min(verdicts, key=lambda name: (verdicts[name].chance, -verdicts[name].distance), default="")
    distance = max((verdict.distance for verdict in verdicts.values()), default=0.0)
    reason = "; ".join(f"{name} {verdict.what}" for name, verdict in failed.items())
    return Check("init", "fail" if failed else "pass", distance, None, None, reason, {"worst": worst})


def compare_fixed(reference: np.ndarray, array: np.ndarray) -> Verdict:
    """A fixed start against the other side's; shapes are equal."""
    gap = float(np.max(np.abs(reference - array), initial=0.0))
    if gap <= EQUAL:
        return Verdict(1.0, 0.0)
    first = float(reference.flat[0])
    start = f"all {first:g}" if np.all(reference == first) else "from a fixed array"
    return Verdict(0.0, 1.0, f"starts {start} in Keras, in PyTorch between {array.min():.3g} and {array.max():.3g}")


def compare_drawn(quantiles: np.ndarray, count: int, values: np.ndarray) -> Verdict:
    """Evenly spaced quantiles of `count` values, the extremes among them, against the other side's pooled values."""
    ordered = np.sort(values.astype(np.float64))
    share = np.linspace(0.0, 1.0, len(quantiles))
    left = np.searchsorted(ordered, quantiles, side="left") / len(ordered)
    right = np.searchsorted(ordered, quantiles, side="right") / len(ordered)
    apart = float(np.max(np.maximum(left - share, share - right)))
    distance = max(apart - 1.0 / (len(quantiles) - 1), 0.0)  # the quantiles are that coarse
    many = count * len(ordered) / (count + len(ordered))
    chance = min(1.0, 2.0 * math.exp(-2.0 * many * distance * distance))
    beyond = _beyond(quantiles, count, ordered)
    spread, other = float(quantiles.std()), float(ordered.std())
    what = f"has spread {spread:.3g} and reaches from {quantiles[0]:.3g} to {quantiles[-1]:.3g} in Keras, "
    what += f"{other:.3g} and {ordered[0]:.3g} to {ordered[-1]:.3g} in PyTorch"
    return Verdict(min(chance, beyond), distance, what)


def _beyond(quantiles: np.ndarray, count: int, ordered: np.ndarray) -> float:
    """The chance that as many values of one side as there are lie beyond all values of the other, at either end."""
    ours, total = len(ordered), count + len(ordered)
    above = int(np.sum(ordered > quantiles[-1])), int(np.sum(ordered < quantiles[0]))
    inside = len(quantiles) - 1
    below = int(np.sum(quantiles > ordered[-1]) - 1), int(np.sum(quantiles < ordered[0]) - 1)
    chances = [(ours / total) ** many for many in above]
    chances += [(count / total) ** max(many * count // inside, 0) for many in below]
    return min(1.0, 4.0 * min(chances))
