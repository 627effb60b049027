"""What the analysis of a model-building function yields: tensors, layers, and the regions of its body.

Both halves of a module are printed from the same tree. A `Line` stands for one source statement and knows what it does
at construction (`makes`, `config`, `tracks`) and what it does to tensors (`work`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import libcst as cst

from migrator.rewrite.models.sizes import Size

Layout = Literal["first", "last"]


class Refused(Exception):
    """Why a construct, and with it everything that depends on it, stays as it was."""

    def __init__(self, reason: str, node: cst.CSTNode | None = None, rule: str = "functional") -> None:
        super().__init__(reason)
        self.reason = reason
        self.node = node
        self.rule = rule


@dataclass(eq=False)
class Tensor:
    """One version of a tensor. `rank` counts the batch axis; `spatial` are the axes between batch and channels.

    `like` is the tensor whose rank this one shares, so that a rank found later settles the earlier ones; `origin`
    names the parameter or input that it starts from. `layout` is filled in by `layout.solve`.
    """

    rank: int | None
    channels: Size | None
    spatial: tuple[Size | None, ...] | None = None
    like: Tensor | None = None
    origin: str | None = None
    activation: str | None = None
    fixed: Layout | None = None
    depth: int = 0
    layout: Layout = "last"
    optional: bool = False
    node: Tensor | None = None  # the tensor whose layout it shares

    @property
    def shared(self) -> Tensor:
        """The tensor that decides this one's layout."""
        return self if self.node is None else self.node.shared

    def settle(self, rank: int) -> bool:
        """Notes a rank; False where another one was known before."""
        tensor: Tensor | None = self
        while tensor is not None:
            if tensor.rank not in (None, rank):
                return False
            tensor.rank = rank
            tensor = tensor.like
        return True


@dataclass(eq=False)
class Bundle:
    """A list or tuple of tensors. `element` stands for all of them in questions of layout and rank.

    `items` are its members where they are known one by one; `twin` is the name of the list of channel counts that
    `__init__` keeps beside it.
    """

    element: Tensor
    items: tuple[Tensor, ...] | None = None
    twin: str | None = None


Value = Tensor | Bundle


def element(value: Value) -> Tensor:
    """The tensor itself, or the one that stands for all tensors of a bundle."""
    return value.element if isinstance(value, Bundle) else value


@dataclass(frozen=True)
class Step:
    """How one layer or operation is written. Templates use {self}, {x} (or {xs}) and the names in `parts`.

    `first` and `last` are the forward templates for channels-first and channels-last operands, `wants` the layout it
    needs. `make` constructs the module that is kept; None where nothing is. `parts` are expressions of the source that
    `forward` needs; the analysis stores what they read.
    """

    first: str
    last: str
    make: cst.BaseExpression | None = None
    short: str = ""
    wants: Layout | None = None
    rank: int | None = None  # of the result where it differs from the operand's
    channels: Size | None = None
    spatial: tuple[Size | None, ...] | None = None
    keeps: frozenset[str] = frozenset({"rank", "channels", "spatial"})  # what the result shares with the operand
    parts: dict[str, cst.BaseExpression] = field(default_factory=dict)
    activation: str | None = None
    differences: frozenset[str] = frozenset()
    notes: tuple[str, ...] = ()
    penalty: bool = False


@dataclass(eq=False)
class Layer:
    """A module that `__init__` keeps: where it is made, how, and under which name."""

    node: cst.CSTNode
    make: cst.BaseExpression | None
    short: str
    hints: tuple[str, ...]
    loops: tuple[Loop, ...] = ()
    attribute: str = ""
    differences: frozenset[str] = frozenset()
    penalty: bool = False
    uses: int = 0
    invocation: Any = None  # of a helper's module: how it is constructed

    @property
    def listed(self) -> bool:
        """Whether it is one of a ModuleList that a loop fills."""
        return bool(self.loops)


# ---------------------------------------------------------------- tensor work


@dataclass(eq=False)
class Read:
    """A local variable of `forward`."""

    name: str
    value: Value


@dataclass(eq=False)
class Apply:
    """A step applied to operands; `layer` is the module that is kept, if any."""

    step: Step
    layer: Layer | None
    operands: tuple[Work, ...]
    value: Tensor
    many: bool = False  # the operand is one list of tensors


