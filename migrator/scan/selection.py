"""Which files are worth parsing: those with a trace of TensorFlow, and those tied to them by the project's imports.

Works on text with patterns, because it runs over every file of a repository and parsing is what costs. It may take
a file too many (a word in a comment), never one too few that imports in plain sight.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath

from migrator.scan.text import Text

TRACE = re.compile(r"tensorflow|keras|\btf\b|\bTF[A-Z]\w+|\btf_")
IMPORT = re.compile(
    r"^[ \t]*(?:from[ \t]+([.\w]+)[ \t]+import[ \t]*(\([^)]*\)|[^\n#;]*)|import[ \t]+([^\n#;]+))", re.MULTILINE
)


def related(texts: Mapping[str, Text], root: Path) -> set[str]:
    """Paths of the files with a trace, of those that import them (however far away), and of what these import."""
    traced = {path for path, text in texts.items() if TRACE.search(text.content)}
    if not traced or len(texts) == 1:
        return traced
    modules = _modules(texts)
    imports = {path: set(_imported(path, text.content, modules)) for path, text in texts.items()}
    importers: dict[str, set[str]] = defaultdict(set)
    for path, targets in imports.items():
        for target in targets:
            importers[target].add(path)
    users = _closure(traced, importers)
    return _closure(users, imports)


def _closure(start: set[str], edges: Mapping[str, set[str]]) -> set[str]:
    reached, waiting = set(start), list(start)
    while waiting:
        for target in edges.get(waiting.pop(), ()):
            if target not in reached:
                reached.add(target)
                waiting.append(target)
    return reached


def _modules(texts: Mapping[str, Text]) -> dict[str, list[str]]:
    """Every dotted tail of a file's path -> the files that have it: `b.py` in `a/` is `a.b` and `b`."""
    modules: dict[str, list[str]] = defaultdict(list)
    for path in texts:
        parts = PurePosixPath(path).with_suffix("").parts
        parts = parts[:-1] if parts[-1] == "__init__" else parts
        for start in range(len(parts)):
            modules[".".join(parts[start:])].append(path)
    return modules


def _imported(path: str, content: str, modules: Mapping[str, list[str]]) -> Iterator[str]:
    for dotted in _dotted_names(path, content):
        tail = dotted
        while tail:  # an absolute import may start above the root: try ever shorter tails
            if tail in modules:
                yield from modules[tail]
                break
            tail = tail.partition(".")[2]


def _dotted_names(path: str, content: str) -> Iterator[str]:
    package = PurePosixPath(path).parts[:-1]
    for module, names, plain in IMPORT.findall(content):
        if plain:
            yield from (name.split(" as ")[0].strip() for name in plain.split(","))
            continue
        dots = len(module) - len(module.lstrip("."))
        base = [*package[: len(package) - dots + 1], module[dots:]] if dots else [module]
        prefix = ".".join(part for part in base if part)
        yield prefix
        for name in names.strip("()").split(","):
            word = name.split(" as ")[0].split("#")[0].strip()
            if word.isidentifier():
                yield f"{prefix}.{word}" if prefix else word
