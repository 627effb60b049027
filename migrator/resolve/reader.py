"""Reading the statements of one file, in order, with branches joined and function bodies left for when all is known."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import libcst as cst

from migrator.facts import Source, Use
from migrator.resolve import knowledge
from migrator.resolve.chains import Role
from migrator.resolve.imports import Imports
from migrator.resolve.scopes import Scope, merge
from migrator.resolve.values import (
    UNBOUND,
    UNKNOWN,
    External,
    Instance,
    Items,
    Many,
    Value,
    bounded,
    element,
    join,
)
from migrator.tree import children

if TYPE_CHECKING:
    from migrator.resolve.world import World


class Reader(Imports):
    """Reads one file. The world lends it everything that crosses files and remembers what it finds out."""

    def __init__(self, world: World, source: Source) -> None:
        super().__init__()
        self.world = world
        self.source = source
        self.path = source.path
        self.scope = Scope("module", source.path)
        self.returned: Value = UNBOUND
        self.loops = 0

    def read_module(self) -> None:
        """Reads the top level of the file into a fresh scope."""
        self.scope = self.world.scopes[self.path] = Scope("module", self.path)
        self.owner, self.returned, self.loops = None, UNBOUND, 0
        self._body(self.source.module.body)

    def _body(self, statements: Any) -> None:
        for statement in statements:
            self.value(statement)

    def _block(self, node: Any, use: Use) -> Value:
        self._body(node.body)
        return UNKNOWN

    _IndentedBlock = _SimpleStatementLine = _SimpleStatementSuite = _block

    # ------------------------------------------------------------ assignments

    def _Assign(self, node: cst.Assign, use: Use) -> Value:
        value = self.value(node.value)
        for target in node.targets:
            self.assign(target.target, value)
        return UNKNOWN

    def _AnnAssign(self, node: cst.AnnAssign, use: Use) -> Value:
        declared = self.world.declared(self.value(node.annotation))
        value = self.value(node.value) if node.value is not None else UNBOUND
        if node.value is not None or declared != UNKNOWN:
            self.assign(node.target, declared if value in (UNKNOWN, UNBOUND) else value)
        return UNKNOWN

    def _AugAssign(self, node: cst.AugAssign, use: Use) -> Value:
        old, added = self.value(node.target), self.value(node.value)
        if isinstance(old, (Items, Many)):
            old = bounded(Many(join(element(old) if old != Items(()) else UNBOUND, element(added))))
        elif isinstance(added, Instance) and added.kind in (knowledge.TENSOR, knowledge.VARIABLE):
            old = Instance(knowledge.TENSOR)
        self.rebind(node.target, old)
        return UNKNOWN

    def assign(self, target: cst.CSTNode, value: Value) -> None:
        """Binds what stands on the left of an assignment, a loop or a `with`."""
        if isinstance(target, cst.Name):
            self.scope.set(target.value, value)
            self._define(target)
        elif isinstance(target, (cst.Tuple, cst.List)):
            self._unpack(target, value)
        elif isinstance(target, cst.StarredElement):
            self.assign(target.value, Many(value))
        elif isinstance(target, cst.Attribute):
            self.value(target)
            self.rebind(target, value)
        else:
            self.value(target)

    def _define(self, target: cst.Name) -> None:
        if self.scope.sort == "module":
            definition = self.world.definition(self.path, target.value)
            if definition is not None:
                self.definitions[target] = definition

    def _unpack(self, target: cst.Tuple | cst.List, value: Value) -> None:
        items = target.elements
        exact = isinstance(value, Items) and len(value.values) == len(items)
        exact = exact and not any(isinstance(item, cst.StarredElement) for item in items)
        for position, item in enumerate(items):
            part = value.values[position] if exact and isinstance(value, Items) else self.iterate(value)
            self.assign(item if isinstance(item, cst.StarredElement) else item.value, part)

    def _Del(self, node: cst.Del, use: Use) -> Value:
        self.value(node.target)
        if isinstance(node.target, cst.Name):
            self.scope.set(node.target.value, UNBOUND)
        return UNKNOWN

    def _Return(self, node: cst.Return, use: Use) -> Value:
        value = self.value(node.value) if node.value is not None else UNBOUND
        self.returned = bounded(join(self.returned, value))
        return UNKNOWN

    def _Yield(self, node: cst.Yield, use: Use) -> Value:
        value = self.value(node.value) if node.value is not None else UNKNOWN
        if isinstance(node.value, cst.From):
            value = element(value)
        self.returned = bounded(join(self.returned, Many(value)))
        return UNKNOWN

    # ------------------------------------------------------------ control flow

    def _If(self, node: cst.If, use: Use) -> Value:
        self.condition(node.test)
        scope, before = self.scope, self.scope.names
        scope.names = dict(before)
        self.value(node.body)
        after, scope.names = scope.names, dict(before)
        if node.orelse is not None:
            self.value(node.orelse)
        scope.names = merge(after, scope.names) if not _leaves(node.body) else scope.names
        if node.orelse is not None and isinstance(node.orelse, cst.Else) and _leaves(node.orelse.body):
            scope.names = after
        return UNKNOWN

    def _For(self, node: cst.For, use: Use) -> Value:
        iterated = self.value(node.iter)
        self._loop(node, lambda: self.assign(node.target, self.iterate(iterated)))
        return UNKNOWN

    def _While(self, node: cst.While, use: Use) -> Value:
        self._loop(node, lambda: self.condition(node.test))
        return UNKNOWN

    def _loop(self, node: cst.For | cst.While, enter: Callable[[], object]) -> None:
        """The body is read twice where the first reading changed what names hold at its start."""
        scope, before = self.scope, self.scope.names
        self.loops += 1
        for _ in range(2 if self.loops <= 3 else 1):
            start = scope.names
            scope.names = dict(start)
            enter()
            self.value(node.body)
            scope.names = merge(before, scope.names)
            if scope.names == start:
                break
        self.loops -= 1
        if node.orelse is not None:
            self.value(node.orelse)

    def _Try(self, node: cst.Try | cst.TryStar, use: Use) -> Value:
        scope, before = self.scope, self.scope.names
        scope.names = dict(before)
        self.value(node.body)
        if node.orelse is not None:
            self.value(node.orelse)
        joined = scope.names
        for handler in node.handlers:
            scope.names = dict(before)
            if handler.type is not None:
                self.value(handler.type)
            if handler.name is not None and isinstance(handler.name.name, cst.Name):
                scope.set(handler.name.name.value, External("builtins.Exception"))
            self.value(handler.body)
            joined = joined if _leaves(handler.body) else merge(joined, scope.names)
        scope.names = joined
        if node.finalbody is not None:
            self.value(node.finalbody)
        return UNKNOWN

    _TryStar = _Try

    def _With(self, node: cst.With, use: Use) -> Value:
        for item in node.items:
            value = self._marking("with", "", item.item)
            if item.asname is not None:
                self.assign(item.asname.name, value)
        self.value(node.body)
        return UNKNOWN

    def _Match(self, node: cst.Match, use: Use) -> Value:
        self.value(node.subject)
        scope, before = self.scope, self.scope.names
        joined = before
        for case in node.cases:
            scope.names = dict(before)
            self.value(case)
            joined = merge(joined, scope.names)
        scope.names = joined
        return UNKNOWN

    def _MatchAs(self, node: cst.MatchAs, use: Use) -> Value:
        if node.pattern is not None:
            self.value(node.pattern)
        if node.name is not None:
            self.scope.set(node.name.value, UNKNOWN)
        return UNKNOWN

    # ------------------------------------------------------------ definitions

    def _FunctionDef(self, node: cst.FunctionDef, use: Use) -> Value:
        function = self.world.function(self, node, f"{self.scope.name}.{node.name.value}".strip("."))
        self._decorate(node, function)
        self.scope.set(node.name.value, function)
        self.definitions[node.name] = function.definition
        return UNKNOWN

    def _decorate(self, node: cst.FunctionDef, function: Any) -> None:
        names = []
        for decorator in node.decorators:
            value = self._marking("decorator", function.definition.name, decorator.decorator)
            names.append(value.name.rpartition(".")[2] if isinstance(value, External) else "")
        function.decorators = tuple(names)
        if node.returns is not None:
            function.declared = self.world.declared(self.value(node.returns))

    def _marking(self, role: Role, name: str, node: cst.BaseExpression) -> Value:
        """Reads an expression that marks a definition or opens a block."""
        kept = self.role, self.marked
        self.role, self.marked = role, name
        try:
            return self.value(node)
        finally:
            self.role, self.marked = kept

    def _ClassDef(self, node: cst.ClassDef, use: Use) -> Value:
        name = f"{self.scope.name}.{node.name.value}".strip(".")
        for decorator in node.decorators:
            self._marking("decorator", name, decorator.decorator)
        bases = tuple(self._marking("base", name, base.value) for base in node.bases)
        for keyword in node.keywords:
            self.value(keyword.value)
        cls = self.world.cls(self, node, bases)
        outer, outer_owner = self.scope, self.owner
        self.scope = Scope("class", self.path, cls.definition.name, outer)
        self.owner = cls
        self.value(node.body)
        cls.names = self.scope.names
        self.scope, self.owner = outer, outer_owner
        self.scope.set(node.name.value, cls)
        self.definitions[node.name] = cls.definition
        return UNKNOWN


def _leaves(body: cst.CSTNode) -> bool:
    """Whether a block surely ends in return, raise, continue or break, so that nothing after it sees its names."""
    statements = list(children(body))
    if not statements:
        return False
    last = statements[-1]
    if isinstance(last, cst.SimpleStatementLine) and last.body:
        last = last.body[-1]
    return isinstance(last, (cst.Return, cst.Raise, cst.Continue, cst.Break))
