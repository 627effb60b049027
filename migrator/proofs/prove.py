"""Runs the proofs: a plan, both workers side by side, and a verdict for every rule."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from migrator.catalogue import Catalogue
from migrator.errors import ExitCode, MigrateError
from migrator.facts import Rule
from migrator.proofs.judge import verdict
from migrator.proofs.plan import Case, Plan, plan_of
from migrator.proofs.signatures import compare

SIDES = ("proof_tensorflow", "proof_torch")


@dataclass(frozen=True)
class Outcome:
    """What a rule's proof came to. `skipped` has a reason; `none` is a rule that is not proven by running examples."""

    rule: str
    verdict: Literal["passed", "failed", "skipped", "none"]
    cases: int = 0
    failures: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True)
class Proofs:
    """The outcome of every rule asked for, and the versions that computed it."""

    outcomes: Mapping[str, Outcome]
    versions: Mapping[str, str]


def prove(
    rules: Sequence[Rule],
    catalogue: Catalogue,
    progress: Callable[[str], None] = lambda _: None,
    quick: bool = False,
) -> Proofs:
    """Executes the examples of these rules. Raises MigrateError where a framework is missing or a side breaks down."""
    plan = plan_of(rules, catalogue, quick)
    progress(f"{len(plan.cases)} examples in TensorFlow and in PyTorch")
    names = sorted({name for rule in rules if _has_signature(rule) for name in (rule.tf, *rule.also)})
    results, outputs = _executed(plan, names)
    by_rule: dict[str, list[str]] = {key: list(value) for key, value in plan.faults.items()}
    known = {rule.id: rule for rule in rules}
    for index, case in enumerate(plan.cases):
        pair = (results[0]["results"][index], results[1]["results"][index])
        told = verdict(case, index, known[case.rule], pair, outputs)
        if told is not None:
            by_rule.setdefault(case.rule, []).append(f"{case.id}: {told}.")
    for rule in rules:
        if _has_signature(rule):
            by_rule.setdefault(rule.id, []).extend(compare(rule, results[0]["signatures"]))
    counts = {rule.id: sum(case.rule == rule.id for case in plan.cases) for rule in rules}
    outcomes = {rule.id: _outcome(rule, counts[rule.id], by_rule.get(rule.id, [])) for rule in rules}
    return Proofs(outcomes, {**results[0]["versions"], **results[1]["versions"]})


def _has_signature(rule: Rule) -> bool:
    return rule.automatic and not rule.constant and not rule.skip and 3 in rule.keras


def _outcome(rule: Rule, cases: int, failures: list[str]) -> Outcome:
    if failures:
        return Outcome(rule.id, "failed", cases, tuple(failures))
    if rule.skip:
        return Outcome(rule.id, "skipped", reason=rule.skip)
    return Outcome(rule.id, "passed" if cases else "none", cases)


def _executed(plan: Plan, names: list[str]) -> tuple[list[dict[str, Any]], tuple[Any, Any]]:
    from migrator.worker import files

    with tempfile.TemporaryDirectory() as folder:
        arrays = Path(folder, "arrays.safetensors")
        files.write_arrays(arrays, plan.arrays)
        with ThreadPoolExecutor(2) as pool:
            jobs = [pool.submit(_side, side, plan, names, arrays, Path(folder, side)) for side in SIDES]
            results = [job.result() for job in jobs]
        outputs = [files.read_arrays(Path(folder, side, "outputs.safetensors")) for side in SIDES]
    return results, (outputs[0], outputs[1])


def _side(side: str, plan: Plan, names: list[str], arrays: Path, out: Path) -> dict[str, Any]:
    from migrator.worker import launch

    request = {
        "arrays": str(arrays),
        "cases": [_request(case, side) for case in plan.cases],
        "signatures": names,
        "frameworks": ["tensorflow", "torch"],
    }
    result = launch.run(side, request, out)
    if result["status"] != "ok":
        framework = side.removeprefix("proof_")
        missing = result["status"] == "framework"
        told = "is not installed: install tf2torch-migrator[cpu]" if missing else f"side failed: {result['message']}"
        raise MigrateError(f"The {framework} {told}.", ExitCode.UNABLE)
    return result


def _request(case: Case, side: str) -> dict[str, Any]:
    return {
        "code": case.before if side == SIDES[0] else case.after,
        "inputs": case.inputs,
        "plain": list(case.plain),
        "differentiable": list(case.differentiable),
        "proof": case.proof,
    }
