"""Each automatic operation of the catalogue computes what TensorFlow computes."""

from __future__ import annotations

import pytest

from migrator.catalogue import Catalogue, load_rules
from migrator.data import rules_folder
from migrator.facts import Rule
from migrator.proofs.coverage import untried
from migrator.proofs.examples import translated
from migrator.proofs.prove import prove

OPERATIONS = [
    rule
    for rule in load_rules([rules_folder()])
    if rule.torch is not None and rule.proof != "fixture" and not rule.skip
]


@pytest.mark.parametrize("rule", OPERATIONS, ids=lambda rule: f"{rule.tf} [{rule.id}] is what {rule.torch} computes")
def test_an_entry(rule: Rule, outcomes: dict[str, tuple[str, int, list[str]]]) -> None:
    verdict, cases, failures = outcomes[rule.id]
    assert failures == []
    assert verdict == "passed"
    assert cases > 0


def test_layers_and_structures_have_the_signatures_of_the_installed_framework(
    outcomes: dict[str, tuple[str, int, list[str]]],
) -> None:
    operations = {rule.id for rule in OPERATIONS}
    faults = {rule: failures for rule, (_, _, failures) in outcomes.items() if rule not in operations and failures}
    assert faults == {}


@pytest.mark.parametrize("rule", OPERATIONS, ids=lambda rule: f"the result for {rule.tf} [{rule.id}] is left as it is")
def test_rewriting_again(rule: Rule, catalogue: Catalogue) -> None:
    assert rule.example is not None
    assert translated(rule.example.after, catalogue, max(rule.keras), tensors=False) == rule.example.after


def test_every_template_of_an_entry_is_taken_by_one_of_its_calls(catalogue: Catalogue) -> None:
    assert {rule.id: untried(rule, catalogue) for rule in OPERATIONS if untried(rule, catalogue)} == {}


@pytest.mark.proof
def test_all_call_styles_on_all_kinds_of_arrays(catalogue: Catalogue) -> None:
    proofs = prove(catalogue.rules, catalogue)
    failures = {rule: outcome.failures for rule, outcome in proofs.outcomes.items() if outcome.failures}
    assert failures == {}
    assert sum(outcome.cases for outcome in proofs.outcomes.values()) > 10 * len(OPERATIONS)
