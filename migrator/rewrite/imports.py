"""Imports settled once, after everything else: what nobody reads any more goes, what the new code needs comes."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Sequence

import libcst as cst

from migrator.rewrite.arguments import code

_ROOTS = ("tensorflow", "keras", "tf_keras", "tensorflow_addons")
_WIDTH = 100
_STANDARD = ("math", "functools", "itertools", "operator", "collections", "typing")


def settle(module: cst.Module, needed: Iterable[str], keep_stars: bool) -> cst.Module:
    """Drops TensorFlow imports that nobody reads, and adds the `needed` statements where those stood.

    `keep_stars` says that something of TensorFlow stays, so that star imports must too.
    """
    read = _read_names(module)
    cleaned = module.visit(_Cleaner(read, keep_stars))
    assert isinstance(cleaned, cst.Module)
    missing = _missing(cleaned, needed)
    return _inserted(module, cleaned, missing) if missing else cleaned


def _read_names(module: cst.Module) -> set[str]:
    found: set[str] = set()
    pending: list[cst.CSTNode] = [module]
    while pending:
        node = pending.pop()
        if isinstance(node, (cst.Import, cst.ImportFrom)):
            continue
        if isinstance(node, cst.Name):
            found.add(node.value)
        elif isinstance(node, cst.Attribute):
            pending.append(node.value)
        elif isinstance(node, cst.Assign) and _is_all(node):
            found |= _strings(node.value)
        else:
            pending.extend(node.children)
    return found


def _is_all(node: cst.Assign) -> bool:
    return any(isinstance(target.target, cst.Name) and target.target.value == "__all__" for target in node.targets)


def _strings(node: cst.CSTNode) -> set[str]:
    if isinstance(node, cst.SimpleString):
        return {str(node.evaluated_value)}
    return set().union(*(_strings(child) for child in node.children)) if node.children else set()


def of_tensorflow(dotted: str) -> bool:
    """Whether a dotted module name belongs to TensorFlow or Keras."""
    return dotted.split(".")[0] in _ROOTS


class _Cleaner(cst.CSTTransformer):
    def __init__(self, read: set[str], keep_stars: bool) -> None:
        super().__init__()
        self.read, self.keep_stars = read, keep_stars

    def leave_ImportFrom(self, original_node: cst.ImportFrom, updated_node: cst.ImportFrom) -> object:  # type: ignore[override]
        module = code(updated_node.module) if updated_node.module is not None else ""
        if updated_node.relative or not of_tensorflow(module):
            return updated_node
        if isinstance(updated_node.names, cst.ImportStar):
            return updated_node if self.keep_stars else cst.RemoveFromParent()
        return self._kept(updated_node, updated_node.names)

    def leave_Import(self, original_node: cst.Import, updated_node: cst.Import) -> object:  # type: ignore[override]
        return self._kept(updated_node, updated_node.names)

    def _kept(self, node: cst.Import | cst.ImportFrom, names: Sequence[cst.ImportAlias]) -> object:
        kept = [alias for alias in names if self._stays(node, alias)]
        if not kept:
            return cst.RemoveFromParent()
        if len(kept) == len(names):
            return node
        kept[-1] = kept[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
        changed = node.with_changes(names=kept)
        if isinstance(changed, cst.ImportFrom) and len(kept) == 1:
            changed = changed.with_changes(lpar=None, rpar=None)
        return changed

    def _stays(self, node: cst.Import | cst.ImportFrom, alias: cst.ImportAlias) -> bool:
        dotted = code(alias.name)
        if isinstance(node, cst.Import) and not of_tensorflow(dotted):
            return True
        local = code(alias.asname.name) if alias.asname is not None else dotted.split(".")[0]
        return local in self.read


def _missing(module: cst.Module, needed: Iterable[str]) -> list[str]:
    """The needed statements that the module does not have in one form or another."""
    bound = _bound_names(module)
    found: list[str] = []
    for text in sorted(set(needed), key=_order):
        node = cst.parse_statement(text)
        assert isinstance(node, cst.SimpleStatementLine)
        small = node.body[0]
        if isinstance(small, cst.Import):
            if not all(_local(alias) in bound for alias in small.names):
                found.append(text)
        elif isinstance(small, cst.ImportFrom) and not isinstance(small.names, cst.ImportStar):
            names = [code(alias).rstrip(", ") for alias in small.names if _local(alias) not in bound]
            if names:
                found.append(f"{text.split(' import ')[0]} import {', '.join(names)}")
    return found


def _local(alias: cst.ImportAlias) -> str:
    return code(alias.asname.name) if alias.asname is not None else code(alias.name).split(".")[0]


def _bound_names(module: cst.Module) -> set[str]:
    found: set[str] = set()
    for item in module.body:
        if isinstance(item, cst.SimpleStatementLine):
            for small in item.body:
                if isinstance(small, (cst.Import, cst.ImportFrom)) and not isinstance(small.names, cst.ImportStar):
                    found |= {_local(alias) for alias in small.names}
    return found


def _order(text: str) -> tuple[int, bool, str]:
    module = text.split()[1]
    if module.split(".")[0] in _STANDARD:
        return 0, text.startswith("from"), text
    local = module.startswith(".") or module.endswith("torch_support")
    return (2 if local else 1), text.startswith("from"), text


def _inserted(before: cst.Module, after: cst.Module, lines: list[str]) -> cst.Module:
    """The new imports where the first TensorFlow import stood, at the latest after the last import at the top."""
    place = _place(before, after)
    new = [cst.parse_statement(_folded(line)) for line in lines]
    for index in range(1, len(new)):
        if _order(lines[index])[0] != _order(lines[index - 1])[0] and _order(lines[index - 1])[0] == 0:
            new[index] = new[index].with_changes(leading_lines=[cst.EmptyLine(indent=False)])
    body = list(after.body)
    header = list(after.header)
    if place < len(body):
        following = body[place]
        blank: list[cst.EmptyLine] = list(getattr(following, "leading_lines", ()))
        if _is_import(following):
            while place == 0 and blank and blank[0].comment is None:
                blank.pop(0)
            new[0] = new[0].with_changes(leading_lines=blank)
            body[place] = following.with_changes(leading_lines=())
        elif not blank or blank[0].comment is not None:
            body[place] = following.with_changes(leading_lines=[cst.EmptyLine(indent=False), *blank])
    if place and (not _is_import(body[place - 1]) or (_of_the_library(body[place - 1]) and _order(lines[0])[0])):
        new[0] = new[0].with_changes(leading_lines=[cst.EmptyLine(indent=False)])
    return after.with_changes(body=[*body[:place], *new, *body[place:]], header=header)


def _of_the_library(item: cst.CSTNode) -> bool:
    """Whether an import is of Python's own library: another block of imports begins behind it."""
    words = code(item).strip().splitlines()[-1].split()
    return len(words) > 1 and words[1].split(".")[0].rstrip(",") in sys.stdlib_module_names


