"""What a name may stand for while a file is read: the values of a small abstract interpreter.

Values are compared by what they denote. `join` merges what two branches know; where they contradict each other the
result says so, because a guess would be worse than no answer.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeAlias

from migrator.facts import Definition

if TYPE_CHECKING:
    import libcst as cst

    from migrator.resolve.scopes import Scope

DEEPEST = 4  # how far containers in containers are followed


@dataclass(frozen=True)
class Nothing:
    """Nobody knows (`unknown`), not bound here (`unbound`), or surely not TensorFlow's (`plain`, `foreign`)."""

    what: str


UNKNOWN = Nothing("unknown")
UNBOUND = Nothing("unbound")
PLAIN = Nothing("plain")  # None, numbers, text: a placeholder that gives way to what another branch knows
FOREIGN = Nothing("foreign")  # an object of a library that is known not to be TensorFlow


@dataclass(frozen=True)
class Api:
    """A module, class, function or constant of TensorFlow by its canonical name."""

    name: str


@dataclass(frozen=True)
class OneOf:
    """TensorFlow on one path and something else on another: cannot be decided."""

    names: tuple[str, ...]


@dataclass(frozen=True)
class Module:
    """A module or package of the project, by the path of its file; a folder without a file ends in `/`."""

    path: str


@dataclass(frozen=True)
class External:
    """A name of another library."""

    name: str


@dataclass(frozen=True)
class Instance:
    """An object: of a TensorFlow kind (`tf.keras.Model`, `tf.Tensor` …), of a project class, or both."""

    kind: str
    cls: Class | None = None


@dataclass(frozen=True)
class Member:
    """A method or attribute of an object of a known kind: `tf.keras.Model.fit`."""

    name: str
    kind: str


@dataclass(frozen=True)
class Items:
    """A tuple or list whose elements are known one by one."""

    values: tuple[Value, ...]


@dataclass(frozen=True)
class Many:
    """A container of any length with elements of one sort."""

    element: Value


@dataclass(frozen=True)
class Table:
    """A dictionary whose values are of one sort."""

    element: Value


@dataclass(frozen=True)
class Gives:
    """Something callable that came in through a parameter: what calling it gives is known, its name is not."""

    result: Value


@dataclass(frozen=True)
class Partial:
    """`functools.partial(target, …)` with that many positional arguments already given."""

    target: Value
    given: int


@dataclass(eq=False)
class Function:
    """A function, method or lambda of the project and what is known about it so far."""

    definition: Definition
    node: cst.FunctionDef | cst.Lambda
    scope: Scope
    owner: Class | None = None
    decorators: tuple[str, ...] = ()
    parameters: dict[str, Value] = field(default_factory=dict)  # from call sites
    annotated: dict[str, Value] = field(default_factory=dict)
    declared: Value = UNKNOWN  # by the annotation of the result
    returns: Value = UNBOUND
    running: bool = False
    round: int = 0


@dataclass(frozen=True)
class Method:
    """A function of a project class reached through an object of it."""

    function: Function
    receiver: Instance


@dataclass(eq=False)
class Class:
    """A class of the project: its bases, what its body binds, what its methods put on `self`."""

    definition: Definition
    node: cst.ClassDef
    bases: tuple[Value, ...] = ()
    kind: str = ""
    foreign: bool = False  # derives from a class of a library that is known not to be TensorFlow
    names: dict[str, Value] = field(default_factory=dict)
    attributes: dict[str, Value] = field(default_factory=dict)

    def find(self, name: str, depth: int = 0) -> Value | None:
        """A name of the body, of `self`, or of a base class of the project, in Python's order."""
        found = [table[name] for table in (self.attributes, self.names) if name in table]
        if found:
            return found[0] if len(found) == 1 else join(*found)
        for base in self.bases if depth < 20 else ():
            inherited = base.find(name, depth + 1) if isinstance(base, Class) else None
            if inherited is not None:
                return inherited
        return None


Value: TypeAlias = (
    Nothing
    | Api
    | OneOf
    | Module
    | External
    | Instance
    | Member
    | Items
    | Many
    | Table
    | Gives
    | Partial
    | Function
    | Method
    | Class
)


def join(one: Value, other: Value) -> Value:
    """What is known where either value may hold. Placeholders such as None give way."""
    if one is other or one == other:
        return one
    for weak in (UNBOUND, PLAIN):
        if one == weak:
            return other
        if other == weak:
            return one
    if isinstance(one, (Api, OneOf)) or isinstance(other, (Api, OneOf)):
        if isinstance(one, Api) and isinstance(other, Api) and one.name.split(".")[-1] == other.name.split(".")[-1]:
            return one  # the same thing from two places, as version checks import it
        return OneOf(tuple(dict.fromkeys(_names(one) + _names(other))))
    if isinstance(one, Instance) and isinstance(other, Instance) and one.kind == other.kind and one.kind:
        return Instance(one.kind)
    if isinstance(one, (Items, Many)) and isinstance(other, (Items, Many)):
        return Many(join(element(one), element(other)))
    return UNKNOWN


def element(value: Value) -> Value:
    """What iterating over a container gives."""
    if isinstance(value, Many):
        return value.element
    if isinstance(value, Items):
        joined: Value = UNBOUND
        for item in value.values:
            joined = join(joined, item)
        return joined
    if value in (FOREIGN, PLAIN):
        return value
    return UNKNOWN


def depth(value: Value) -> int:
    """How many containers are nested in one another."""
    if isinstance(value, Many):
        return 1 + depth(value.element)
    if isinstance(value, Items):
        return 1 + max((depth(item) for item in value.values), default=0)
    return 0


def bounded(value: Value) -> Value:
    """`value`, or unknown where containers nest so deeply that a loop must be making them."""
    return UNKNOWN if depth(value) > DEEPEST else value


def _names(value: Value) -> tuple[str, ...]:
    if isinstance(value, OneOf):
        return value.names
    if isinstance(value, (Api, External)):
        return (value.name,)
    if isinstance(value, (Function, Class)):
        return (f"{value.definition.file}:{value.definition.name}",)
    return ("something else",)
