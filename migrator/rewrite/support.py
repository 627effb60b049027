"""`torch_support.py`: the definitions of the support folder that a rewritten project uses, and nothing else.

A definition brings along what it needs from its own file and from the others, so each piece can be small and stand by
itself, and the emitted module holds no line that nobody calls.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

_FOLDER = Path(__file__).resolve().parent.parent / "support"
MODULE = "torch_support"
_HEADER = (
    '"""What this project needs of TensorFlow\'s behaviour and PyTorch does not have. Yours to keep and to change."""\n'
)


@dataclass(frozen=True)
class Piece:
    """One top-level definition: its source, the names it reads, the imports of its file."""

    name: str
    source: str
    reads: frozenset[str]
    imports: tuple[str, ...]
    file: str
    order: int


@lru_cache(maxsize=1)
def _pieces() -> dict[str, Piece]:
    found: dict[str, Piece] = {}
    for path in sorted(_FOLDER.glob("*.py")):
        if path.name == "__init__.py":
            continue
        text = path.read_text(encoding="utf-8")
        tree = ast.parse(text)
        imports = tuple(ast.unparse(node) for node in tree.body if isinstance(node, (ast.Import, ast.ImportFrom)))
        for order, node in enumerate(tree.body):
            for name in _defined(node):
                if name in found:
                    raise ValueError(f"{path.name} and {found[name].file} both define {name}")
                source = _source(text, node)
                found[name] = Piece(name, source, frozenset(_reads(node)), imports, path.name, order)
    return found


def _defined(node: ast.stmt) -> list[str]:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, ast.Assign):
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        return [name for name in names if name not in ("REQUIRES", "__all__")]
    if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        return [node.target.id]
    return []


def _source(text: str, node: ast.stmt) -> str:
    lines = text.splitlines()
    first = min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))])
    while first > 1 and lines[first - 2].startswith("#"):
        first -= 1
    return "\n".join(lines[first - 1 : node.end_lineno])


def _reads(node: ast.stmt) -> set[str]:
    return {inner.id for inner in ast.walk(node) if isinstance(inner, ast.Name)}


@lru_cache(maxsize=1)
def public_names() -> frozenset[str]:
    """Every name that rewritten code may import from the support module."""
    return frozenset(name for name in _pieces() if not name.startswith("_"))


def emit(names: Iterable[str]) -> str:
    """The support module for these names. Raises KeyError for a name that no piece defines."""
    needed = _closure(names)
    pieces = sorted((_pieces()[name] for name in needed), key=lambda piece: (piece.file, piece.order))
    imports = _imports(pieces)
    sources = list(dict.fromkeys(piece.source for piece in pieces))
    return _HEADER + "\n" + imports + "\n\n" + "\n\n\n".join(sources) + "\n"


def _closure(names: Iterable[str]) -> set[str]:
    pieces = _pieces()
    pending, found = list(names), set()
    while pending:
        name = pending.pop()
        if name in found:
            continue
        found.add(name)
        pending += [other for other in pieces[name].reads if other in pieces and other != name]
    return found


def _imports(pieces: list[Piece]) -> str:
    """The import lines that the pieces' code needs, grouped as a linter would."""
    read = set().union(*(piece.reads for piece in pieces)) if pieces else set()
    wanted: dict[str, set[str]] = {}
    plain: set[str] = set()
    for line in {line for piece in pieces for line in piece.imports}:
        node = ast.parse(line).body[0]
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if node.module == "__future__" or (alias.asname or alias.name) in read:
                    text = alias.name + (f" as {alias.asname}" if alias.asname else "")
                    wanted.setdefault(node.module or "", set()).add(text)
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if (alias.asname or alias.name.split(".")[0]) in read:
                    plain.add(f"import {alias.name}" + (f" as {alias.asname}" if alias.asname else ""))
    return _grouped(plain, wanted)


def _grouped(plain: set[str], wanted: dict[str, set[str]]) -> str:
    third = ("torch", "numpy")
    froms = {f"from {module} import {', '.join(sorted(names))}": module for module, names in wanted.items()}
    future = [line for line, module in froms.items() if module == "__future__"]

    def of(outside: bool) -> list[str]:
        plains = [line for line in plain if line.split()[1].split(".")[0] in third]
        lines = sorted(plains if outside else set(plain) - set(plains))
        return lines + sorted(
            line
            for line, module in froms.items()
            if (module.split(".")[0] in third) == outside and module != "__future__"
        )

    return "\n\n".join("\n".join(block) for block in (future, of(False), of(True)) if block) + "\n"


def extended(existing: str, names: Iterable[str]) -> str:
    """A support module that is there already, with the definitions it lacks added at its end.

    What the team has changed in it stays as it is.
    """
    defined = {name for node in ast.parse(existing).body for name in _defined(node)}
    missing = sorted(
        (_pieces()[name] for name in _closure(names) if name not in defined),
        key=lambda piece: (piece.file, piece.order),
    )
    if not missing:
        return existing
    sources = list(dict.fromkeys(piece.source for piece in missing))
    present = set(existing.splitlines())
    imports = [
        line for line in _imports(missing).splitlines() if line and line not in present and "__future__" not in line
    ]
    head, tail = _split_after_imports(existing)
    return (
        head + "".join(f"{line}\n" for line in imports) + tail.rstrip("\n") + "\n\n\n" + "\n\n\n".join(sources) + "\n"
    )


def _split_after_imports(text: str) -> tuple[str, str]:
    """The text up to the end of its last top-level import, and the rest."""
    last = 0
    for node in ast.parse(text).body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            last = node.end_lineno or last
    lines = text.splitlines(keepends=True)
    return "".join(lines[:last]), "".join(lines[last:])
