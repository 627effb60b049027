"""What a builder is given: a layer's arguments, the tensor it is applied to, and ways to say no.

Every argument that the call passes must be asked for by the builder, be harmless by the rule, or the call is refused:
an argument can never be dropped in silence.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import libcst as cst

from migrator.facts import Profile, Rule
from migrator.rewrite.arguments import Bound, code
from migrator.rewrite.models.activations import activation_code
from migrator.rewrite.models.ir import Layout, Refused, Step, Tensor
from migrator.rewrite.models.sizes import Size


class NotConstant:
    """The value of an expression that only a run of the program can tell."""


NOT_CONSTANT = NotConstant()


@dataclass(frozen=True)
class Surroundings:
    """What the analysis lends to builders: expressions as `__init__` writes them, as numbers, as sizes."""

    construct: Callable[[cst.BaseExpression], cst.BaseExpression]
    constant: Callable[[cst.BaseExpression], object]
    size: Callable[[cst.BaseExpression], Size]
    api: Callable[[cst.BaseExpression], str | None]
    keras: int = 3
    profile: Profile = "idiomatic"
    draft: bool = False


@dataclass
class LayerCall:
    """One layer about to be applied. `operands` has one tensor, or several for merging layers.

    `items` are the operands one by one where they are known, `twin` names the list of their channels otherwise.
    """

    rule: Rule
    bound: Bound
    around: Surroundings
    operands: Sequence[Tensor]
    node: cst.CSTNode
    twin: str | None = None
    used: set[str] = field(default_factory=set)

    @property
    def operand(self) -> Tensor:
        """The tensor a layer with one input is applied to."""
        return self.operands[0]

    @property
    def keras(self) -> int:
        """2 or 3: whose defaults hold."""
        return self.around.keras

    def refuse(self, reason: str) -> Refused:
        """The refusal to raise."""
        return Refused(reason, self.node, self.rule.id)

    def left_out(self, name: str) -> bool:
        """Whether the argument was left at its default; counts as asked for."""
        self.used.add(name)
        return self.bound.left_out(name)

    def raw(self, name: str) -> cst.BaseExpression:
        """The argument as the source has it, or its default."""
        self.used.add(name)
        return self.bound.value(name)

    def value(self, name: str) -> cst.BaseExpression:
        """The argument as `__init__` writes it."""
        return self.around.construct(self.raw(name))

    def constant(self, name: str) -> object:
        """The argument's value where the source settles it, else NOT_CONSTANT."""
        return self.around.constant(self.raw(name))

    def size(self, name: str) -> Size:
        """The argument as a size."""
        return self.around.size(self.raw(name))

    def pair(self, name: str) -> tuple[Size, Size] | None:
        """A kernel size or stride as two sizes (height, width); None where it cannot be taken apart."""
        node = self.raw(name)
        if isinstance(node, (cst.Tuple, cst.List)):
            if len(node.elements) != 2 or any(isinstance(item, cst.StarredElement) for item in node.elements):
                raise self.refuse(f"`{name}={code(node)}` does not have two numbers")
            first, second = (self.around.size(item.value) for item in node.elements)
            return first, second
        known = self.around.constant(node)
        if isinstance(known, tuple) and len(known) == 2:
            first, second = (self.around.size(cst.parse_expression(str(item))) for item in known)
            return first, second
        if isinstance(known, NotConstant) and not _plain_number(node):
            return None
        size = self.around.size(node)
        return size, size

    def compact(self, name: str) -> cst.BaseExpression:
        """Like `value`, with `(3, 3)` written as `3`."""
        node = self.raw(name)
        known = self.around.constant(node)
        if isinstance(node, (cst.Tuple, cst.List)) and isinstance(known, (tuple, list)) and len(set(known)) == 1:
            return cst.parse_expression(str(known[0]))
        return self.around.construct(node)

    def settle_rank(self, rank: int) -> None:
        """Notes the rank that the layer demands of its operand."""
        if not self.operand.settle(rank):
            raise self.refuse(f"{self.rule.tf} needs a tensor of rank {rank}, here it gets one of {self.operand.rank}")

    def activation(self, name: str = "activation") -> ActivationCode:
        """The fused activation as forward templates around `{y}`."""
        return self.around_activation(self.raw(name))

    def around_activation(self, node: cst.BaseExpression) -> ActivationCode:
        """The same for any expression that names an activation."""
        known = self.around.constant(node)
        first, last, label = "{y}", "{y}", None
        if known is None or known == "linear":
            return ActivationCode(first, last, None, None)
        name = known if isinstance(known, str) else self.around.api(node)
        if name is not None:
            found = activation_code(name, self.keras)
            if found is None:
                raise self.refuse(f"the activation `{code(node)}` has no translation yet")
            first, last, label = found
            return ActivationCode(first, last, label, None)
        return ActivationCode("activate({y}, {f}, dim=1)", "activate({y}, {f}, dim=-1)", None, node)

    def finish(self, step: Step) -> Step:
        """The step, if every argument that was passed has been looked at."""
        missed = [name for name in self.bound.given if name not in self.used and name not in self.rule.ignore]
        for name in missed:
            if not self.bound.left_out(name):
                raise self.refuse(f"`{name}` of {self.rule.tf} is not handled yet")
        return replace(step, differences=step.differences | frozenset(self.rule.differences))


@dataclass(frozen=True)
class ActivationCode:
    """Forward templates around `{y}` by layout; `value` is an activation that only a run can tell, `{f}` in them."""

    first: str
    last: str
    label: str | None
    value: cst.BaseExpression | None

    @property
    def plain(self) -> bool:
        """Whether nothing is applied."""
        return self.first == "{y}"

    @property
    def parts(self) -> dict[str, cst.BaseExpression]:
        """What the templates need besides `{y}`."""
        return {} if self.value is None else {"f": self.value}

    def around(self, inner: str) -> dict[Layout, str]:
        """Both templates with `inner` in the place of `{y}`."""
        return {"first": self.first.replace("{y}", inner), "last": self.last.replace("{y}", inner)}


def _plain_number(node: cst.BaseExpression) -> bool:
    """A name or arithmetic that can only be one number: not a call, a subscript or a conditional."""
    return isinstance(node, (cst.Name, cst.Integer, cst.BinaryOperation, cst.UnaryOperation))
