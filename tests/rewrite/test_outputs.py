"""Every fixture's output: rewriting it again changes nothing, and no comment of the original is lost."""

from __future__ import annotations

import io
import shutil
import tokenize
from collections import Counter
from pathlib import Path

import pytest

from migrator.facts import Rewritten
from tests.rewrite.both_sides import rewritten

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
KINDS = ("functional", "sequential", "fit_loop", "projects")
CASES = sorted(folder for kind in KINDS for folder in (FIXTURES / kind).iterdir() if folder.is_dir())


@pytest.fixture(scope="module", params=CASES, ids=lambda path: f"{path.parent.name}: {path.name}")
def outputs(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path, Rewritten]:
    """The case as a project, the copy made of it, and what the rewriter said."""
    folder = tmp_path_factory.mktemp("case")
    source, out = folder / "legacy", folder / "ported"
    shutil.copytree(request.param, source, ignore=shutil.ignore_patterns("after*", "__pycache__", "*.json"))
    return source, out, rewritten(source, out)


def test_a_second_run_changes_nothing(outputs: tuple[Path, Path, Rewritten], tmp_path: Path) -> None:
    _, out, first = outputs
    assert any(item.before != item.after for item in first.files)
    again = rewritten(out, tmp_path / "again")
    assert {item.path for item in again.files if item.before != item.after} == set()
    assert {path: (out / path).read_text() for path in again.created} == dict(again.created)


def test_every_comment_is_kept(outputs: tuple[Path, Path, Rewritten]) -> None:
    source, out, _ = outputs
    for file in sorted(source.rglob("*.py")):
        lost = _comments(file) - _comments(out / file.relative_to(source))
        assert not lost, f"{file.name}: {sorted(lost)}"


def _comments(file: Path) -> Counter[str]:
    tokens = tokenize.generate_tokens(io.StringIO(file.read_text()).readline)
    return Counter(token.string for token in tokens if token.type == tokenize.COMMENT)
