"""Reading calls: what is called, with what, and what comes back. Call sites teach functions their parameters."""

from __future__ import annotations

from dataclasses import dataclass, replace

import libcst as cst

from migrator.facts import Use
from migrator.resolve import knowledge
from migrator.resolve.canonical import from_import, words
from migrator.resolve.chains import TENSORS
from migrator.resolve.expressions import Expressions
from migrator.resolve.values import (
    FOREIGN,
    PLAIN,
    UNBOUND,
    UNKNOWN,
    Api,
    Class,
    External,
    Function,
    Gives,
    Instance,
    Items,
    Many,
    Member,
    Method,
    OneOf,
    Partial,
    Value,
    bounded,
    element,
    join,
)

# Decorators and wrappers that give their function back.
PASSES_THROUGH = words(
    "tf.function tf.autograph.experimental.do_not_convert tf.recompute_grad tf.custom_gradient copy.copy copy.deepcopy",
    "tf.keras.saving.register_keras_serializable tf.keras.utils.register_keras_serializable",
)
FEEDS_TENSORS = words("tf.map_fn tf.scan tf.foldl tf.foldr tf.while_loop tf.vectorized_map tf.keras.layers.Lambda")
MAKES_OBJECTS = ("from_config", "from_preset", "from_pretrained")


@dataclass(frozen=True)
class Arguments:
    """The values of a call's arguments; `starred` where `*args` makes positions after it uncertain."""

    positional: tuple[Value, ...]
    keywords: dict[str, Value]
    starred: bool = False

    def of(self, position: int, name: str) -> Value:
        """The argument of a parameter; unbound where it is not given."""
        given = self.positional[position] if position < len(self.positional) else UNBOUND
        return self.keywords.get(name, given)

    def all(self) -> tuple[Value, ...]:
        """All values, in order."""
        return (*self.positional, *self.keywords.values())


