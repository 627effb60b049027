"""Scopes of names, as Python has them: module, class, function, comprehension.

A name assigned anywhere in a function is local all over it, so it hides a global of the same name even before the
assignment; class bodies are seen by nothing below them.
"""

from __future__ import annotations

import builtins
from typing import TYPE_CHECKING, Literal

from migrator.facts import Definition
from migrator.resolve.exports import EXPORTS
from migrator.resolve.values import UNBOUND, UNKNOWN, Api, External, Value, join
from migrator.tree import children

if TYPE_CHECKING:
    import libcst as cst

BUILTINS = frozenset(dir(builtins))
Sort = Literal["module", "class", "function", "comprehension"]


class Scope:
    """One scope and the values its names hold at the point that is being read."""

    def __init__(self, sort: Sort, file: str, name: str = "", parent: Scope | None = None) -> None:
        self.sort = sort
        self.file = file
        self.name = name
        self.parent = parent
        self.names: dict[str, Value] = {}
        self.locals: frozenset[str] = frozenset()
        self.parameters: frozenset[str] = frozenset()
        self.origins: dict[str, Definition] = {}  # names imported from the project -> where they are defined
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self.stars: list[str] = []  # modules of other libraries whose names all came in, last one last

    @property
    def module(self) -> Scope:
        """The module scope above."""
        scope = self
        while scope.parent is not None:
            scope = scope.parent
        return scope

    def home(self, name: str) -> Scope:
        """The scope in which `name`, read or written here, lives."""
        scope: Scope | None = self
        first = True
        while scope is not None and scope.parent is not None:
            if name in scope.globals:
                return scope.module
            sees = first or scope.sort != "class"
            if sees and name not in scope.nonlocals and (name in scope.names or name in scope.locals):
                return scope
            first = first and scope.sort == "comprehension"
            scope = scope.parent
        return self.module

    def get(self, name: str) -> Value:
        """What `name` stands for here."""
        home = self.home(name)
        if name in home.names:
            return home.names[name]
        return UNBOUND if home.sort != "module" else home.outside(name)

    def outside(self, name: str) -> Value:
        """A name this module does not bind itself: from a star import, or built in."""
        undecided = False
        for module in reversed(self.stars):
            exported = EXPORTS.get(module.removeprefix("tf.keras."))
            if exported is None:
                undecided = True
            elif name in exported:
                return Api(f"{module}.{name}")
        if name in BUILTINS:
            return External(f"builtins.{name}")
        if undecided and len(self.stars) == 1 and self.stars[0].startswith("tf") and name[:1] != "_":
            return Api(f"{self.stars[0]}.{name}")
        return UNKNOWN if self.stars else UNBOUND

    def set(self, name: str, value: Value) -> None:
        """Binds `name` where an assignment here would; from afar (`global`) both old and new value stay possible."""
        scope = self
        while scope.sort == "comprehension" and name not in scope.locals and scope.parent is not None:
            scope = scope.parent
        if name in scope.globals or name in scope.nonlocals:
            home = scope.home(name)
            home.names[name] = join(home.names.get(name, UNBOUND), value)
        else:
            scope.names[name] = value


def merge(before: dict[str, Value], after: dict[str, Value]) -> dict[str, Value]:
    """The names of a scope where either of two paths may have been taken."""
    if before == after:
        return before
    return {name: join(before.get(name, UNBOUND), after.get(name, UNBOUND)) for name in {**before, **after}}


class Bound:
    """Names that a function's body binds, and those it declares global or nonlocal."""

    def __init__(self, body: cst.CSTNode) -> None:
        self.names: set[str] = set()
        self.globals: set[str] = set()
        self.nonlocals: set[str] = set()
        self._read(body)
        self.names -= self.globals | self.nonlocals

    def _read(self, node: cst.CSTNode) -> None:
        waiting = [node]
        while waiting:
            current = waiting.pop()
            sort = type(current).__name__
            if sort in ("FunctionDef", "ClassDef"):
                self.names.add(current.name.value)  # type: ignore[attr-defined]
                continue
            handler = getattr(self, f"_{sort}", None)
            if handler is not None:
                handler(current)
            if sort not in OPAQUE:
                waiting.extend(children(current))

    def _target(self, node: cst.CSTNode) -> None:
        sort = type(node).__name__
        if sort == "Name":
            self.names.add(node.value)  # type: ignore[attr-defined]
        elif sort in ("Tuple", "List"):
            for item in node.elements:  # type: ignore[attr-defined]
                self._target(item.value)

    def _AssignTarget(self, node: cst.AssignTarget) -> None:
        self._target(node.target)

    def _AnnAssign(self, node: cst.AnnAssign) -> None:
        self._target(node.target)

    _AugAssign = _For = _NamedExpr = _AnnAssign

    def _AsName(self, node: cst.AsName) -> None:
        self._target(node.name)

    def _Import(self, node: cst.Import) -> None:
        for alias in node.names:
            if alias.asname is None:
                self.names.add(dotted(alias.name).partition(".")[0])

    def _ImportFrom(self, node: cst.ImportFrom) -> None:
        if not isinstance(node.names, (list, tuple)):
            return
        for alias in node.names:
            if alias.asname is None:
                self.names.add(dotted(alias.name))

    def _Global(self, node: cst.Global) -> None:
        self.globals.update(item.name.value for item in node.names)

    def _Nonlocal(self, node: cst.Nonlocal) -> None:
        self.nonlocals.update(item.name.value for item in node.names)

    def _MatchAs(self, node: cst.MatchAs) -> None:
        if node.name is not None:
            self._target(node.name)


OPAQUE = frozenset(("Lambda", "Name", "Attribute", "SimpleString", "Integer", "Float", "Comment"))


def dotted(node: cst.CSTNode) -> str:
    """`a.b.c` of a Name or an Attribute chain; empty for anything else."""
    sort = type(node).__name__
    if sort == "Name":
        return str(node.value)  # type: ignore[attr-defined]
    if sort == "Attribute":
        before = dotted(node.value)  # type: ignore[attr-defined]
        return f"{before}.{node.attr.value}" if before else ""  # type: ignore[attr-defined]
    return ""
