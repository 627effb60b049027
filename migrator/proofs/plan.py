"""What to execute: each rule's example, its further calls and their call styles, on several kinds of arrays."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from migrator.catalogue import Catalogue
from migrator.errors import MigrateError
from migrator.facts import Example, Rule
from migrator.proofs.arrays import PLAIN, array_of, is_float
from migrator.proofs.examples import parsed, styles, translated

if TYPE_CHECKING:
    import numpy as np

KINDS = (("random", 32), ("random", 64), ("edge", 64))
SAME = 4  # the written call and its styles by keyword, reversed and by position mean the same; the rest is another call


@dataclass(frozen=True)
class Case:
    """One TensorFlow expression and its PyTorch counterpart on one set of arrays.

    `certain` is False where TensorFlow itself may refuse the arrays, which then is no failure of the rule.
    """

    id: str
    rule: str
    before: str
    after: str
    inputs: dict[str, str]  # free name -> key of its array
    plain: tuple[str, ...]  # names that stay NumPy arrays
    differentiable: tuple[str, ...]
    certain: bool
    precision: int
    proof: str


@dataclass
class Plan:
    """All cases, the arrays they share, and the faults that showed before anything ran, by rule."""

    cases: list[Case] = field(default_factory=list)
    arrays: dict[str, np.ndarray] = field(default_factory=dict)
    faults: dict[str, list[str]] = field(default_factory=dict)


def plan_of(rules: Sequence[Rule], catalogue: Catalogue, quick: bool = False) -> Plan:
    """The plan for these rules. `quick` keeps the written calls on random double-precision arrays."""
    plan = Plan()
    for rule in rules:
        example = rule.example
        if example is None or rule.torch is None or rule.skip or rule.proof == "fixture":
            continue
        keras = max(rule.keras)
        _check_text(rule, example, catalogue, keras, plan)
        for before, after, same in _expressions(rule, example, catalogue, keras, plan, quick):
            kinds = KINDS if rule.proof == "numeric" else KINDS[:1]
            for variety, precision in kinds[:2] if quick else kinds:
                certain = same and (variety, precision) == KINDS[0]
                plan.cases.append(_case(rule, example, (before, after), (variety, precision), certain, plan))
    return plan


def _check_text(rule: Rule, example: Example, catalogue: Catalogue, keras: int, plan: Plan) -> None:
    try:
        found = translated(example.before, catalogue, keras)
    except MigrateError as error:
        plan.faults.setdefault(rule.id, []).append(error.message)
        return
    if found != example.after:
        plan.faults.setdefault(rule.id, []).append(f"{example.before} becomes {found}, the entry says {example.after}.")


def _expressions(
    rule: Rule, example: Example, catalogue: Catalogue, keras: int, plan: Plan, quick: bool
) -> Iterator[tuple[str, str, bool]]:
    """TensorFlow and PyTorch expressions, and whether the expression is one that the entry itself promises."""
    seen: set[str] = set()
    for text in (example.before, *example.more):
        written = [text] if quick else [text, *styles(rule, text)]
        for number, before in enumerate(written):
            if before in seen:
                continue
            seen.add(before)
            try:
                parsed(before)
                yield before, translated(before, catalogue, keras), number < SAME
            except MigrateError as error:
                if number == 0:  # what the entry promises; a derived style may be refused
                    plan.faults.setdefault(rule.id, []).append(error.message)


def _case(
    rule: Rule, example: Example, code: tuple[str, str], kind: tuple[str, int], certain: bool, plan: Plan
) -> Case:
    variety, precision = kind
    inputs = {}
    for name, spec in example.given.items():
        key = f"{name} {spec} {variety} {precision}"
        inputs[name] = key
        if key not in plan.arrays:
            plan.arrays[key] = array_of(spec, name, variety, precision)
    floats = tuple(name for name, spec in example.given.items() if is_float(spec))
    gradients = precision == 64 and not (
        variety == "edge" and {"gradient-ties", "gradient-zero"} & set(rule.differences)
    )
    return Case(
        id=f"{code[0]} on {variety} arrays, {precision} bit",
        rule=rule.id,
        before=code[0],
        after=code[1],
        inputs=inputs,
        plain=tuple(name for name, spec in example.given.items() if spec.startswith(PLAIN)),
        differentiable=floats if gradients else (),
        certain=certain,
        precision=precision,
        proof=rule.proof,
    )
