"""Reading expressions: every name and attribute chain is looked up once, in the order Python would evaluate it.

What a chain denotes is recorded at its longest part that is TensorFlow's or the project's own, by the node itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import libcst as cst

from migrator.facts import Definition, Use
from migrator.resolve import knowledge
from migrator.resolve.canonical import normal
from migrator.resolve.scopes import Bound, Scope, children
from migrator.resolve.values import (
    FOREIGN,
    PLAIN,
    UNBOUND,
    UNKNOWN,
    Api,
    Class,
    External,
    Function,
    Instance,
    Items,
    Many,
    Member,
    Method,
    Module,
    Nothing,
    OneOf,
    Partial,
    Table,
    Value,
    bounded,
    element,
    join,
)

if TYPE_CHECKING:
    from migrator.resolve.world import World

TENSORS = (Instance(knowledge.TENSOR), Instance(knowledge.VARIABLE))


Role = Literal["", "base", "decorator", "test", "with"]


@dataclass
class Found:
    """A use of an API as it is recorded: what, how, inside which definition, and the whole call around it."""

    api: str
    use: Use
    within: str
    role: Role
    site: cst.Call | None = None


class Expressions:
    """The half of a Reader that reads expressions. `apis`, `uses`, `definitions`, `undecided` collect what is found."""

    world: World
    path: str
    scope: Scope

    def __init__(self) -> None:
        self.uses: dict[cst.CSTNode, Found] = {}
        self.tests: dict[cst.CSTNode, str] = {}  # conditions that are tensors -> the function around them
        self.role: Role = ""
        self.marked = ""  # the class or function that a base class or decorator being read belongs to
        self.definitions: dict[cst.CSTNode, Definition] = {}
        self.undecided: dict[cst.CSTNode, str] = {}
        self._handlers: dict[type, Callable[..., Value] | None] = {}

    def value(self, node: cst.CSTNode, use: Use = "reference") -> Value:
        """Reads an expression; `use` says what the place around it does with it."""
        sort = type(node)
        if sort not in self._handlers:
            self._handlers[sort] = getattr(self, f"_{sort.__name__}", None)
        handler = self._handlers[sort]
        if handler is not None:
            return handler(node, use)
        for child in children(node):
            self.value(child)
        return UNKNOWN

    # ------------------------------------------------------------ chains

    def _Name(self, node: cst.Name, use: Use) -> Value:
        return self._whole_chain(node, use)

    def _Attribute(self, node: cst.Attribute, use: Use) -> Value:
        return self._whole_chain(node, use)

    def _whole_chain(self, node: cst.Name | cst.Attribute, use: Use) -> Value:
        value, found = self._chain(node)
        if found is not None:
            place, name, is_member = found
            whole: Use = use if place is node else "reference"
            self.found(place, name, "method" if is_member and whole == "call" else whole)
        elif isinstance(value, OneOf):
            self.undecided[node] = "may be " + " or ".join(value.names[:3])
        elif isinstance(node, cst.Attribute) and node.attr.value in knowledge.TELLING:
            self._telling(node, value, use)
        return value

    def found(self, node: cst.CSTNode, api: str, use: Use) -> None:
        """Records a use of a TensorFlow API."""
        self.uses[node] = Found(api, use, self.marked or self.scope.name, self.role)

    def condition(self, node: cst.BaseExpression) -> None:
        """Reads the test of an `if` or `while`; one that is a tensor is remembered."""
        self.tests.pop(node, None)
        outer, self.role = self.role, "test"
        value = self.value(node)
        self.role = outer
        if value in TENSORS:
            self.tests[node] = self.scope.name

    def _telling(self, node: cst.Attribute, value: Value, use: Use) -> None:
        called = use == "call" or "trainable" in node.attr.value
        if called and value in (UNKNOWN, UNBOUND) and self._receiver not in (FOREIGN, PLAIN):
            self.undecided[node] = f"cannot tell what {self.text(node.value)!r} is"

    def _chain(self, node: cst.CSTNode) -> tuple[Value, tuple[cst.CSTNode, str, bool] | None]:
        """The value of a chain, and its longest TensorFlow part: node, canonical name, whether it is a member."""
        if isinstance(node, cst.Name):
            self._forget(node)
            value = self._lookup(node)
            return value, (node, value.name, isinstance(value, Member)) if isinstance(value, (Api, Member)) else None
        if not isinstance(node, cst.Attribute):
            return self.value(node), None
        base, found = self._chain(node.value)
        self._forget(node)
        value, name = self.attribute(base, node.attr.value)
        self._receiver = base
        self._denote_attribute(node, base, value)
        if name is not None:
            found = (node, name, not isinstance(value, Api))
        return value, found

    def _forget(self, node: cst.CSTNode) -> None:
        """A loop body or a function is read again once more is known: the last reading counts."""
        self.uses.pop(node, None)
        self.undecided.pop(node, None)
        self.definitions.pop(node, None)

    def _lookup(self, node: cst.Name) -> Value:
        name = node.value
        value = self.scope.get(name)
        if isinstance(value, External) and value.name in ("builtins.None", "builtins.True", "builtins.False"):
            return PLAIN
        home = self.scope.home(name)
        if home.sort == "module":
            definition = self.world.definition(self.path, name)
            if definition is not None:
                self.definitions[node] = definition
        elif isinstance(value, (Function, Class)) and name not in home.parameters:
            self.definitions[node] = value.definition
        return value

    def _denote_attribute(self, node: cst.Attribute, base: Value, value: Value) -> None:
        definition: Definition | None = None
        if isinstance(value, Method):
            definition = value.function.definition
        elif isinstance(value, (Function, Class)):
            definition = value.definition
        elif isinstance(base, Module):
            definition = self.world.definition(base.path, node.attr.value)
        if definition is not None:
            self.definitions[node] = definition

    def attribute(self, base: Value, name: str) -> tuple[Value, str | None]:
        """What `base.name` is, and its canonical name where it is TensorFlow's."""
        if isinstance(base, Api):
            longer = normal(f"{base.name}.{name}")
            return Api(longer), longer
        if isinstance(base, OneOf):
            return OneOf(tuple(f"{one}.{name}" for one in base.names)), None
        if isinstance(base, Module):
            value = self.world.member(base, name)
            return value, value.name if isinstance(value, (Api, Member)) else None
        if isinstance(base, External):
            return External(f"{base.name}.{name}"), None
        if isinstance(base, Class):
            return self._of_class(base, name)
        if isinstance(base, Instance):
            return self._of_instance(base, name)
        return (FOREIGN if base in (FOREIGN, PLAIN) else UNKNOWN), None

    def _of_class(self, cls: Class, name: str) -> tuple[Value, str | None]:
        value = cls.find(name)
        if value is not None:
            return value, value.name if isinstance(value, (Api, Member)) else None
        member = knowledge.member_of(cls.kind, name)
        return (Member(member, cls.kind), member) if member else (UNKNOWN, None)

    def _of_instance(self, base: Instance, name: str) -> tuple[Value, str | None]:
        value = base.cls.find(name) if base.cls is not None else None
        if isinstance(value, Function):
            if "property" in value.decorators:
                return self.world.run(value), None
            if "staticmethod" in value.decorators:
                return value, None
            return Method(value, base), None
        if value is not None:  # an attribute that holds an API is no name of the API: `self.act = tf.nn.relu`
            return value, value.name if isinstance(value, (Api, Member)) else None
        member = knowledge.member_of(base.kind, name)
        if member is None:
            return UNKNOWN, None
        if member in knowledge.READ:
            return knowledge.given_by(member, base.kind), member
        return Member(member, base.kind), member

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

    _receiver: Value = UNKNOWN

    def iterate(self, value: Value) -> Value:
        """What a loop over `value` gives each time."""
        if value in TENSORS or value == Instance(knowledge.DATASET):
            return TENSORS[0]
        return element(value)

    def assign(self, target: cst.CSTNode, value: Value) -> None:
        """Binds what stands on the left of an assignment."""
        raise NotImplementedError

    def text(self, node: cst.CSTNode) -> str:
        """The source text of a node, shortened to one line."""
        code = " ".join(cst.Module([]).code_for_node(node).split())
        return code if len(code) <= 60 else code[:57] + "..."


def _integer(node: cst.BaseExpression) -> int | None:
    """The value of an integer literal, a minus in front allowed."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = _integer(node.expression)
        return None if inner is None else -inner
    return int(node.value, 0) if isinstance(node, cst.Integer) and not node.value.startswith("0_") else None


__all__ = ["Expressions", "Nothing", "Partial"]
