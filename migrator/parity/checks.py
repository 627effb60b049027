"""One function a check: from what both sides left behind to a verdict."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from migrator.facts import Check
from migrator.parity import judge
from migrator.worker import recorded

Facts = Mapping[str, Any]
PENALTY = 1e-9  # relative


@dataclass(frozen=True)
class Both:
    """What the two sides of a pair computed: the record, and the PyTorch side's facts and arrays."""

    record: recorded.Record
    torch: Facts
    arrays: judge.Arrays
    accepted: Sequence[str] = ()

    @property
    def precision(self) -> str:
        """The precision that is judged exactly: float32 only where the TensorFlow model refuses float64."""
        return "float32" if self.record.facts["double"] else "float64"

    def ours(self, prefix: str) -> dict[str, np.ndarray]:
        """The PyTorch side's arrays below a prefix, by the rest of their names."""
        start = prefix + "/"
        return {name[len(start) :]: array for name, array in self.arrays.items() if name.startswith(start)}

    def constants(self) -> list[str]:
        """The layers that keep a single-precision constant."""
        return judge.single_constants(self.record.facts.get("events", []))

    def variable(self, name: str) -> str:
        """`variable/3` as a person reads it: the TensorFlow path and the PyTorch tensor."""
        kind, _, number = name.partition("/")
        if kind != "variable":
            return name
        path: str = self.record.variables[int(number)]["path"]
        tensors = [e["tensor"] for e in self.torch.get("mapping", []) if int(e["variable"]) == int(number)]
        return f"{path} ({tensors[0]})" if tensors else path


def build(both: Both) -> Check:
    """Trainable parameters, frozen parts, dropout rates and regularisers agree as configuration."""
    facts = both.record.facts
    found = []
    ours = sum(math.prod(t["shape"]) for t in both.torch["tensors"] if t["trainable"])
    theirs = sum(math.prod(v["shape"]) for v in both.record.variables if v["trainable"])
    if ours != theirs:
        found.append(f"TensorFlow trains {theirs} parameters, PyTorch {ours}{_where(both)}")
    if sorted(facts["dropout"]) != sorted(both.torch["dropout"]):
        found.append(f"dropout rates are {_listed(facts['dropout'])}, in PyTorch {_listed(both.torch['dropout'])}")
    found += _frozen(both)
    regularisers, warning = _regularisers(both)
    found += regularisers
    reason = "; ".join([*found, *([] if found or not warning else [warning])])
    return Check("build", "fail" if found else "pass", reason=reason)


def _where(both: Both) -> str:
    """The first mapped variable whose training flag differs, or nothing."""
    return "".join(f" ({text})" for text in _frozen(both)[:1])


def _frozen(both: Both) -> list[str]:
    tensors = {tensor["path"]: tensor for tensor in both.torch["tensors"]}
    found = []
    for entry in both.torch.get("mapping", []):
        variable = both.record.variables[int(entry["variable"])]
        trained = tensors[entry["tensor"]]["trainable"]
        if trained != variable["trainable"]:
            words = ("frozen", "trained")
            found.append(f"{entry['path']} is {words[variable['trainable']]}, {entry['tensor']} {words[trained]}")
    return found


def _listed(rates: Sequence[float]) -> str:
    return ", ".join(f"{rate:g}" for rate in sorted(rates)) or "none"


def _regularisers(both: Both) -> tuple[list[str], str]:
    theirs = float(both.record.facts.get("penalty", 0.0))
    ours = both.torch.get("penalty")
    if "penalty" not in both.torch:
        return [], ""
    if ours is None:
        many = both.record.facts.get("regularised", 0)
        text = f"{many} regulariser(s) of the TensorFlow side have no penalty() on the PyTorch side"
        return [], text if many else ""
    if abs(ours - theirs) > PENALTY * max(abs(theirs), 1e-12):
        return [f"regularisers add {theirs:.6g} to the loss, penalty() {ours:.6g}"], ""
    return [], ""


