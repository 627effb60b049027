"""A tree of files becomes an Inventory: what is there, what was parsed, what could not be read and why.

A Python file is a source when it names TensorFlow or Keras, or when it and such a file import one another through
the project's own modules. All other files are counted and passed over, so that a large repository costs little.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from migrator.errors import MigrateError
from migrator.facts import Inventory, Skipped, Source
from migrator.scan.environment import environment
from migrator.scan.python import parse
from migrator.scan.requirements import requirements
from migrator.scan.selection import related
from migrator.scan.text import Text, decode
from migrator.scan.walk import Tree, walk


def read(root: Path, exclude: Sequence[str] = (), keras: int | None = None) -> Inventory:
    """What `root` holds; a single file stands for its folder with only that file in it.

    Args:
        exclude: patterns as in `.gitignore`, relative to the root.
        keras: 2 or 3 where the caller knows which Keras the code was written for.

    Raises:
        MigrateError: the path does not exist, or holds no Python.
    """
    if keras not in (None, 2, 3):
        raise MigrateError(f"Keras {keras} is not known. Give 2 or 3, or leave it out to have it detected.")
    tree = _tree(root, exclude)
    skipped = list(tree.skipped)
    texts = _texts(tree, skipped)
    sources = _sources(texts, related(texts, tree.root), skipped)
    found = environment(requirements(tree.root, tree.others), sources, keras)
    ordered = tuple(sorted(skipped, key=lambda record: record.file))
    return Inventory(tree.root, len(tree.python), tuple(sources), ordered, found)


def _tree(root: Path, exclude: Sequence[str]) -> Tree:
    try:
        exists, single = root.exists(), root.is_file()
    except (OSError, ValueError) as error:  # a name too long, a null byte, a loop of links
        raise MigrateError(f"{root} cannot be read: {error}. Give a folder or a Python file.") from error
    if not exists:
        raise MigrateError(f"{root} does not exist. Give a folder or a Python file.")
    if single:
        if root.suffix != ".py":
            raise MigrateError(f"{root} is not a Python file. Give a folder or a file that ends in .py.")
        return Tree(root.parent.resolve(), (root.name,), (), ())
    tree = walk(root.resolve(), exclude)
    if not tree.python:
        raise MigrateError(f"{root} holds no Python file, apart from what .gitignore or --exclude leaves out.")
    return tree


def _texts(tree: Tree, skipped: list[Skipped]) -> dict[str, Text]:
    texts = {}
    for path in tree.python:
        try:
            data = (tree.root / path).read_bytes()
        except OSError as error:
            skipped.append(Skipped(path, f"cannot be read: {error.strerror}"))
            continue
        text = decode(data)
        if isinstance(text, str):
            skipped.append(Skipped(path, text))
        else:
            texts[path] = text
    return texts


def _sources(texts: dict[str, Text], wanted: set[str], skipped: list[Skipped]) -> list[Source]:
    sources = []
    for path in sorted(wanted):
        parsed = parse(path, texts[path])
        if isinstance(parsed, Skipped):
            skipped.append(parsed)
        else:
            sources.append(parsed)
    return sources
