"""An Inventory becomes a Project: every use of a TensorFlow API with its canonical name and place."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from migrator.facts import Call, Inventory, Project, Resolution, TensorTest, Unknown
from migrator.resolve.positions import positions
from migrator.resolve.reader import Reader
from migrator.resolve.world import World

RECURSION = 50_000  # the parser accepts nesting that needs more Python frames than the usual 1,000


def resolve(inventory: Inventory) -> Project:
    """What the names of all sources mean; sources know each other, nothing outside the tree is read."""
    with _deep_recursion():
        world = World(inventory)
        world.read()
        return Project(inventory, {path: _resolution(reader) for path, reader in world.readers.items()})


@contextmanager
def _deep_recursion() -> Iterator[None]:
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(max(before, RECURSION))
    try:
        yield
    finally:
        sys.setrecursionlimit(before)


def _resolution(reader: Reader) -> Resolution:
    places = positions(reader.source.module, {*reader.uses, *reader.undecided, *reader.tests})
    path = reader.path
    calls = [
        Call(path, *places[node], one.api, one.use, node, within=one.within, role=one.role, site=one.site)
        for node, one in reader.uses.items()
    ]
    unknown = [Unknown(path, places[node][0], reader.text(node), reason) for node, reason in reader.undecided.items()]
    tests = [TensorTest(path, places[node][0], reader.text(node), within) for node, within in reader.tests.items()]
    return Resolution(
        source=reader.source,
        calls=tuple(sorted(calls, key=lambda call: (call.line, call.column))),
        unknown=tuple(sorted(unknown, key=lambda item: (item.line, item.text))),
        apis={node: one.api for node, one in reader.uses.items()},
        definitions=reader.definitions,
        imports=reader.imports,
        tests=tuple(sorted(tests, key=lambda test: test.line)),
    )
