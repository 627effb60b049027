"""What `migrate rules` shows, and the file of proofs."""

from dataclasses import replace
from pathlib import Path

import pytest

from migrator.catalogue import Catalogue, load_rules
from migrator.catalogue.listing import show, to_json, to_text
from migrator.catalogue.proof_file import Proof, read_proofs, status_of, write_proofs
from migrator.data import rules_folder
from migrator.errors import MigrateError


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_rules([rules_folder()])


def test_a_changed_entry_has_no_proof(catalogue: Catalogue) -> None:
    rule = catalogue.rules[0]
    proofs = (Proof(rule.id, rule.digest, "torch 2.0", "passed", 3),)
    assert status_of(rule, proofs) == "passed"
    assert status_of(replace(rule, digest="0" * 16), proofs) == "none"


def test_proofs_are_read_as_they_were_written(tmp_path: Path) -> None:
    proofs = (Proof("a", "1", "torch 2", "passed", 3), Proof("a", "1", "torch 3", "skipped", 0, "why"))
    write_proofs(tmp_path, proofs)
    assert read_proofs(tmp_path) == proofs


def test_without_a_file_there_are_no_proofs(tmp_path: Path) -> None:
    assert read_proofs(tmp_path) == ()


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"proofs": {"a": {"rule": "b", "odd": 1}}}', '{"proofs": []}'])
def test_a_damaged_file_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "proofs.json").write_text(text, encoding="utf-8")
    with pytest.raises(MigrateError, match=r"proofs\.json is damaged"):
        read_proofs(tmp_path)


def test_the_listing_has_every_rule_with_the_keys_of_the_contract(catalogue: Catalogue) -> None:
    listed = to_json(catalogue, ())
    assert listed["schema"] == "migrate.rules/1"
    assert [entry["id"] for entry in listed["rules"]] == [rule.id for rule in catalogue]
    assert all(
        {"id", "tf", "also", "family", "grade", "automatic", "proof"} <= entry.keys() for entry in listed["rules"]
    )
    means = {entry["tf"]: entry for entry in listed["rules"]}
    assert means["tf.reduce_mean"]["automatic"] is True
    assert means["tf.GradientTape"]["automatic"] is False


def test_the_text_adds_up(catalogue: Catalogue) -> None:
    lines = to_text(catalogue, ()).splitlines()
    assert len(lines) == len(catalogue.rules) + 2
    assert lines[-1].startswith(f"{len(catalogue.rules)} rules")


@pytest.mark.parametrize("name", ["softmax", "tf.nn.softmax", "tf.math.softmax"])
def test_a_rule_is_shown_by_its_id_and_by_all_its_names(name: str, catalogue: Catalogue) -> None:
    assert "tf.nn.softmax(logits, axis=None, name=None)" in show(catalogue, name, ())


def test_an_unknown_name_is_an_error(catalogue: Catalogue) -> None:
    with pytest.raises(MigrateError, match=r"no rule `tf\.nothing`"):
        show(catalogue, "tf.nothing", ())


def test_every_shipped_proof_belongs_to_an_entry_as_it_stands(catalogue: Catalogue) -> None:
    digests = {rule.digest for rule in catalogue}
    proofs = read_proofs(rules_folder())
    assert proofs
    assert [proof.rule for proof in proofs if proof.digest not in digests] == []


def test_every_operation_is_proven_as_it_stands(catalogue: Catalogue) -> None:
    proofs = read_proofs(rules_folder())
    operations = [rule for rule in catalogue if rule.torch is not None and rule.proof != "fixture"]
    unproven = [rule.id for rule in operations if status_of(rule, proofs) == "none"]
    assert unproven == [], "run `migrate rules check`"
