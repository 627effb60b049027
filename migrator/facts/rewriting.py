"""What rewriting a tree did, and what it left: the facts of rewrite."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from migrator.facts.pairs import Pair


@dataclass(frozen=True)
class Site:
    """A place where a structure was rewritten, or was not."""

    file: str
    line: int
    structure: str
    name: str
    rewritten: bool


@dataclass(frozen=True)
class Left:
    """A construct that stays as it was, and why."""

    file: str
    line: int
    rule: str
    reason: str


@dataclass(frozen=True)
class FileResult:
    """One file before and after. Equal texts where nothing changed."""

    path: str
    status: Literal["full", "partial", "unchanged", "skipped"]
    reason: str
    before: str
    after: str


@dataclass(frozen=True)
class Rewritten:
    """What `migrate rewrite` would write: changed files, new files (support code), pairs for migrate.toml."""

    files: tuple[FileResult, ...]
    sites: tuple[Site, ...]
    left: tuple[Left, ...]
    created: Mapping[str, str]
    pairs: tuple[Pair, ...]
