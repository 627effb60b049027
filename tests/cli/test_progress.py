"""Progress without a terminal: plain lines, none for work that is done at once."""

from __future__ import annotations

import time

import pytest

from migrator.cli import progress as module


def test_quick_work_is_silent(capsys: pytest.CaptureFixture[str]) -> None:
    with module.progress("first") as tell:
        tell("second")
    assert capsys.readouterr().err == ""


def test_long_work_says_once_what_it_is_doing(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SILENT_SECONDS", 0.0)
    with module.progress("first") as tell:
        tell("second")
        tell("second")
        tell("third")
    said = capsys.readouterr()
    lines = [line.partition("] ")[2] for line in said.err.splitlines()]
    assert lines[-2:] == ["second", "third"]
    assert said.out == ""


def test_a_step_that_never_reports_is_named_all_the_same(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "SILENT_SECONDS", 0.01)
    said = ""
    with module.progress("reading the tree"):
        for _ in range(200):
            time.sleep(0.01)
            said += capsys.readouterr().err
            if said:
                break
    assert "reading the tree" in said
