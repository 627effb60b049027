"""Branches: both sides read, and what they disagree about brought together."""

from __future__ import annotations

import libcst as cst

from migrator.rewrite.arguments import code
from migrator.rewrite.models.effects import mutates, repeatable
from migrator.rewrite.models.ir import (
    Apply,
    Branch,
    Bundle,
    Layer,
    Line,
    Make,
    Read,
    Refused,
    Region,
    Settle,
    Tensor,
    Value,
)
from migrator.rewrite.models.layer_call import NotConstant
from migrator.rewrite.models.loop_targets import LoopTargets
from migrator.rewrite.models.names_used import binds, reads
from migrator.rewrite.models.scope import Scope, name_size
from migrator.rewrite.models.sizes import Size
from migrator.rewrite.models.statements import Statements
from migrator.tree import children

_SHORT = 40  # a longer condition is kept under a name instead of written twice


class Branches(LoopTargets, Statements):
    """Reads compound statements."""

    def compound(self, node: cst.BaseStatement) -> list[Region]:
        if isinstance(node, cst.With) and self.has_work(node.body):
            return self._with(node)
        if not self.has_work(node):
            return [self.config(node)]
        if isinstance(node, cst.If):
            return self._if(node)
        if isinstance(node, cst.For):
            return self.loop(node)
        kind = type(node).__name__.lower().replace("functiondef", "nested function")
        raise Refused(f"a {kind} around layers is not handled yet", node)

    def loop(self, node: cst.For) -> list[Region]:
        """Given by `Loops`."""
        raise NotImplementedError

    def bound_by(self, node: cst.CSTNode) -> set[str]:
        """Names that a stretch of code binds; a Sequential that grows in it counts as its tensor."""
        return binds(node) | mutates(node)

    def _with(self, node: cst.With) -> list[Region]:
        for item in node.items:
            call = item.item
            api = self.names.api(call.func) if isinstance(call, cst.Call) else None
            if api not in ("tf.name_scope", "tf.keras.backend.name_scope", "tf.compat.v1.name_scope"):
                raise Refused(f"`with {code(item.item)}` around layers is not handled yet", node)
        return self.block(block_of(node.body))

    # ------------------------------------------------------------ if

    def _if(self, node: cst.If) -> list[Region]:
        known = self.constant(node.test)
        if not isinstance(known, NotConstant):
            return self._folded(node, bool(known))
        test = self.construct_test(node.test)
        before = self.scope
        chosen = self._identity(node, test)
        if chosen is not None:
            return chosen
        branch = Branch(node, test, [], [])
        forward_test = self._forward_test(node.test)
        self.scope = before.copy()
        branch.then = self.block(block_of(node.body))
        then, self.scope = self.scope, before.copy()
        branch.otherwise = self._else(node)
        otherwise = self.scope
        self.scope = self._join(before, then, otherwise, branch)
        self._settle_test(branch, forward_test, node)
        return [branch]

    def construct_test(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """A condition in `__init__`; an optional tensor is there if its channels are."""
        optional = {
            name: cst.Name(self.running(name))
            for name in reads(node)
            if isinstance(value := self.scope.values.get(name), Tensor) and value.optional
        }
        return self.construct(self.renamed(node, optional) if optional else node)

    def _forward_test(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """The same condition as `forward` can write it, None where it must be stored."""
        if not repeatable(node) or self.dimension_inside(node):
            return None
        if self.loops or (len(code(node)) <= _SHORT and self._plain(node)):
            return self.forward(node)
        return None

    def _plain(self, node: cst.BaseExpression) -> bool:
        """Whether a condition reads nothing but parameters that never change, or optional tensors."""
        parameters = {param.name.value for param in self.function.params}
        for name in reads(node):
            value = self.scope.values.get(name)
            if isinstance(value, Tensor) and value.optional:
                continue
            if name in self.locals and (name not in parameters or self.scope.versions.get(name, 0)):
                return False
        return True

    def dimension_inside(self, node: cst.CSTNode) -> bool:
        """Whether a static size is read anywhere below."""
        if isinstance(node, cst.BaseExpression) and self.dimension(node) is not None:
            return True
        return any(self.dimension_inside(child) for child in children(node))

    def _settle_test(self, branch: Branch, forward_test: cst.BaseExpression | None, node: cst.If) -> None:
        """Where forward cannot repeat the condition, `__init__` keeps its outcome under a name."""
        branch.forward_test = forward_test
        if forward_test is not None:
            return
        if self.loops:
            raise Refused(f"the condition `{code(node.test)}` in a loop cannot be asked again in `forward`", node)
        branch.attribute = "condition"  # named once the layers it guards have names

    def _else(self, node: cst.If) -> list[Region]:
        if isinstance(node.orelse, cst.If):
            return self.statement(node.orelse)
        return self.block(block_of(node.orelse.body)) if node.orelse is not None else []

    def _folded(self, node: cst.If, outcome: bool) -> list[Region]:
        """A condition that the source settles: only the live side is read."""
        if outcome:
            return self.block(block_of(node.body))
        return self._else(node)

    def _identity(self, node: cst.If, test: cst.BaseExpression) -> list[Region] | None:
        """`if c: v = L(v)` as a module that is `nn.Identity()` otherwise; None where the form does not fit."""
        body = block_of(node.body)
        if node.orelse is not None or len(body) != 1 or not isinstance(body[0], cst.SimpleStatementLine):
            return None
        before = self.scope
        forget = self.trial()
        regions = self.block(body)
        inner = self.scope
        line = regions[0] if len(regions) == 1 else None
        layer = _only_module(line)
        if layer is None or not isinstance(line, Line) or not self._carries(line, before):
            forget()
            return None
        self.scope = before
        work = line.work
        assert isinstance(work, Apply)
        name = line.targets[0]
        tensor, entry = work.value, before.values[name]
        assert isinstance(entry, Tensor)
        joined = Tensor(tensor.rank, self._joined_size(name, entry, tensor), None, like=tensor, node=tensor)
        joined.spatial = self._joined_spatial(name, entry, tensor)
        self.scope.versions = dict(inner.versions)
        self._bump_running(name)
        joined.channels = self._rebased(name, joined.channels)
        self.scope.values[name] = joined
        return [Branch(node, test, regions, [], identity=layer)]

    def _carries(self, line: Line, before: Scope) -> bool:
        """Whether the line replaces the very tensor that it reads, so that leaving it out keeps the value."""
        if not isinstance(line.work, Apply) or len(line.targets) != 1 or len(line.work.operands) != 1:
            return False
        operand = line.work.operands[0]
        held = before.values.get(line.targets[0])
        if not isinstance(operand, Read) or not isinstance(held, Tensor):
            return False
        source = before.values.get(operand.name)
        return (
            held is source
            or (held.like is source and source is not None)
            or (isinstance(source, Tensor) and source.like is held)
        )

    # ------------------------------------------------------------ joining scopes

    def _join(self, before: Scope, then: Scope, otherwise: Scope, branch: Branch) -> Scope:
        ends = (_leaves(branch.then), _leaves(branch.otherwise))
        if ends[0] and ends[1]:
            return otherwise
        if ends[0]:
            return otherwise
        if ends[1]:
            return then
        joined = Scope(dict(otherwise.values), dict(otherwise.versions))
        self.scope = joined
        for name in {*then.versions, *otherwise.versions}:
            if then.versions.get(name, 0) != otherwise.versions.get(name, 0):
                self.numbers.bump(joined, name)
        for name in sorted({*then.values, *otherwise.values}):
            first, second = then.values.get(name), otherwise.values.get(name)
            if first is second:
                continue
            if first is None or second is None:
                joined.values[name] = first if first is not None else second  # type: ignore[assignment]
                continue
            joined.values[name] = self._phi(name, first, second, branch)  # type: ignore[arg-type]
        return joined

    def _phi(self, name: str, first: Value, second: Value, branch: Branch) -> Value:
        if isinstance(first, Bundle) and isinstance(second, Bundle):
            twin = self.running(name) if first.twin and second.twin else None
            return Bundle(first.element, None, twin) if first.element is second.element else self._no_join(name, branch)
        if not isinstance(first, Tensor) or not isinstance(second, Tensor):
            return self._no_join(name, branch)
        rank = first.rank if first.rank == second.rank else None
        tensor = Tensor(rank, self._joined_size(name, first, second), depth=len(self.loops))
        if None in (first.rank, second.rank):
            tensor.like = first if first.rank is None else second
        tensor.spatial = self._joined_spatial(name, first, second)
        tensor.activation = first.activation if first.activation == second.activation else None
        if rank is None:
            tensor.fixed = "last"
        branch.then.append(Settle(name, first, tensor))
        branch.otherwise.append(Settle(name, second, tensor))
        return tensor

    def _no_join(self, name: str, branch: Branch) -> Value:
        raise Refused(f"`{name}` is a tensor, a list or a layer, depending on a condition", branch.node)

    def _joined_size(self, name: str, first: Tensor, second: Tensor):  # type: ignore[no-untyped-def]
        one, other = first.channels, second.channels
        if one is None or other is None:
            return None
        if one.same(other) and one.at(self.scope.versions) is one:
            return one
        return name_size(self.running(name), self.scope.versions.get(self.running(name), 0))

    def _joined_spatial(self, name: str, first: Tensor, second: Tensor):  # type: ignore[no-untyped-def]
        if first.spatial is None or second.spatial is None or len(first.spatial) != len(second.spatial):
            return None
        axes = self.axis_names(name)
        if len(first.spatial) != 2:
            return first.spatial if first.spatial == second.spatial else None
        found: list[Size | None] = []
        for axis, one, other in zip(axes, first.spatial, second.spatial, strict=True):
            if one is None or other is None:
                found.append(None)
            elif one.same(other) and one.at(self.scope.versions) is one:
                found.append(one)
            else:
                found.append(name_size(axis, self.scope.versions.get(axis, 0)))
        return tuple(found)

    def _bump_running(self, name: str) -> None:
        for variable in (self.running(name), *self.axis_names(name)):
            self.numbers.bump(self.scope, variable)

    def _rebased(self, name: str, size):  # type: ignore[no-untyped-def]
        """A size that named the running variable, at its version of now."""
        if size is not None and self.running(name) in size.reads:
            return name_size(self.running(name), self.scope.versions[self.running(name)])
        return size


def block_of(body: cst.BaseSuite) -> list[cst.BaseStatement]:
    if isinstance(body, cst.IndentedBlock):
        return list(body.body)
    return [cst.SimpleStatementLine(body=list(body.body))]  # type: ignore[arg-type]


def _leaves(regions: list[Region]) -> bool:
    """Whether the region ends by leaving the function."""
    last = regions[-1] if regions else None
    if isinstance(last, Line):
        if last.returned:
            return True
        return isinstance(last.node, cst.SimpleStatementLine) and isinstance(last.node.body[0], cst.Raise)
    return isinstance(last, Branch) and _leaves(last.then) and _leaves(last.otherwise)


def _only_module(region: Region | None) -> Layer | None:
    """The layer of a line that does nothing but apply one kept module."""
    if not isinstance(region, Line) or not isinstance(region.work, Apply) or region.returned or region.append:
        return None
    work = region.work
    makes = [event for event in region.events if isinstance(event, Make)]
    if work.layer is None or work.step.first != "{self}({x})" or len(makes) != 1 or makes[0].layer is not work.layer:
        return None
    return work.layer