@dataclass(eq=False)
class Invoke:
    """A rewritten helper, kept as a module, called with tensors. Results share the helper's own result tensors."""

    layer: Layer
    operands: tuple[tuple[str | None, Work, Tensor], ...]  # keyword, argument, the helper's parameter
    value: Value


@dataclass(eq=False)
class Gather:
    """A list or tuple display of tensors."""

    items: tuple[Work, ...]
    value: Bundle
    brackets: Literal["[", "("] = "["


@dataclass(eq=False)
class Pick:
    """An element or a reordering of a bundle, written as in the source; `value` is what it yields."""

    node: cst.BaseExpression
    value: Value


Work = Read | Apply | Invoke | Gather | Pick


# ---------------------------------------------------------------- regions


@dataclass(eq=False)
class Track:
    """`name = size` in `__init__`, kept only where something reads it.

    `append` is for `name.append(size)`; an `effect` on a list keeps the statement as long as the list is kept.
    """

    name: str
    value: cst.BaseExpression
    append: bool = False
    effect: str | None = None


@dataclass(eq=False)
class Make:
    """A layer is constructed here."""

    layer: Layer


@dataclass(eq=False)
class Config:
    """A statement of construction, as `__init__` prints it; `replayed` is for a loop of `forward` that needs it too."""

    statement: cst.BaseStatement
    source: cst.CSTNode
    binds: frozenset[str] = frozenset()
    pure: bool = False
    replayed: cst.BaseStatement | None = None


@dataclass(eq=False)
class Store:
    """`self.name = expression`: configuration that `forward` reads."""

    name: str
    value: cst.BaseExpression


Event = Track | Make | Config | Store


@dataclass(eq=False)
class Line:
    """One source statement: what happens at construction, then the tensor work with the targets it binds."""

    node: cst.BaseStatement | None
    events: list[Event] = field(default_factory=list)
    targets: tuple[str, ...] = ()
    work: Work | None = None
    append: bool = False  # the work is appended to the bundle named by the only target
    returned: bool = False
    comments: cst.BaseElement | None = None  # an element of a list display whose comments belong here
    lines: Sequence[cst.EmptyLine] = ()  # comment lines that stand above that element
    value: Value | None = None  # of the target, where it differs in layout from the work's own


@dataclass(eq=False)
class Settle:
    """At a join: the variable is brought into the layout that the joined tensor has."""

    name: str
    source: Tensor
    result: Tensor


@dataclass(eq=False)
class Branch:
    """An `if`. `attribute` is the stored condition, `test` what `forward` prints where nothing needs storing."""

    node: cst.If
    construct_test: cst.BaseExpression
    then: list[Region]
    otherwise: list[Region]
    forward_test: cst.BaseExpression | None = None
    attribute: str | None = None
    identity: Layer | None = None  # the then side is `v = layer(v)`: nn.Identity() takes its place on the other


@dataclass(eq=False)
class Loop:
    """A `for`. `form` says how `forward` walks it: `zip` over module lists, or `replay` with iterators."""

    node: cst.For
    construct_iterable: cst.BaseExpression
    construct_target: cst.BaseAssignTargetExpression
    body: list[Region] = field(default_factory=list)
    outer: tuple[Loop, ...] = ()
    forward_iterable: cst.BaseExpression | None = None
    tensor_items: tuple[tuple[cst.BaseAssignTargetExpression, cst.BaseExpression], ...] | None = None
    form: Literal["zip", "replay"] = "replay"
    names: frozenset[str] = frozenset()  # construction-time names that the body binds or changes
    targets: frozenset[str] = frozenset()  # construction-time names that the header binds
    forward_names: set[str] = field(default_factory=set)  # those of them that tensor work reads
    entry: Any = None  # the scope in front of the loop, and the line where its header is stored


Region = Line | Settle | Branch | Loop


def walk(regions: Sequence[Region]) -> list[Line | Settle | Branch | Loop]:
    """Every region, outer ones first, in source order."""
    found: list[Line | Settle | Branch | Loop] = []
    for region in regions:
        found.append(region)
        if isinstance(region, Branch):
            found += walk(region.then) + walk(region.otherwise)
        elif isinstance(region, Loop):
            found += walk(region.body)
    return found
