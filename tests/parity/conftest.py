"""Pairs written by hand, each recorded once for the whole run, and a check against such a record."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from migrator import parity
from migrator.facts import Accept, Pair, PairResult

HERE = Path(__file__).resolve().parent / "pairs"
VARIANCE = (Accept("batchnorm-variance", "small batches"),)
PAIRS = {
    "strided": Pair("strided", "source.py:build", "twin.py:build", ("float32[batch,8,8,1]",), batch=4, accept=VARIANCE),
    "residual": Pair(
        "residual", "source.py:build", "twin.py:make", ("float32[batch,9,7,2]",), batch=4, accept=VARIANCE
    ),
    "inputs": Pair(
        "inputs", "source.py:build", "twin.py:build", ("int32[batch,6]:int(0,20)", "float32[batch,3]"), batch=5
    ),
    "dense": Pair("dense", "source.py:build", "twin.py:build", ("float32[batch,5]",), batch=6),
}
Checked = Callable[..., PairResult]


def silent(_: str) -> None:
    """No progress wanted."""


def _once(shared: Path, name: str) -> Path:
    """The folder of a pair with its record, made by whichever process comes first."""
    folder = shared / name
    try:
        folder.mkdir(parents=True)
    except FileExistsError:
        while not (folder / "ready").exists():
            time.sleep(0.2)
        return folder
    try:
        shutil.copytree(HERE / name, folder, dirs_exist_ok=True)
        parity.record(PAIRS[name], folder, parity.Options(), silent)
    finally:
        (folder / "ready").touch()
    return folder


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this test run share."""
    base = tmp_path_factory.getbasetemp()
    return (base.parent if "popen" in base.name else base) / "parity-pairs"


@pytest.fixture
def recorded(shared: Path, tmp_path: Path) -> Callable[[str], Path]:
    """A fresh copy of a pair's folder, its record included."""

    def copy(name: str) -> Path:
        place = tmp_path / name
        shutil.copytree(_once(shared, name), place)
        return place

    return copy


@pytest.fixture
def checked(recorded: Callable[[str], Path]) -> Checked:
    """Check a pair from its record, after replacing a piece of the twin's text by another."""

    def check(name: str, checks: str, old: str = "", new: str = "") -> PairResult:
        folder = recorded(name)
        twin = folder / "twin.py"
        text = twin.read_text()
        assert not old or text.count(old) == 1, f"{old!r} is not there exactly once"
        twin.write_text(text.replace(old, new) if old else text)
        chosen = tuple(checks.split(",")) if checks else parity.DEFAULT_CHECKS
        return parity.check(PAIRS[name], folder, parity.Options(checks=chosen), silent)

    return check


def verdicts(result: PairResult) -> dict[str, str]:
    """Verdict by check."""
    return {check.id: check.verdict for check in result.checks}
