"""Reading expressions that are more than a chain of names: literals, operators, containers, comprehensions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import libcst as cst

from migrator.facts import Use
from migrator.resolve import knowledge
from migrator.resolve.chains import TENSORS, Chains
from migrator.resolve.scopes import Bound, Scope
from migrator.resolve.values import (
    FOREIGN,
    PLAIN,
    UNBOUND,
    UNKNOWN,
    Instance,
    Items,
    Many,
    Table,
    Value,
    bounded,
    element,
    join,
)
from migrator.tree import children

if TYPE_CHECKING:
    pass


class Expressions(Chains):
    """The part of a Reader that reads expressions."""

    # ------------------------------------------------------------ values

    def _constant(self, node: cst.CSTNode, use: Use) -> Value:
        return PLAIN

    _Integer = _Float = _Imaginary = _SimpleString = _ConcatenatedString = _constant

    def _FormattedString(self, node: cst.FormattedString, use: Use) -> Value:
        for part in children(node):
            self.value(part)
        return PLAIN

    def _Tuple(self, node: cst.Tuple | cst.List | cst.Set, use: Use) -> Value:
        values = [self.value(item.value) for item in node.elements]
        if any(isinstance(item, cst.StarredElement) for item in node.elements):
            return bounded(Many(element(Items(tuple(values)))))
        return bounded(Items(tuple(values)))

    _List = _Set = _Tuple

    def _Dict(self, node: cst.Dict, use: Use) -> Value:
        joined: Value = UNBOUND
        for item in node.elements:
            if isinstance(item, cst.DictElement):
                self.value(item.key)
            joined = join(joined, self.value(item.value))
        return Table(joined) if isinstance(joined, Instance) else UNKNOWN

    def _Subscript(self, node: cst.Subscript, use: Use) -> Value:
        base = self.value(node.value)
        for part in node.slice:
            self.value(part.slice)
        if base in TENSORS or base == FOREIGN:
            return TENSORS[0] if base != FOREIGN else FOREIGN
        index = node.slice[0].slice if len(node.slice) == 1 else None
        if isinstance(base, (Items, Many)) and isinstance(index, cst.Slice):
            return Many(element(base))
        if isinstance(base, Items) and isinstance(index, cst.Index):
            position = _integer(index.value)
            if position is not None and -len(base.values) <= position < len(base.values):
                return base.values[position]
        if isinstance(base, Table):
            return base.element
        return element(base)

    def _BinaryOperation(self, node: cst.CSTNode, use: Use) -> Value:
        values = [self.value(child) for child in children(node) if isinstance(child, cst.BaseExpression)]
        if any(value in TENSORS for value in values):
            return TENSORS[0]
        if all(isinstance(value, (Items, Many)) for value in values):
            return bounded(Many(element(Items(tuple(element(value) for value in values)))))
        if all(value in (PLAIN, FOREIGN) for value in values):
            return FOREIGN if FOREIGN in values else PLAIN
        return UNKNOWN

    _UnaryOperation = _BinaryOperation

    def _Comparison(self, node: cst.Comparison, use: Use) -> Value:
        left = self.value(node.left)
        rights = [self.value(target.comparator) for target in node.comparisons]
        identity = any(isinstance(t.operator, (cst.Is, cst.IsNot, cst.In, cst.NotIn)) for t in node.comparisons)
        return TENSORS[0] if not identity and any(v in TENSORS for v in (left, *rights)) else PLAIN

    def _BooleanOperation(self, node: cst.BooleanOperation, use: Use) -> Value:
        return join(self.value(node.left), self.value(node.right))

    def _IfExp(self, node: cst.IfExp, use: Use) -> Value:
        self.condition(node.test)
        return join(self.value(node.body), self.value(node.orelse))

    def _NamedExpr(self, node: cst.NamedExpr, use: Use) -> Value:
        value = self.value(node.value)
        if isinstance(node.target, cst.Name):
            self.scope.set(node.target.value, value)
        return value

    def _Lambda(self, node: cst.Lambda, use: Use) -> Value:
        return self.world.function(self, node, f"{self.scope.name}.<lambda>".strip("."))

    def _Annotation(self, node: cst.Annotation, use: Use) -> Value:
        return self.value(node.annotation)

    # ------------------------------------------------------------ comprehensions

    def _comprehension(self, node: Any, use: Use) -> Value:
        outer = self.scope
        self.scope = Scope("comprehension", outer.file, outer.name, outer)
        try:
            self._for_in(node.for_in)
            if isinstance(node, cst.DictComp):
                self.value(node.key)
                made = self.value(node.value)
                return Table(made) if isinstance(made, Instance) else UNKNOWN
            return bounded(Many(self.value(node.elt)))
        finally:
            self.scope = outer

    _ListComp = _GeneratorExp = _SetComp = _DictComp = _comprehension

    def _for_in(self, node: cst.CompFor) -> None:
        value = self.value(node.iter)
        bound = Bound(cst.AssignTarget(node.target))
        self.scope.locals = self.scope.locals | bound.names
        self.assign(node.target, self.iterate(value))
        for condition in node.ifs:
            self.value(condition.test)
        if node.inner_for_in is not None:
            self._for_in(node.inner_for_in)

    # ------------------------------------------------------------ shared with statements

    def iterate(self, value: Value) -> Value:
        """What a loop over `value` gives each time."""
        if value in TENSORS or value == Instance(knowledge.DATASET):
            return TENSORS[0]
        return element(value)

    def assign(self, target: cst.CSTNode, value: Value) -> None:
        """Binds what stands on the left of an assignment."""
        raise NotImplementedError


def _integer(node: cst.BaseExpression) -> int | None:
    """The value of an integer literal, a minus in front allowed."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = _integer(node.expression)
        return None if inner is None else -inner
    return int(node.value, 0) if isinstance(node, cst.Integer) and not node.value.startswith("0_") else None