class Calls(Expressions):
    """The part of a Reader that reads calls."""

    def _Call(self, node: cst.Call, use: Use) -> Value:
        called = self.value(node.func, "call")
        if node.func in self.uses:
            self.uses[node.func].site = node
        arguments = self._arguments(node)
        if isinstance(node.func, cst.Attribute) and node.func.attr.value in ("append", "extend", "insert", "add"):
            self._grow(node.func, arguments)
        if isinstance(called, External):
            special = self._special(called.name, node, arguments)
            if special is not None:
                return special
        return self.apply(called, arguments)

    def _arguments(self, node: cst.Call) -> Arguments:
        positional: list[Value] = []
        keywords: dict[str, Value] = {}
        starred = False
        for argument in node.args:
            value = self.value(argument.value)
            if argument.star:
                starred = starred or argument.star == "*"
            elif argument.keyword is not None:
                keywords[argument.keyword.value] = value
            elif not starred:
                positional.append(value)
        return Arguments(tuple(positional), keywords, starred)

    def apply(self, called: Value, arguments: Arguments) -> Value:
        """What calling `called` gives."""
        if isinstance(called, Api):
            return self._apply_api(called.name, arguments)
        if isinstance(called, OneOf):
            results = [knowledge.result_of(name) for name in called.names]
            return results[0] if all(result == results[0] for result in results) else UNKNOWN
        if isinstance(called, Member):
            if called.name in knowledge.TAKES_FUNCTION:
                self._feed_tensors(arguments)
            if called.name == f"{knowledge.TAPE}.gradient" and arguments.of(1, "sources") in TENSORS:
                return TENSORS[0]
            return knowledge.given_by(called.name, called.kind)
        if isinstance(called, Function):
            return self.world.call(called, arguments, None)
        if isinstance(called, Method):
            return self.world.call(called.function, arguments, called.receiver)
        if isinstance(called, Class):
            return self._construct(called, arguments)
        if isinstance(called, Instance):
            return self._apply_object(called, arguments)
        if isinstance(called, Partial):
            return self.apply(
                called.target, replace(arguments, positional=(UNKNOWN,) * called.given + arguments.positional)
            )
        if isinstance(called, Gives):
            return called.result
        if isinstance(called, External):
            return FOREIGN if knowledge.is_foreign(called.name) else UNKNOWN
        return FOREIGN if called == FOREIGN else UNKNOWN

    def _apply_api(self, name: str, arguments: Arguments) -> Value:
        if name in PASSES_THROUGH:
            return arguments.positional[0] if arguments.positional else Gives(UNKNOWN)
        if name in FEEDS_TENSORS:
            self._feed_tensors(arguments)
        owner, _, last = name.rpartition(".")
        if last in MAKES_OBJECTS:
            kind = knowledge.kind_of_class(owner)
            return Instance(kind) if kind else UNKNOWN
        if owner == "tf.data.Dataset":
            return knowledge.given_by(name, knowledge.DATASET)
        return knowledge.result_of(name)

    def _feed_tensors(self, arguments: Arguments) -> None:
        for value in arguments.all():
            if isinstance(value, Function):
                self.world.teach(value, TENSORS[0])

    def _construct(self, cls: Class, arguments: Arguments) -> Value:
        made = Instance(cls.kind, cls)
        start = cls.find("__init__")
        if isinstance(start, Function):
            self.world.call(start, arguments, made)
        return made

    def _apply_object(self, called: Instance, arguments: Arguments) -> Value:
        for name in ("call", "__call__") if called.cls is not None else ():
            method = called.cls.find(name) if called.cls is not None else None
            if isinstance(method, Function):
                given = self.world.call(method, arguments, called)
                if isinstance(given, Items) or called.kind not in knowledge.CALLABLE:
                    return given
        if called.cls is not None and called.cls.foreign:
            return FOREIGN
        return TENSORS[0] if called.kind in knowledge.CALLABLE else UNKNOWN

    # ------------------------------------------------------------ Python's own functions

    def _special(self, name: str, node: cst.Call, arguments: Arguments) -> Value | None:
        first = arguments.positional[0] if arguments.positional else UNBOUND
        if name == "functools.partial" and arguments.positional:
            return Partial(first, len(arguments.positional) - 1)
        if name in ("importlib.import_module", "builtins.__import__"):
            return self._imported(node)
        if name == "builtins.getattr":
            return self._getattr(node, first)
        if name == "builtins.super":
            return self._super()
        if name in ("builtins.list", "builtins.tuple", "builtins.reversed", "builtins.iter", "builtins.sorted"):
            return Many(self.iterate(first)) if arguments.positional else Many(UNBOUND)
        if name == "builtins.enumerate":
            return Many(Items((PLAIN, self.iterate(first))))
        if name == "builtins.zip":
            return bounded(Many(Items(tuple(self.iterate(value) for value in arguments.positional))))
        if name == "builtins.next":
            return element(first)
        if name in ("builtins.sum", "builtins.max", "builtins.min"):
            inner = self.iterate(first)
            return inner if inner in TENSORS else FOREIGN
        if name in PASSES_THROUGH:
            return first
        return None

    def _imported(self, node: cst.Call) -> Value | None:
        text = _literal(node.args[0].value) if node.args else None
        name = from_import(text) if text else None
        return Api(name) if name else None

    def _getattr(self, node: cst.Call, base: Value) -> Value:
        """`getattr(layers, "Dense")` is as good as a chain; with a computed name nobody can tell which API it is."""
        self._forget(node)
        name = _literal(node.args[1].value) if len(node.args) > 1 else None
        if name is not None:
            value, canonical = self.attribute(base, name)
            if canonical is not None:
                self.found(node, canonical, "reference")
            return value
        if isinstance(base, Api):
            self.undecided[node] = f"takes a computed name from {base.name}"
        return UNKNOWN

    def _super(self) -> Value:
        cls = self.owner
        if cls is None:
            return UNKNOWN
        return Instance(cls.kind, next((base for base in cls.bases if isinstance(base, Class)), None))

    owner: Class | None = None

    def _grow(self, node: cst.Attribute, arguments: Arguments) -> None:
        """A list that gets elements by `append`: the variable then holds many of their sort."""
        if not isinstance(node.value, (cst.Name, cst.Attribute)) or not arguments.positional:
            return
        held = self._receiver_of(node.value)
        if isinstance(held, (Items, Many)):
            added = arguments.positional[-1]
            new = element(added) if node.attr.value == "extend" else added
            old = element(held) if not (isinstance(held, Items) and not held.values) else UNBOUND
            self.rebind(node.value, bounded(Many(join(old, new))))

    def _receiver_of(self, node: cst.CSTNode) -> Value:
        if isinstance(node, cst.Name):
            return self.scope.get(node.value)
        if isinstance(node, cst.Attribute):
            return self.attribute(self._receiver_of(node.value), node.attr.value)[0]
        return UNKNOWN

    def rebind(self, node: cst.CSTNode, value: Value) -> None:
        """Gives a variable or an attribute of `self` a new value, nothing else recorded."""
        if isinstance(node, cst.Name):
            self.scope.set(node.value, value)
        elif isinstance(node, cst.Attribute):
            base = self._receiver_of(node.value)
            if isinstance(base, Instance) and base.cls is not None:
                self.world.put(base.cls, node.attr.value, value)


def _literal(node: cst.BaseExpression) -> str | None:
    value = node.evaluated_value if isinstance(node, (cst.SimpleString, cst.ConcatenatedString)) else None
    return value if isinstance(value, str) else None
