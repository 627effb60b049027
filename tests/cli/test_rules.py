"""`migrate rules`: what the catalogue holds, and that a wrong rule is found by running it."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from migrator import data

OWN = """[[rule]]
id = "our-positive"
tf = "tf.experimental.numpy.positive(x)"
torch = "{torch}"
tensors = ["x"]
grade = "exact"
doc = "The number itself."
[rule.example]
before = "tf.experimental.numpy.positive(a)"
after = "{after}"
given = {{ a = "float32[2,3]" }}
"""


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The rules as an installed package holds them; gives their folder."""
    package = tmp_path / "site" / "migrator"
    rules = package / "_data" / "rules"
    shutil.copytree(data.rules_folder(), rules)
    monkeypatch.setattr(data, "PACKAGE", package)
    return rules


def own_rule(folder: Path, torch: str, after: str) -> None:
    (folder / "ours").mkdir()
    (folder / "ours" / "ours.toml").write_text(OWN.format(torch=torch, after=after), encoding="utf-8")
    (folder / "migrate.toml").write_text('rules = ["ours"]\n', encoding="utf-8")


def test_the_list_has_what_programs_need_of_every_rule(migrate: Any) -> None:
    said = migrate("rules", "list", "--format", "json")
    assert said.code == 0
    assert said.json["schema"] == "migrate.rules/1"
    rules = said.json["rules"]
    keys = {"id", "tf", "also", "family", "grade", "automatic", "proof"}
    assert all(keys <= set(rule) for rule in rules)
    assert {rule["grade"] for rule in rules} <= {"exact", "review", "manual", "blocked"}
    assert {rule["proof"] for rule in rules} <= {"passed", "skipped", "none"}
    assert len({rule["id"] for rule in rules}) == len(rules) >= 80


def test_the_list_as_text_has_a_line_for_every_rule(migrate: Any) -> None:
    rules = migrate("rules", "list", "--format", "json").json["rules"]
    lines = migrate("rules", "list").out.splitlines()
    assert [line.split()[0] for line in lines[: len(rules)]] == [rule["id"] for rule in rules]


def test_a_rule_is_shown_by_its_id_and_by_the_name_of_the_api(migrate: Any) -> None:
    assert "F.relu({features})" in migrate("rules", "show", "relu").out
    assert migrate("rules", "show", "tf.nn.relu").out == migrate("rules", "show", "relu").out


def test_a_rule_that_does_not_exist_is_a_sentence(migrate: Any) -> None:
    for command in ("show", "check"):
        said = migrate("rules", command, "no-such-rule")
        assert (said.code, said.out) == (2, "")
        assert "no-such-rule" in said.err
        assert "migrate rules list" in said.err


def test_a_teams_own_rules_are_part_of_the_catalogue(migrate: Any, tmp_path: Path) -> None:
    own_rule(tmp_path, "{x}", "a")
    assert "our-positive" in migrate("rules", "list").out


def test_a_rule_that_computes_something_else_is_exit_1_and_nothing_is_written(
    migrate: Any, tmp_path: Path, installed: Path
) -> None:
    own_rule(tmp_path, "-{x}", "-a")
    before = {path: path.read_bytes() for path in installed.iterdir()}
    said = migrate("rules", "check", "our-positive", "relu", "--format", "json")
    assert said.code == 1
    assert said.json["passed"] == ["relu"]
    (failed,) = said.json["failed"]
    assert failed["rule"] == "our-positive"
    assert "values differ" in json.dumps(failed["failures"])
    assert {path: path.read_bytes() for path in installed.iterdir()} == before
