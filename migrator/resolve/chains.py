"""Reading names and attribute chains, the one place where uses of TensorFlow are recognised.

Every chain is looked up once, in the order Python would evaluate it. What it denotes is recorded at its longest part
that is TensorFlow's or the project's own, by the node itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

import libcst as cst

from migrator.facts import Definition, Use
from migrator.resolve import knowledge
from migrator.resolve.canonical import normal
from migrator.resolve.scopes import Scope, dotted
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
    Member,
    Method,
    Module,
    OneOf,
    Value,
)
from migrator.tree import children

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


class Chains:
    """The lowest part of a Reader. `uses`, `definitions`, `undecided` and `tests` collect what is found."""

    world: World
    path: str
    scope: Scope
    _receiver: Value = UNKNOWN  # what stands before the last dot of the chain read last

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
        elif value in (UNKNOWN, UNBOUND) and isinstance(node, cst.Attribute):
            self._suspect(node, use)
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

    def _suspect(self, node: cst.Attribute, use: Use) -> None:
        """A chain that leads to nobody knows what: worth a record where it looks like TensorFlow."""
        name = node.attr.value
        called = use == "call" or "trainable" in name
        if name in knowledge.TELLING and called and self._receiver not in (FOREIGN, PLAIN):
            self.undecided[node] = f"cannot tell what {self.text(node.value)!r} is"
            return
        like_keras = name in knowledge.KERAS_CLASSES or (called and knowledge.MODULE_NAME.match(dotted(node.value)))
        if like_keras and self._receiver in (UNKNOWN, UNBOUND):
            self.undecided[node] = f"cannot tell whether {self.text(node.value)!r} is a module of Keras"

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
        if value is not None:  # an attribute may hold an API: after `self.act = tf.nn.relu`, `self.act(x)` is a use
            return value, value.name if isinstance(value, (Api, Member)) else None
        if name == "shape" and base in TENSORS:  # PyTorch has it too, so it is no finding; its methods are
            return Instance(knowledge.SHAPE), None
        member = knowledge.member_of(base.kind, name)
        if member is None:
            return (FOREIGN if base.cls is not None and base.cls.foreign else UNKNOWN), None
        if member in knowledge.READ:
            return knowledge.given_by(member, base.kind), member
        return Member(member, base.kind), member

    def text(self, node: cst.CSTNode) -> str:
        """The source text of a node, shortened to one line."""
        code = " ".join(cst.Module([]).code_for_node(node).split())
        return code if len(code) <= 60 else code[:57] + "..."
