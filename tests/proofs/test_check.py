"""`migrate rules check`: what it runs, what it keeps, and what it says when it cannot run."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from migrator.catalogue import Catalogue
from migrator.catalogue.catalogue import catalogue_of
from migrator.catalogue.proof_file import Proof, read_proofs, write_proofs
from migrator.errors import MigrateError
from migrator.proofs.check import check_rules
from migrator.worker import launch


def quiet(_: str) -> None:
    """No progress."""


def test_a_selection_that_names_nothing_is_an_error(catalogue: Catalogue, tmp_path: Path) -> None:
    with pytest.raises(MigrateError, match="no rule `nothing`"):
        check_rules(catalogue, tmp_path, quiet, ["nothing"])
    assert list(tmp_path.iterdir()) == []


def test_a_missing_framework_says_what_to_install(
    catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer: dict[str, Any] = {"status": "framework", "package": "tensorflow", "message": "No module"}
    monkeypatch.setattr(launch, "run", lambda *_args, **_more: answer)
    with pytest.raises(MigrateError, match=r"tensorflow is not installed: install tf2torch-migrator\[cpu\]"):
        check_rules(catalogue, tmp_path, quiet, ["softmax"])
    assert list(tmp_path.iterdir()) == []


def test_a_side_that_breaks_down_is_an_error(
    catalogue: Catalogue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer: dict[str, Any] = {"status": "crashed", "message": "the process died with signal SIGSEGV"}
    monkeypatch.setattr(launch, "run", lambda *_args, **_more: answer)
    with pytest.raises(MigrateError, match="SIGSEGV"):
        check_rules(catalogue, tmp_path, quiet, ["softmax"])


def test_only_what_passed_is_kept_and_other_proofs_stay(catalogue: Catalogue, tmp_path: Path) -> None:
    wrong = next(rule for rule in catalogue if rule.id == "tanh")
    spoilt = replace(wrong, torch="torch.sinh({x})", digest="f" * 16)
    mixed = catalogue_of((*(rule for rule in catalogue if rule is not wrong), spoilt))
    kept = next(rule for rule in catalogue if rule.id == "exp")
    earlier = (Proof("exp", kept.digest, "torch 1.0", "passed", 5), Proof("gone", "0" * 16, "torch 1.0", "passed", 5))
    write_proofs(tmp_path, earlier)
    checked = check_rules(mixed, tmp_path, quiet, ["tanh", "tf.nn.softmax"])
    assert checked.passed == ("softmax",)
    assert [outcome.rule for outcome in checked.failed] == ["tanh"]
    assert "values differ" in checked.to_text()
    assert "1 passed, 1 failed, 0 skipped" in checked.to_text()
    on_file = read_proofs(tmp_path)
    assert {proof.rule for proof in on_file} == {"exp", "softmax"}
    assert next(proof for proof in on_file if proof.rule == "softmax").cases > 0
