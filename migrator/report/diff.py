"""What a rewrite changes, as one unified diff that `git apply` and `patch -p1` take."""

from __future__ import annotations

import difflib
from collections.abc import Iterator

from migrator.facts import Rewritten

_UNFINISHED = "\n\\ No newline at end of file\n"


def unified(rewritten: Rewritten) -> str:
    """All changed and created files in the order of their paths; empty where nothing changes."""
    changes = {result.path: (result.before, result.after) for result in rewritten.files}
    changes |= {path: ("", text) for path, text in rewritten.created.items()}
    return "".join(line for path in sorted(changes) for line in _file(path, *changes[path]))


def _file(path: str, before: str, after: str) -> Iterator[str]:
    old, new = f"a/{path}" if before else "/dev/null", f"b/{path}"
    # split at line feeds only, as patch does: str.splitlines also breaks at form feeds and separators
    for line in difflib.unified_diff(_lines(before), _lines(after), old, new):
        yield line if line.endswith("\n") else line + _UNFINISHED


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    return [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
