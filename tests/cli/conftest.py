"""Runs command lines in this process and keeps what they said."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from migrator import cli


@dataclass(frozen=True)
class Said:
    """What a command line left: its exit code, its result, and its words for people."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Migrate = Callable[..., Said]


@pytest.fixture
def migrate(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Migrate:
    """`migrate("assess", path)` in an empty folder of its own."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Said:
        capsys.readouterr()
        code = cli.execute([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Said(code, said.out, said.err)

    return run