def weights(both: Both) -> Check:
    """Every variable has exactly one tensor, and values survive the way there and back."""
    left = both.torch.get("unmatched")
    if left:
        reason = "; ".join(_left(fact) for fact in left)
        return Check("weights", "fail", reason=reason, details={"unmatched": left})
    details = {"mapping": list(both.torch["mapping"])}
    if not both.torch["returned"]:
        return Check("weights", "fail", reason="a weight does not come back as it was", details=details)
    return Check("weights", "pass", reason=f"{len(details['mapping'])} variables", details=details)


def _left(fact: Facts) -> str:
    where = "variable" if fact["side"] == "tensorflow" else "tensor"
    near = ", ".join(fact["candidates"]) or "nothing of its shape is left"
    return f"{where} {fact['path']} {fact['shape']} has no counterpart (candidates: {near})"


def forward(both: Both) -> Check:
    """Outputs in inference and training mode in float64, then float32 by the noise floor."""
    constants, precision = both.constants(), both.precision
    if precision == "float32":
        return _forward_in_float32(both)
    checks = []
    for mode, words in (("output", "inference"), ("training", "training mode")):
        found = judge.tally(both.record.references(f"{precision}/{mode}"), both.ours(f"{precision}/{mode}"))
        check = judge.exact("forward", found, constants)
        said = check.reason if check.verdict == "pass" else f"{words}: {check.reason}"
        checks.append(replace(check, reason=said))
    kinds = _kinds(both)
    single = judge.floating(
        "forward",
        both.record.references("float64/output"),
        both.record.references("float32/output"),
        both.ours("float32/output"),
    )
    exact = merged("forward", checks)
    details = {
        "inference": checks[0].error,
        "training": checks[1].error,
        "float32": single.error,
        "float32_floor": single.floor,
    }
    if kinds:
        return Check("forward", "fail", exact.error, single.floor, exact.error, "; ".join(kinds), details)
    if exact.verdict != "pass":
        return replace(exact, floor=single.floor, details=details)
    if single.verdict != "pass":
        return replace(single, details=details)
    return replace(exact, floor=single.floor, details=details)


def _kinds(both: Both) -> list[str]:
    """Outputs of another dtype; integers of another width do not count where that is an accepted difference."""
    ours = both.ours("float32/output")
    found = []
    for name, reference in both.record.references("float32/output").items():
        if name in ours and ours[name].dtype != reference.dtype:
            integers = {ours[name].dtype.kind, reference.dtype.kind} <= {"i", "u"}
            if not (integers and "integer-width" in both.accepted):
                found.append(f"{name}: dtype {ours[name].dtype} against {reference.dtype}")
    return found


def _forward_in_float32(both: Both) -> Check:
    """A model that refuses float64: TensorFlow from weights one rounding apart sets the floor."""
    checks = []
    for mode in ("output", "training"):
        truth, nudged = both.record.references(f"float32/{mode}"), both.record.references(f"float32/nudged-{mode}")
        checks.append(judge.floating("forward", truth, nudged, both.ours(f"float32/{mode}")))
    return merged("forward", [*checks, _said(both, "forward")])


def _said(both: Both, id_: str) -> Check:
    """A passed part of a check that says in which precision the others were judged."""
    reason = f"judged in float32, since the TensorFlow side cannot run in float64: {both.record.facts['double']}"
    return Check(id_, "pass", reason=reason)


