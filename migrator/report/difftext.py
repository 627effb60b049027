"""A unified diff, as text, taken apart for the page: files, their counts, and lines with what each one is."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

Kind = Literal["added", "removed", "context", "hunk"]
_HUNK = re.compile(r"@@ -\d+(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_KINDS: dict[str, Kind] = {"+": "added", "-": "removed", " ": "context", "\\": "context"}


@dataclass(frozen=True)
class Line:
    """One line of a diff with its sign; `kind` is what the sign means."""

    kind: Kind
    text: str


@dataclass
class FileDiff:
    """All lines of one file's diff."""

    path: str
    lines: list[Line] = field(default_factory=list)

    @property
    def added(self) -> int:
        """Lines that are new."""
        return sum(line.kind == "added" for line in self.lines)

    @property
    def removed(self) -> int:
        """Lines that are gone."""
        return sum(line.kind == "removed" for line in self.lines)


def parse(text: str) -> list[FileDiff]:
    """Reads a unified diff. Hunk lengths are followed, so that content such as `--- a` is never read as a header."""
    files: list[FileDiff] = []
    before = ""
    old = new = 0  # lines of the hunk that are still to come, on each side
    for line in text.splitlines():
        if files and (old > 0 or new > 0):
            files[-1].lines.append(Line(_KINDS.get(line[:1], "context"), line))
            old -= line[:1] in ("-", " ", "")
            new -= line[:1] in ("+", " ", "")
        elif line.startswith("--- "):
            before = _path(line)
        elif line.startswith("+++ "):
            after = _path(line)
            files.append(FileDiff(before if after == "/dev/null" else after))
        elif line.startswith("@@") and files:
            old, new = _lengths(line)
            files[-1].lines.append(Line("hunk", line))
    return files


def _path(header: str) -> str:
    """`+++ b/models.py<tab>date` -> `models.py`."""
    name = header[4:].partition("\t")[0].strip()
    return name[2:] if name[:2] in ("a/", "b/") else name


def _lengths(hunk: str) -> tuple[int, int]:
    """`@@ -1,7 +1,9 @@ …` -> 7, 9; a length of one is left out in the format. Broken headers open no hunk."""
    found = _HUNK.match(hunk)
    return (int(found[1] or 1), int(found[2] or 1)) if found else (0, 0)
