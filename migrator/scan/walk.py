"""Which files of a tree belong to the project: no ignored ones, no virtual environments, no links.

Links are never followed: those inside the tree would be read twice, those out of it are somebody else's, and some
lead in circles. A link that could have been Python becomes a record.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from migrator.facts import Skipped

if TYPE_CHECKING:
    from pathspec import GitIgnoreSpec

    Specs = tuple[tuple[str, GitIgnoreSpec], ...]  # folder that holds the patterns -> patterns, outermost first

NOT_THE_PROJECT = {".git", ".hg", ".svn", "__pycache__", "node_modules", ".tox", ".nox", ".eggs", ".ipynb_checkpoints"}
NOT_THE_PROJECT |= {".mypy_cache", ".pytest_cache", ".ruff_cache"}
ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta", "bin/activate_this.py", "Scripts/activate.bat")


@dataclass(frozen=True)
class Tree:
    """A root and the relative paths below it, with `/`: Python files, all other files, what could not be entered."""

    root: Path
    python: tuple[str, ...]
    others: tuple[str, ...]
    skipped: tuple[Skipped, ...]


class _Walker:
    def __init__(self, root: Path, exclude: Sequence[str]) -> None:
        self.root = root
        self.excluded = _spec(exclude)
        self.python: list[str] = []
        self.others: list[str] = []
        self.skipped: list[Skipped] = []

    def enter(self, folder: str, specs: Specs) -> list[tuple[str, Specs]]:
        """Sorts the entries of one folder and gives back the folders to enter next, with the patterns in force."""
        try:
            entries = sorted(os.scandir(self.root / folder), key=lambda entry: entry.name)
        except OSError as error:
            self.skipped.append(Skipped(folder or ".", f"cannot be read: {error.strerror}"))
            return []
        if any(entry.name == ".gitignore" and entry.is_file() for entry in entries):
            specs = (*specs, (folder, _gitignore(self.root / folder / ".gitignore")))
        below = []
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            if entry.is_symlink():
                self._link(entry, path)
            elif entry.is_dir(follow_symlinks=False):
                if self._is_project(entry) and not self._ignored(f"{path}/", specs):
                    below.append((path, specs))
            elif entry.is_file(follow_symlinks=False) and not self._ignored(path, specs):
                (self.python if entry.name.endswith(".py") else self.others).append(path)
        return below

    def _link(self, entry: os.DirEntry[str], path: str) -> None:
        if entry.name.endswith(".py") and not self.excluded.match_file(path):
            self.skipped.append(Skipped(path, "is a link; links are not followed"))

    @staticmethod
    def _is_project(entry: os.DirEntry[str]) -> bool:
        if entry.name in NOT_THE_PROJECT:
            return False
        return not any(os.path.exists(os.path.join(entry.path, mark)) for mark in ENVIRONMENT_MARKS)

    def _ignored(self, path: str, specs: Specs) -> bool:
        if self.excluded.match_file(path):
            return True
        for base, spec in reversed(specs):  # the nearest .gitignore that says anything decides
            verdict = spec.check_file(path[len(base) + 1 :] if base else path).include
            if verdict is not None:
                return verdict
        return False


def walk(root: Path, exclude: Sequence[str] = ()) -> Tree:
    """Everything below `root` that belongs to the project, in a stable order. `exclude` has `.gitignore`'s grammar."""
    walker = _Walker(root, exclude)
    waiting: list[tuple[str, Specs]] = [("", ())]
    while waiting:
        folder, specs = waiting.pop()
        waiting.extend(walker.enter(folder, specs))
    return Tree(root, tuple(sorted(walker.python)), tuple(sorted(walker.others)), tuple(walker.skipped))


def _gitignore(path: Path) -> GitIgnoreSpec:
    try:
        return _spec(path.read_text(encoding="utf-8", errors="replace").splitlines())
    except OSError:
        return _spec(())


def _spec(lines: Sequence[str]) -> GitIgnoreSpec:
    """Git passes over a pattern it cannot read, and so do we."""
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines(lines)
    except ValueError:
        return GitIgnoreSpec.from_lines([line for line in lines if _readable(line)])


def _readable(line: str) -> bool:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