def gradient(both: Both) -> Check:
    """The loss, and its gradient by every parameter (on the scale of the largest) and every floating input."""
    theirs, ours = both.record.references(f"{both.precision}/gradient"), both.ours(f"{both.precision}/gradient")
    nudged = both.record.references("float32/nudged-gradient")
    checks = []
    for kind in ("loss", "variable/", "input/"):
        references = {both.variable(name): ref for name, ref in theirs.items() if name.startswith(kind)}
        arrays = {both.variable(name): array for name, array in ours.items() if name.startswith(kind)}
        scale = judge.scale_of(references.values()) or None
        if both.precision == "float32":
            apart = {both.variable(name): ref for name, ref in nudged.items()}
            checks.append(judge.floating("gradient", references, apart, arrays, scale))
        else:
            checks.append(judge.exact("gradient", judge.tally(references, arrays, scale), both.constants()))
    return merged("gradient", [*checks, *([_said(both, "gradient")] if both.precision == "float32" else [])])


def train(both: Both) -> Check:
    """The same losses and the same trained parameters after plain gradient descent."""
    return _trained(both, "train", lambda variable: bool(variable["trainable"]), losses=True)


def state(both: Both) -> Check:
    """The same moving statistics and other untrained state after the same steps."""
    return _trained(both, "state", lambda variable: not variable["trainable"], losses=False)


def _trained(both: Both, id_: str, wanted: Callable[[Facts], bool], losses: bool) -> Check:
    refused = _untrainable(both, id_)
    if refused is not None:
        return refused
    chosen = {f"variable/{index}" for index, v in enumerate(both.record.variables) if wanted(v)}
    if losses:
        chosen.add("losses")
    removed = both.ours(f"{both.precision}/without-differences") if both.accepted else {}
    theirs = both.record.references(f"{both.precision}/trained")
    references = _named(both, theirs, chosen)
    nudged = _named(both, both.record.references(f"{both.precision}/nudged"), chosen)
    ours = removed or both.ours(f"{both.precision}/trained")
    arrays = _named(both, ours, chosen)
    if both.precision == "float32":
        return merged(id_, [judge.floating(id_, references, nudged, arrays), _said(both, id_)])
    found = judge.tally(references, arrays)
    found.floor = judge.floor_of(references, nudged)
    limit = min(max(judge.EXACT, judge.FACTOR * found.floor), judge.NAMED)
    check = judge.exact(id_, found, both.constants(), limit)
    step = _step(theirs.get("losses"), ours.get("losses"), limit) if losses else {}
    return replace(check, details={**check.details, **step})


def _named(both: Both, arrays: Mapping[str, Any], chosen: set[str]) -> dict[str, Any]:
    return {both.variable(name): array for name, array in arrays.items() if name in chosen}


def _untrainable(both: Both, id_: str) -> Check | None:
    """Why trajectories cannot be compared, if they cannot."""
    if both.record.facts["random"]:
        drawn = ", ".join(both.record.facts["random"])
        return Check(id_, "unsupported", reason=f"layers draw at random in training: {drawn}")
    if not both.record.facts["training"]["settled"]:
        return Check(id_, "error", reason="the TensorFlow side's loss does not stay finite at any of the rates tried")
    return None


def _step(theirs: Any, ours: Any, limit: float) -> dict[str, Any]:
    """The first step at which the losses differ by more than the limit, if any."""
    if not isinstance(theirs, np.ndarray) or ours is None or theirs.shape != ours.shape:
        return {}
    apart = np.abs(theirs - ours) > limit * np.max(np.abs(theirs))
    return {"first_step": int(np.argmax(apart))} if bool(np.any(apart)) else {}


def merged(id_: str, checks: Sequence[Check]) -> Check:
    """Several judgements as one check: it passes where all pass, and shows the worst figures."""
    failed = [check for check in checks if check.verdict != "pass"]
    error = max((check.error for check in checks if check.error is not None), default=None)
    floor = max((check.floor for check in checks if check.floor is not None), default=None)
    reason = "; ".join(dict.fromkeys(check.reason for check in (failed or checks) if check.reason))
    worst = max(failed or checks, key=lambda check: check.error or 0.0, default=None)
    details = worst.details if worst is not None else {}
    return Check(id_, failed[0].verdict if failed else "pass", error, floor, error, reason, details)
