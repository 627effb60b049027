"""One file as training code sees it: parents, scopes, and where a name is bound and read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

Scope = cst.FunctionDef | cst.Module

_BLANK = (
    cst.BaseParenthesizableWhitespace, cst.TrailingWhitespace, cst.EmptyLine, cst.Newline, cst.Comment,
)  # fmt: skip
_HOLDERS = (cst.Element, cst.StarredElement, cst.Tuple, cst.List)
_BINDERS = (
    cst.AssignTarget, cst.AsName, cst.Param, cst.ImportAlias, cst.NameItem, cst.FunctionDef, cst.ClassDef,
)  # fmt: skip
_TARGETS = (cst.AnnAssign, cst.AugAssign, cst.For, cst.CompFor, cst.NamedExpr)


class Refused(Exception):
    """Why a construct is left alone, in words for a person."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


@dataclass(frozen=True)
class Binding:
    """One place that binds a name. `value` is None where it is not the plain assignment of one value.

    `unpacked` is the assigned value and the position in it, where a flat tuple of names takes it apart.
    """

    node: cst.Name
    statement: cst.SimpleStatementLine | None
    value: cst.BaseExpression | None
    unpacked: tuple[cst.BaseExpression, int] | None = None


class FileTree:
    """The syntax tree of a file with its parents; nodes are compared by identity."""

    def __init__(self, module: cst.Module) -> None:
        self.module = module
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        pending: list[cst.CSTNode] = [module]
        while pending:
            node = pending.pop()
            for child in node.children:
                if not isinstance(child, _BLANK):
                    self.parents[child] = node
                    pending.append(child)

    def ancestors(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yields parent, grandparent, up to the module."""
        while node in self.parents:
            node = self.parents[node]
            yield node

    def within(self, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """Yields the node and all below it."""
        pending = [node]
        while pending:
            current = pending.pop()
            yield current
            pending += [child for child in reversed(current.children) if self.parents.get(child) is current]

    def scope(self, node: cst.CSTNode) -> Scope:
        """The function whose local names the node sees first, or the module."""
        child = node
        for parent in self.ancestors(node):
            if isinstance(parent, cst.FunctionDef) and child is not parent.name and child not in parent.decorators:
                return parent
            child = parent
        return self.module

    def class_of(self, node: cst.CSTNode) -> cst.ClassDef | None:
        """The innermost class around the node."""
        return next((parent for parent in self.ancestors(node) if isinstance(parent, cst.ClassDef)), None)

    def statement(self, node: cst.CSTNode) -> cst.SimpleStatementLine | None:
        """The statement on a line of its own that holds the node; None where several share a line."""
        for parent in self.ancestors(node):
            if isinstance(parent, cst.SimpleStatementLine):
                return parent if len(parent.body) == 1 else None
        return None

    def names(self, scope: Scope) -> dict[str, list[cst.Name]]:
        """All names inside a scope, nested functions included; attributes and keywords are no names."""
        return _names(self, scope)

    def reads(self, scope: Scope, name: str) -> list[cst.Name]:
        """Where a name is used and not bound."""
        return [node for node in self.names(scope).get(name, ()) if self._binder(node) is None]

    def bindings(self, scope: Scope, name: str) -> list[Binding]:
        """Where a scope itself binds a name, in any way."""
        found = []
        for node in self.names(scope).get(name, ()):
            binder = self._binder(node)
            if binder is not None and self._owner(node, binder) is scope:
                found.append(self._binding(node, binder))
        return found

    def line(self, node: cst.CSTNode) -> int:
        """The line of the node's first token, from 1."""
        return _positions(self.module)[node].start.line

    def _owner(self, node: cst.Name, binder: cst.CSTNode) -> Scope:
        inside = self.parents[binder] if isinstance(binder, cst.FunctionDef | cst.ClassDef) else node
        if isinstance(binder, cst.FunctionDef | cst.ClassDef) and isinstance(inside, cst.FunctionDef):
            return inside
        return self.scope(inside)

    def _binder(self, node: cst.Name) -> cst.CSTNode | None:
        child: cst.CSTNode = node
        parent = self.parents[child]
        while isinstance(parent, _HOLDERS):
            child, parent = parent, self.parents[parent]
        if isinstance(parent, _BINDERS):
            bound = {"default", "annotation"} if isinstance(parent, cst.Param) else {"decorators", "returns"}
            return None if any(child is getattr(parent, field, None) for field in bound) else parent
        return parent if isinstance(parent, _TARGETS) and child is parent.target else None

    def _binding(self, node: cst.Name, binder: cst.CSTNode) -> Binding:
        statement = self.statement(node)
        assign = self.parents.get(binder)
        if isinstance(binder, cst.AssignTarget) and binder.target is node and isinstance(assign, cst.Assign):
            return Binding(node, statement, assign.value if len(assign.targets) == 1 else None)
        if isinstance(binder, cst.AnnAssign):
            return Binding(node, statement, binder.value)
        return Binding(node, statement, None, self._unpacked(node, assign))

    def _unpacked(self, node: cst.Name, assign: cst.CSTNode | None) -> tuple[cst.BaseExpression, int] | None:
        if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
            return None
        target = assign.targets[0].target
        if not isinstance(target, cst.Tuple | cst.List) or any(
            isinstance(e, cst.StarredElement) for e in target.elements
        ):
            return None
        return next(((assign.value, i) for i, item in enumerate(target.elements) if item.value is node), None)


@lru_cache(maxsize=1024)
def tree_of(module: cst.Module) -> FileTree:
    """The tree of a parsed file, built once."""
    return FileTree(module)


@lru_cache(maxsize=4096)
def _names(tree: FileTree, scope: Scope) -> dict[str, list[cst.Name]]:
    found: dict[str, list[cst.Name]] = {}
    pending: list[cst.CSTNode] = [scope]
    while pending:
        node = pending.pop()
        children = [child for child in node.children if tree.parents.get(child) is node]
        pending.extend(reversed(children))
        if isinstance(node, cst.Name) and not _is_label(tree.parents.get(node), node):
            found.setdefault(node.value, []).append(node)
    return found


def _is_label(parent: cst.CSTNode | None, node: cst.Name) -> bool:
    if isinstance(parent, cst.Attribute):
        return parent.attr is node
    return isinstance(parent, cst.Arg) and parent.keyword is node


@lru_cache(maxsize=16)
def _positions(module: cst.Module) -> dict[cst.CSTNode, cst.metadata.CodeRange]:
    wrapper = MetadataWrapper(module, unsafe_skip_copy=True)
    return dict(wrapper.resolve(PositionProvider))