def _folded(line: str) -> str:
    """A long import, a name a line."""
    if len(line) <= _WIDTH:
        return line
    start, names = line.split(" import ")
    return f"{start} import (\n" + "".join(f"    {name},\n" for name in names.split(", ")) + ")\n"


def _place(before: cst.Module, after: cst.Module) -> int:
    standing = 0
    for item in before.body:
        if _is_import(item) and _tensorflow_line(item):
            break
        standing += 1
    else:
        standing = _after_imports(before.body)
    floor = _after_future(after.body)
    return max(floor, min(standing, len(after.body)))


def _tensorflow_line(item: cst.CSTNode) -> bool:
    text = code(item).strip().split("\n")[-1].split()
    return len(text) > 1 and of_tensorflow(text[1].rstrip(","))


def _is_import(item: cst.CSTNode) -> bool:
    return isinstance(item, cst.SimpleStatementLine) and isinstance(item.body[0], (cst.Import, cst.ImportFrom))


def _after_imports(body: Sequence[cst.CSTNode]) -> int:
    last = 0
    for index, item in enumerate(body):
        if _is_import(item):
            last = index + 1
    return max(last, _after_future(body))


def _after_future(body: Sequence[cst.CSTNode]) -> int:
    """Behind the docstring and `from __future__` imports."""
    place = 0
    for index, item in enumerate(body):
        if not isinstance(item, cst.SimpleStatementLine):
            break
        small = item.body[0]
        docstring = index == 0 and isinstance(small, cst.Expr) and isinstance(small.value, cst.SimpleString)
        future = isinstance(small, cst.ImportFrom) and small.module is not None and code(small.module) == "__future__"
        if docstring or future:
            place = index + 1
    return place


__all__ = ["of_tensorflow", "settle"]
