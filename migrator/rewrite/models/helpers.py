"""Calls of the project's own tensor helpers, which become modules that are made and applied in one place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import libcst as cst

from migrator.rewrite.arguments import code
from migrator.rewrite.models.binding import Function
from migrator.rewrite.models.construct_side import Rename
from migrator.rewrite.models.forward_side import ForwardSide
from migrator.rewrite.models.ir import Bundle, Invoke, Layer, Make, Refused, Tensor, Value, Work, element
from migrator.rewrite.models.names_used import read_nodes
from migrator.rewrite.models.naming import hints_of_helper
from migrator.rewrite.models.scope import Summary, name_size
from migrator.rewrite.models.sizes import Size, number
from migrator.rewrite.templates import expression


class ReadAgain(Exception):
    """Something was learned that changes an earlier reading of the group."""


@dataclass(eq=False)
class Invocation:
    """How a helper's module is constructed: channels and sizes by tensor parameter, configuration as written."""

    callee: Summary
    channels: dict[str, cst.BaseExpression]
    sizes: dict[str, tuple[cst.BaseExpression, ...] | None]
    config: list[tuple[str, cst.Arg]]
    node: cst.Call


class HelperCall(ForwardSide):
    """Reads calls of helpers."""

    def work(self, node: cst.BaseExpression) -> Work:
        """Given by `Expressions`."""
        raise NotImplementedError

    def helper(self, node: cst.Call) -> Function | None:
        """The helper that a call denotes."""
        definition = self.names.definition(node.func)
        function = self.functions.get(definition) if definition is not None else None
        return function if function is not None and function.kind == "helper" and function.tensors else None

    def invoke(self, node: cst.Call) -> Invoke:
        """A helper's call as a module made here and applied here."""
        function = self.helper(node)
        assert function is not None
        summary = self.summaries.get(function.definition)
        if summary is None:
            raise Refused(f"`{function.name}` calls itself, or is read after its caller", node)
        arguments = matched(function, node)
        operands: list[tuple[str | None, Work, Tensor]] = []
        config: list[tuple[str, cst.Arg]] = []
        for name, argument in arguments:
            if name in function.tensors:
                if self.constant(argument.value) is None:
                    continue  # an optional tensor that is not there
                operands.append(self._operand(function, summary, name, argument))
            else:
                config.append((name, argument.with_changes(value=self.construct(argument.value))))
        operands = self._in_order(function, operands, node)
        layer = Layer(node, None, "", hints_of_helper(function.name, node), self.loops, uses=1)
        invocation = self._invocation(summary, arguments, operands, config, node)
        layer.invocation = invocation
        layer.penalty, layer.differences = summary.penalty, summary.differences
        self.line.events.append(Make(layer))
        return Invoke(layer, tuple(operands), self._results(summary, layer, invocation))

    def _operand(
        self, function: Function, summary: Summary, name: str, argument: cst.Arg
    ) -> tuple[str | None, Work, Tensor]:
        work = self.work(argument.value)
        parameter = summary.tensors[name]
        key = self.key(name, function)
        if isinstance(work.value, Bundle) != isinstance(parameter, Bundle):
            if key in self.facts.bundles:
                raise Refused(f"`{function.name}` is called with a tensor here and with a list elsewhere", argument)
            self.facts.bundles.add(key)
            raise ReadAgain
        mine, theirs = element(work.value), element(parameter)
        if theirs.rank is not None and not mine.settle(theirs.rank):
            raise Refused(f"`{function.name}` is called with tensors of different ranks", argument)
        if mine.rank is not None and theirs.rank is None:
            self.facts.rank(key, mine.rank)
        return name, work, theirs

    def _in_order(
        self, function: Function, operands: list[tuple[str | None, Work, Tensor]], node: cst.Call
    ) -> list[tuple[str | None, Work, Tensor]]:
        """Operands in the order of `forward`'s parameters; keywords from the first one that is left out on."""
        by_name = {name: (work, tensor) for name, work, tensor in operands}
        ordered: list[tuple[str | None, Work, Tensor]] = []
        gap = False
        for param in function.params:
            name = param.name.value
            if name not in function.tensors:
                continue
            if name not in by_name:
                if param.default is None:
                    raise Refused(f"`{function.name}` is called without its tensor `{name}`", node)
                gap = True
                continue
            ordered.append((name if gap else None, *by_name[name]))
        return ordered

    def _invocation(
        self,
        summary: Summary,
        arguments: list[tuple[str, cst.Arg]],
        operands: list[tuple[str | None, Work, Tensor]],
        config: list[tuple[str, cst.Arg]],
        node: cst.Call,
    ) -> Invocation:
        names = {id(theirs): name for name, value in summary.tensors.items() for theirs in [element(value)]}
        channels: dict[str, cst.BaseExpression] = {}
        sizes: dict[str, tuple[cst.BaseExpression, ...] | None] = {}
        for _, work, theirs in operands:
            name = names[id(theirs)]
            value = work.value
            if isinstance(value, Bundle):
                twin = self.twin_value(value)
                if twin is None:
                    raise Refused(f"the channels of the tensors in `{name}` cannot be derived", node)
                channels[name] = twin
                sizes[name] = None
                continue
            size = self.current(value.channels)
            if size is None:
                raise Refused(f"the number of channels of `{name}` cannot be derived", node)
            channels[name] = size.expr
            spatial = [self.current(axis) for axis in value.spatial or ()]
            complete = bool(spatial) and all(axis is not None for axis in spatial)
            sizes[name] = tuple(axis.expr for axis in spatial if axis is not None) if complete else None
        return Invocation(summary, channels, sizes, config, node)

    # ------------------------------------------------------------ results

    def _results(self, summary: Summary, layer: Layer, invocation: Invocation) -> Value:
        if not summary.results:
            raise Refused(f"`{summary.function.name}` returns nothing", layer.node)
        several = len(summary.results) > 1
        tensors = [
            self._result(summary, layer, invocation, value, index if several else None)
            for index, value in enumerate(summary.results)
        ]
        if not several:
            return tensors[0]
        items = tuple(tensor for tensor in tensors if isinstance(tensor, Tensor))
        if len(items) != len(tensors):
            raise Refused(f"`{summary.function.name}` returns lists among several results", layer.node)
        return Bundle(Tensor(items[0].rank, None, like=items[0]), items)

    def _result(self, summary: Summary, layer: Layer, invocation: Invocation, value: Value, index: int | None) -> Value:
        if isinstance(value, Bundle):
            raise Refused(f"`{summary.function.name}` returns a list of tensors, which is not handled yet", layer.node)
        channels = self._translated(summary, layer, invocation, value.channels, index)
        spatial: tuple[Size | None, ...] | None = None
        if value.rank == 4 and value.spatial is not None:
            spatial = tuple(
                None if size is None else self._placeholder(summary, layer, "out_size", index, axis)
                for axis, size in enumerate(value.spatial)
            )
        result = Tensor(value.rank, channels, spatial, like=value, activation=value.activation, depth=len(self.loops))
        result.node = value
        return result

    def _translated(
        self, summary: Summary, layer: Layer, invocation: Invocation, size: Size | None, index: int | None
    ) -> Size | None:
        """A size of the helper as its caller can write it: its own argument, or what the module says."""
        if size is None:
            return None
        if size.value is not None:
            return number(size.value)
        if isinstance(size.expr, cst.Name) and dict(size.reads) == {size.expr.value: 0}:
            known = self._argument_for(summary, invocation, size.expr.value)
            if known is not None:
                return known
        return self._placeholder(summary, layer, "out_channels", index, None)

    def _argument_for(self, summary: Summary, invocation: Invocation, name: str) -> Size | None:
        for tensor, size_name in summary.sizes.items():
            if size_name == name and tensor in invocation.channels:
                return self._as_size(invocation.channels[tensor])
        for parameter, argument in invocation.config:
            if parameter == name:
                return self._as_size(argument.value)
        for param in summary.function.params:
            if param.name.value == name and isinstance(param.default, cst.Integer):
                return self.size(param.default)
        return None

    def _as_size(self, node: cst.BaseExpression) -> Size | None:
        """An argument that is printed already; sizes that are whole calculations are better asked of the module."""
        if isinstance(node, cst.Integer):
            return number(int(node.value))
        if isinstance(node, cst.Name):
            local = node.value in self.locals or node.value in self.scope.versions
            return name_size(node.value, self.scope.versions.get(node.value, 0)) if local else Size(node)
        return None

    def _placeholder(self, summary: Summary, layer: Layer, attribute: str, index: int | None, axis: int | None) -> Size:
        """A name that becomes `self.<layer>.<attribute>` once the layer has its own."""
        name = f"{attribute}_of_{len(self.placeholders)}"
        self.placeholders[name] = (layer, summary, attribute, index, axis)
        return name_size(name, self.numbers.bump(self.scope, name))

    # ------------------------------------------------------------ names

    def renamed(self, node: cst.BaseExpression, names: Mapping[str, cst.BaseExpression]) -> cst.BaseExpression:
        """The expression with other names read."""
        new = node.visit(Rename(names, {id(name) for name in read_nodes(node)}))
        assert isinstance(new, cst.BaseExpression)
        return new

    def forward_pick(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """An element or a reordering of a list of tensors, its configuration stored."""
        return self.forward(node)


def matched(function: Function, node: cst.Call) -> list[tuple[str, cst.Arg]]:
    """The arguments of a call by parameter, in the call's order."""
    names = [param.name.value for param in function.params]
    if function.stars:
        raise Refused(f"`{function.name}` takes *args or **kwargs, which is not handled yet", function.node)
    found: list[tuple[str, cst.Arg]] = []
    for index, argument in enumerate(node.args):
        if argument.star:
            raise Refused(f"`{function.name}` is called with `{argument.star}`", node)
        name = argument.keyword.value if argument.keyword else names[index] if index < len(names) else None
        if name is None or name not in names:
            raise Refused(f"`{code(node.func)}` has no such parameter", node)
        found.append((name, argument))
    return found


def construction(invocation: Invocation) -> cst.BaseExpression:
    """`ResBlock(x_channels, width, …)`: what the printed class takes, nothing else."""
    summary = invocation.callee
    first: list[cst.Arg] = []
    optional: list[cst.Arg] = []
    for tensor, size_name in summary.sizes.items():
        if tensor not in invocation.channels:
            continue
        value = summary.tensors[tensor]
        there = not (isinstance(value, Tensor) and value.optional)
        if size_name in summary.parameters:
            (first if there else optional).append(_argument(size_name, invocation.channels[tensor], not there))
        size = summary.size_names.get(tensor, "")
        if size in summary.parameters:
            axes = invocation.sizes[tensor]
            if axes is None:
                raise Refused(f"the height and width of `{tensor}` cannot be derived", invocation.node)
            both = expression("({h}, {w})", h=axes[0], w=axes[1])
            (first if there else optional).append(_argument(size, both, not there))
    config = [
        argument.with_changes(comma=cst.MaybeSentinel.DEFAULT, whitespace_after_arg=cst.SimpleWhitespace(""))
        for name, argument in invocation.config
        if name in summary.parameters
    ]
    arguments = [*first, *config, *optional]
    func = invocation.node.func  # `blocks.unit` stays in `blocks`; an imported name is imported under the new one
    name = cst.Name(summary.class_name)
    return cst.Call(func=func.with_changes(attr=name) if isinstance(func, cst.Attribute) else name, args=arguments)


_EQUAL = cst.AssignEqual(whitespace_before=cst.SimpleWhitespace(""), whitespace_after=cst.SimpleWhitespace(""))


def _argument(name: str, value: cst.BaseExpression, keyword: bool) -> cst.Arg:
    if keyword:
        return cst.Arg(value=value, keyword=cst.Name(name), equal=_EQUAL)
    return cst.Arg(value=value)
