"""Statements of a model-building function, one after another, into regions."""

from __future__ import annotations

import libcst as cst

from migrator.rewrite.arguments import code
from migrator.rewrite.models.assignments import Assignments
from migrator.rewrite.models.effects import mutates
from migrator.rewrite.models.ir import (
    Bundle,
    Config,
    Gather,
    Line,
    Refused,
    Region,
    Store,
    Tensor,
    Track,
    Value,
)
from migrator.rewrite.models.layer_call import NotConstant
from migrator.rewrite.models.names_used import binds
from migrator.rewrite.models.scope import Pending
from migrator.tree import children

_AUGMENTED: dict[type[cst.BaseAugOp], type[cst.Add] | type[cst.Subtract] | type[cst.Multiply]] = {
    cst.AddAssign: cst.Add,
    cst.SubtractAssign: cst.Subtract,
    cst.MultiplyAssign: cst.Multiply,
}
_HARMLESS_METHODS = {"set_shape", "shape", "get_shape"}


class Statements(Assignments):
    """Reads simple statements; compound ones are in `joins`."""

    def block(self, body: list[cst.BaseStatement]) -> list[Region]:
        """A sequence of statements."""
        regions: list[Region] = []
        for statement in body:
            regions += self.statement(statement)
        return regions

    def statement(self, node: cst.BaseStatement) -> list[Region]:
        """One statement."""
        if isinstance(node, cst.SimpleStatementLine):
            return self._simple(node)
        return self.compound(node)

    def has_work(self, node: cst.CSTNode) -> bool:
        """Whether anything below makes or applies a layer, or touches a tensor other than by its static shape."""
        if isinstance(node, (cst.Return, cst.Break, cst.Continue)):
            return True
        if isinstance(node, cst.BaseExpression):
            if self.shape(node) is not None or (isinstance(node, cst.Subscript) and self._is_dimension(node)):
                return False
            if isinstance(node, cst.Name):
                value = self.scope.values.get(node.value)
                return isinstance(value, (Tensor, Bundle, Pending)) and not getattr(value, "optional", False)
            if isinstance(node, cst.Call):
                func = node.func
                if isinstance(func, cst.Name) and func.value == "len":
                    return False
                if self.names.is_layer(func) or self.names.is_merge(func) or self.helper(node) is not None:
                    return True
        return any(self.has_work(child) for child in children(node))

    def _is_dimension(self, node: cst.Subscript) -> bool:
        return self.shape(node.value) is not None

    # ------------------------------------------------------------ simple statements

    def _simple(self, node: cst.SimpleStatementLine) -> list[Region]:
        if len(node.body) > 1:
            parts = [node.with_changes(body=[small], leading_lines=()) for small in node.body]
            return [region for part in parts for region in self._simple(part)]
        small = node.body[0]
        self.line = Line(node)
        if isinstance(small, cst.Return):
            return self.returned(small)
        if isinstance(small, cst.Assign):
            return self._assign(small, node)
        if isinstance(small, cst.AnnAssign) and small.value is not None and self.has_work(small.value):
            target = cst.Assign(targets=[cst.AssignTarget(small.target)], value=small.value)
            return self._assign(target, node)
        if isinstance(small, cst.AugAssign) and (self.has_work(small.target) or self.has_work(small.value)):
            return self._augmented(small)
        if isinstance(small, cst.Expr) and isinstance(small.value, cst.Call) and self.has_work(small.value):
            return self._effect(small.value)
        if isinstance(small, (cst.Break, cst.Continue)):
            raise Refused("`break` and `continue` around layers are not handled yet", node)
        if self.has_work(small):
            raise Refused(f"`{code(small)}` is no tensor work that is understood", node)
        return [self.config(node)]

    def returned(self, node: cst.Return) -> list[Region]:
        """A helper's `return`."""
        if node.value is None:
            raise Refused("a helper returns without a tensor", node)
        work = self.work(node.value)
        several = isinstance(work, Gather) or isinstance(node.value, cst.Call)
        values: list[Value] = [work.value]
        if isinstance(work.value, Bundle) and several:
            values = list(work.value.items or ())
        if not values:
            raise Refused("a list of tensors is returned, which is not handled yet", node)
        self.line.work, self.line.returned = work, True
        self.results.append(values)
        self.hand_on(values)
        return [self.line]

    def hand_on(self, values: list[Value]) -> None:
        """Stores what callers asked for: `self.out_channels`, `self.out_size`."""
        if self.key("out_channels") in self.facts.demands:
            sizes = [self.current(value.channels) if isinstance(value, Tensor) else None for value in values]
            if any(size is None for size in sizes):
                raise Refused("the number of channels that a helper returns cannot be derived", self.line.node)
            self.line.events.append(Store("out_channels", _tuple([size.expr for size in sizes if size])))
        if self.key("out_size") in self.facts.demands:
            pairs: list[cst.BaseExpression] = []
            for value in values:
                spatial = [self.current(axis) for axis in (value.spatial or ())] if isinstance(value, Tensor) else []
                if not spatial or any(axis is None for axis in spatial):
                    raise Refused("the height and width that a helper returns cannot be derived", self.line.node)
                pairs.append(cst.Tuple([cst.Element(axis.expr) for axis in spatial if axis is not None]))
            self.line.events.append(Store("out_size", _tuple(pairs)))

    def config(self, node: cst.BaseStatement) -> Line:
        """A statement of construction alone."""
        line = self.line = Line(node)
        names, changed = binds(node), mutates(node)
        before = dict(self.scope.versions)
        known = self.known_value(node)
        event = Config(self.construct_statement(node), node, frozenset(names), not changed and _is_pure(node))
        line.events.append(event)
        for name in names | changed:
            if name in names:
                self.scope.values.pop(name, None)
            version = self.numbers.bump(self.scope, name)
            self.numbers.bound[(name, version)] = (line, event, before)
            if name in changed:
                self.numbers.mutations[name] = version
            elif known is not None:
                self.numbers.constants[(name, version)] = known
        return line

    def known_value(self, node: cst.BaseStatement) -> cst.BaseExpression | None:
        """What `name = …` binds, where the source settles it."""
        small = node.body[0] if isinstance(node, cst.SimpleStatementLine) and len(node.body) == 1 else None
        if not isinstance(small, cst.Assign) or [type(item.target) for item in small.targets] != [cst.Name]:
            return None
        known = self.constant(small.value)
        return None if isinstance(known, NotConstant) else cst.parse_expression(repr(known))

    def _augmented(self, small: cst.AugAssign) -> list[Region]:
        operator = _AUGMENTED.get(type(small.operator))
        if operator is None or not isinstance(small.target, cst.Name):
            raise Refused(f"`{code(small)}` is not handled on tensors yet", small)
        held = self.scope.values.get(small.target.value)
        if isinstance(held, Bundle):
            if isinstance(small.value, cst.List) and len(small.value.elements) == 1:
                return self.append(small.target.value, held, small.value.elements[0].value)
            raise Refused(f"`{code(small)}` is not handled on lists of tensors yet", small)
        value = cst.BinaryOperation(left=small.target, operator=operator(), right=small.value)
        return self._bind([small.target], self.work(value))

    def _effect(self, call: cst.Call) -> list[Region]:
        func = call.func
        if isinstance(func, cst.Attribute) and isinstance(func.value, cst.Name):
            held = self.scope.values.get(func.value.value)
            if isinstance(held, Bundle) and func.attr.value == "append" and len(call.args) == 1:
                return self.append(func.value.value, held, call.args[0].value)
            if isinstance(held, Tensor) and func.attr.value in _HARMLESS_METHODS:
                return []
        raise Refused(f"`{code(call)}` is no tensor work that is understood", call)

    def append(self, name: str, bundle: Bundle, value: cst.BaseExpression) -> list[Region]:
        """`skips.append(x)`: in `__init__` the list of channels grows with it."""
        work = self.work(value)
        tensor = work.value
        if not isinstance(tensor, Tensor):
            raise Refused("a list is appended to a list of tensors", value)
        first = bundle.items == () or bundle.element.rank is None
        if first and bundle.element.like is None:
            bundle.element.rank, bundle.element.like = tensor.rank, tensor
        if bundle.element.rank != tensor.rank and None not in (bundle.element.rank, tensor.rank):
            raise Refused("tensors of different ranks are collected in one list", value)
        size = self.current(tensor.channels)
        if size is None or bundle.twin is None:
            bundle.twin = None
        else:
            self.line.events.append(Track(self.running(name), size.expr, append=True))
            self.numbers.bump(self.scope, self.running(name))
        known = bundle.items is not None and not self.loops
        new = Bundle(
            bundle.element, (*bundle.items, tensor) if known and bundle.items is not None else None, bundle.twin
        )
        self.scope.values[name] = new
        self.line.targets, self.line.work, self.line.append = (name,), work, True
        self.line.value = bundle
        return [self.line]


def _tuple(items: list[cst.BaseExpression]) -> cst.BaseExpression:
    return items[0] if len(items) == 1 else cst.Tuple([cst.Element(item) for item in items])


def _is_pure(node: cst.BaseStatement) -> bool:
    """Whether leaving the statement out changes nothing once nobody reads what it binds."""
    if not isinstance(node, cst.SimpleStatementLine):
        return False
    return all(isinstance(small, (cst.Assign, cst.AnnAssign)) and not _calls(small) for small in node.body)


def _calls(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.Call):
        harmless = isinstance(node.func, cst.Name) and node.func.value in (
            "str",
            "int",
            "len",
            "float",
            "bool",
            "max",
            "min",
        )
        formatted = isinstance(node.func, cst.Attribute) and node.func.attr.value in (
            "format",
            "join",
            "lower",
            "upper",
        )
        if not harmless and not formatted:
            return True
    return any(_calls(child) for child in children(node))
