"""The catalogue for people and for programs: what `migrate rules list` and `migrate rules show` print."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from migrator.catalogue.checks import templates
from migrator.catalogue.proof_file import Proof, status_of
from migrator.errors import MigrateError
from migrator.facts import GRADES, Rule


def to_json(rules: Iterable[Rule], proofs: tuple[Proof, ...]) -> dict[str, Any]:
    """The object of the contract, one entry for each rule, structures among them."""
    return {
        "schema": "migrate.rules/1",
        "rules": [
            {
                "id": rule.id,
                "tf": rule.tf,
                "also": list(rule.also),
                "family": rule.family,
                "grade": rule.grade,
                "automatic": rule.automatic,
                "keras": list(rule.keras),
                "proof": status_of(rule, proofs),
            }
            for rule in rules
        ],
    }


def to_text(rules: Iterable[Rule], proofs: tuple[Proof, ...]) -> str:
    """A line for each rule, and the counts by grade at the end."""
    listed = list(rules)
    lines = [f"{rule.id:<34} {rule.grade:<8} {status_of(rule, proofs):<8} {rule.tf}" for rule in listed]
    counts = Counter(rule.grade for rule in listed)
    told = ", ".join(f"{counts[grade]} {grade}" for grade in GRADES)
    proven = sum(status_of(rule, proofs) == "passed" for rule in listed)
    names = sum(1 + len(rule.also) for rule in listed)
    return "\n".join([*lines, "", f"{len(listed)} rules for {names} names: {told}; {proven} proven by execution."])


def show(rules: Iterable[Rule], name: str, proofs: tuple[Proof, ...]) -> str:
    """Everything about the rules with this id or for this API. Raises MigrateError where there is none."""
    found = [rule for rule in rules if name in (rule.id, rule.tf, *rule.also)]
    if not found:
        raise MigrateError(f"There is no rule `{name}`. `migrate rules list` shows them all.")
    return "\n\n".join("\n".join(_lines(rule, proofs)) for rule in found)


def _lines(rule: Rule, proofs: tuple[Proof, ...]) -> Iterator[str]:
    yield f"{rule.id}: {_signature(rule)}"
    yield f"  {rule.doc or rule.guide or ''}"
    facts = {
        "grade": rule.grade,
        "family": rule.family,
        "also": ", ".join(rule.also),
        "keras": "" if set(rule.keras) == {2, 3} else ", ".join(map(str, rule.keras)),
        "built by": rule.build or rule.structure or "",
        "passed on as": rule.reference or "",
        "ignored": ", ".join(rule.ignore),
        "left alone with": ", ".join(rule.refuse),
        "differs in": ", ".join(rule.differences),
        "proof": status_of(rule, proofs) + (f" ({rule.skip})" if rule.skip else ""),
        "file": rule.file,
    }
    yield from (f"  {key + ':':<17}{value}" for key, value in facts.items() if value)
    for template, when, _ in templates(rule):
        condition = " and ".join(f"{key} is {value}" for key, value in when.items())
        yield f"  becomes:         {template}" + (f"   when {condition}" if condition else "")
    if rule.example is not None:
        yield f"  example:         {rule.example.before}"
        yield f"                   {rule.example.after}"


def _signature(rule: Rule) -> str:
    if rule.constant:
        return rule.tf
    shown = []
    for parameter in rule.parameters:
        star = "" if not parameter.variadic else "**" if parameter.keyword_only else "*"
        default = "" if parameter.default is None else f"={parameter.default}"
        shown.append(f"{star}{parameter.name}{default}")
    return f"{rule.tf}({', '.join(shown)})"
