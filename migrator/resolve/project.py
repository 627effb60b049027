"""An Inventory becomes a Project: every use of a TensorFlow API with its canonical name and place."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager

from migrator.facts import Call, Inventory, Project, Resolution, Unknown
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
    places = positions(reader.source.module, {*reader.uses, *reader.undecided})
    calls = [Call(reader.path, *places[node], api, use, node) for node, (api, use) in reader.uses.items()]
    unknown = [
        Unknown(reader.path, places[node][0], reader.text(node), reason) for node, reason in reader.undecided.items()
    ]
    return Resolution(
        source=reader.source,
        calls=tuple(sorted(calls, key=lambda call: (call.line, call.column))),
        unknown=tuple(sorted(unknown, key=lambda item: (item.line, item.text))),
        apis={node: api for node, (api, _) in reader.uses.items()},
        definitions=reader.definitions,
        imports=reader.imports,
    )
