"""What the analysis knows at one point of a function: tensors, layers not yet applied, versions of names."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import count
from typing import Any

import libcst as cst

from migrator.rewrite.models.binding import Function
from migrator.rewrite.models.ir import Config, Layer, Line, Store, Tensor, Value
from migrator.rewrite.models.sizes import Size


@dataclass(eq=False)
class Shape:
    """The shape of a tensor held in a variable: `shape = K.int_shape(x)`."""

    tensor: Tensor


@dataclass(eq=False)
class Pending:
    """A layer that was made and not yet applied. `line` and `index` are where its construction is printed."""

    call: cst.Call
    line: Line
    index: int
    versions: dict[str, int]
    hints: tuple[str, ...]
    layer: Layer | None = None
    step: Any = None


@dataclass(eq=False)
class Scope:
    """Names at one point. `versions` counts assignments of construction-time names."""

    values: dict[str, Value | Shape | Pending] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)

    def copy(self) -> Scope:
        """An independent scope that starts from here."""
        return Scope(dict(self.values), dict(self.versions))


@dataclass(eq=False)
class Summary:
    """What callers know of a rewritten helper: its parameters as tensors, its results, and what it needs to be told."""

    function: Function
    class_name: str
    tensors: dict[str, Value]  # by parameter
    sizes: dict[str, str]  # tensor parameter -> construction-time name of its channels (or list of channels)
    results: list[Value]
    penalty: bool = False
    differences: frozenset[str] = frozenset()
    parameters: tuple[str, ...] = ()  # what __init__ takes, once printed; others disappear from calls
    size_names: dict[str, str] = field(default_factory=dict)  # tensor parameter -> name of its (height, width)


@dataclass(eq=False)
class GroupFacts:
    """What is settled by reading a dependency group again and again: ranks, bundles, and demanded sizes."""

    ranks: dict[tuple[str, str, str], int] = field(default_factory=dict)
    bundles: set[tuple[str, str, str]] = field(default_factory=set)
    demands: set[tuple[str, str, str]] = field(default_factory=set)
    changed: bool = False
    draft: bool = True  # some facts are still missing: what they would settle is guessed, and read again

    def rank(self, key: tuple[str, str, str], value: int | None) -> None:
        """Notes the rank of a parameter or input; the group is read again where it is news."""
        if value is not None and key not in self.ranks:
            self.ranks[key] = value
            self.changed = True

    def demand(self, key: tuple[str, str, str]) -> bool:
        """Asks for a size that a function does not hand on yet. Whether it does by now."""
        if key in self.demands:
            return True
        self.demands.add(key)
        self.changed = True
        return False


@dataclass(eq=False)
class Stored:
    """Configuration that `forward` reads, by name: the version, and where the store is printed."""

    version: int
    event: Store
    line: Line


class Versions:
    """Hands out version numbers, and remembers which `Config` line bound which."""

    def __init__(self) -> None:
        self._next = count(1)
        self.bound: dict[tuple[str, int], tuple[Line, Config, dict[str, int]]] = {}  # with the versions before
        self.constants: dict[tuple[str, int], cst.BaseExpression] = {}
        self.mutations: dict[str, int] = {}  # the latest version that a change in place gave a name

    def bump(self, scope: Scope, name: str) -> int:
        """A new version of a name."""
        scope.versions[name] = next(self._next)
        return scope.versions[name]


def name_size(name: str, version: int) -> Size:
    """A construction-time name as a size."""
    return Size(cst.Name(name), None, {name: version})
