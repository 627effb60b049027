"""`__init__` from the regions: every layer constructed, every size that somebody asks for, configuration kept."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from migrator.rewrite.models.ir import (
    Branch,
    Config,
    Event,
    Layer,
    Line,
    Loop,
    Make,
    Region,
    Settle,
    Store,
    Track,
    walk,
)
from migrator.rewrite.models.liveness import Liveness
from migrator.rewrite.models.loop_forms import listed_layers
from migrator.rewrite.models.text import above, block_like, comment_lines, element_comments, inner_comments, trailing
from migrator.rewrite.templates import expression, statements

MakeCode = Callable[[Layer], cst.BaseExpression]


class InitPrinter:
    """Prints regions as statements of `__init__`."""

    def __init__(self, liveness: Liveness, make: MakeCode, resolve: Callable[[cst.CSTNode], cst.CSTNode]) -> None:
        self.liveness, self.make, self.resolve = liveness, make, resolve
        self.indexed: dict[int, Branch] = {}

    def block(self, regions: Sequence[Region], declared: bool = False) -> list[cst.BaseStatement]:
        """The statements of a sequence of regions; `declared` inside loops, whose lists exist already."""
        found: list[cst.BaseStatement] = []
        for region in regions:
            found += self._region(region, declared)
        return found

    def _region(self, region: Region, declared: bool) -> list[cst.BaseStatement]:
        if isinstance(region, Line):
            return self._line(region)
        if isinstance(region, Branch):
            return self._branch(region, declared)
        if isinstance(region, Loop):
            return self._loop(region, declared)
        assert isinstance(region, Settle)
        return []

    def _line(self, line: Line) -> list[cst.BaseStatement]:
        events = self._alive(line)
        found = [self._event(event, line) for event in events]
        makes = [index for index, event in enumerate(events) if isinstance(event, Make)]
        if not found or isinstance(events[0], Config):
            return found
        if makes:
            found[makes[-1]] = trailing(found[makes[-1]], line.node)
            found[makes[0]] = above(found[makes[0]], inner_comments(line.node or _value(line.comments)))
            if line.comments is not None:
                found[makes[-1]] = element_comments(found[makes[-1]], line.comments)
        if not line.work and line.node is not None:
            found[0] = comment_lines(found[0], line.node)
        return found

    def _alive(self, line: Line) -> list[Event]:
        return [event for event in line.events if self.liveness.is_alive(event)]

    def _event(self, event: Event, line: Line) -> cst.BaseStatement:
        if isinstance(event, Make):
            layer = event.layer
            template = "self.{name}.append({value})" if layer.listed else "self.{name} = {value}"
            return statements(template, name=layer.attribute, value=self.make(layer))[0]
        if isinstance(event, Config):
            new = self.resolve(event.statement)
            assert isinstance(new, cst.BaseStatement)
            return new
        value = self.resolve(event.value)
        assert isinstance(value, cst.BaseExpression)
        if isinstance(event, Store):
            return statements("self.{name} = {value}", name=event.name, value=value)[0]
        assert isinstance(event, Track)
        template = "{name}.append({value})" if event.append else "{name} = {value}"
        return statements(template, name=event.name, value=value)[0]

    def _branch(self, branch: Branch, declared: bool) -> list[cst.BaseStatement]:
        then, otherwise = self._side(branch.then, declared), self._side(branch.otherwise, declared)
        found: list[cst.BaseStatement] = []
        test = self.resolve(branch.construct_test)
        assert isinstance(test, cst.BaseExpression)
        if branch.identity is not None:
            layer = branch.identity
            template = "self.{name}.append(nn.Identity())" if layer.listed else "self.{name} = nn.Identity()"
            otherwise = [*otherwise, *statements(template, name=layer.attribute)]
        if branch.attribute is not None:
            found += statements("self.{name} = {test}", name=branch.attribute, test=test)
            test = expression(f"self.{branch.attribute}")
        if not then and not otherwise:
            return found
        if not then:
            node = cst.If(test=expression("not {test}", test=test), body=cst.IndentedBlock(otherwise))
        else:
            alone = branch.identity is not None or not _forward_side(branch)
            body = block_like(then, branch.node.body if alone else None)
            node = cst.If(test=test, body=body, orelse=_else(branch, otherwise))
        if branch.identity is not None or not _forward_side(branch):
            node = node.with_changes(leading_lines=branch.node.leading_lines)
        return [*found, node]

    def _side(self, regions: Sequence[Region], declared: bool) -> list[cst.BaseStatement]:
        """One side of a branch. Where the helper returns there, nothing that follows is constructed."""
        found = self.block(regions, declared)
        if regions and isinstance(regions[-1], Line) and regions[-1].returned:
            found += statements("return")
        return found

    def _loop(self, loop: Loop, declared: bool) -> list[cst.BaseStatement]:
        found: list[cst.BaseStatement] = []
        if not declared:
            for layer in listed_layers([loop]):
                found += statements("self.{name} = nn.ModuleList()", name=layer.attribute)
        if not self.liveness.any_alive(loop.body):
            return found
        iterable = self.resolve(loop.construct_iterable)
        assert isinstance(iterable, cst.BaseExpression)
        body = self.block(loop.body, True)
        block = block_like(body, None if forward_work([loop]) else loop.node.body)
        node = cst.For(target=loop.construct_target, iter=iterable, body=block)
        return [*found, node.with_changes(leading_lines=() if forward_work([loop]) else loop.node.leading_lines)]


def _value(element: cst.CSTNode | None) -> cst.CSTNode | None:
    """What an element of a list display holds, without the comment behind it."""
    return getattr(element, "value", None)


def _else(branch: Branch, otherwise: list[cst.BaseStatement]) -> cst.Else | cst.If | None:
    if not otherwise:
        return None
    if isinstance(branch.node.orelse, cst.If) and len(otherwise) == 1 and isinstance(otherwise[0], cst.If):
        return otherwise[0].with_changes(leading_lines=())
    source = branch.node.orelse
    if not isinstance(source, cst.Else) or forward_work(branch.otherwise):
        return cst.Else(body=cst.IndentedBlock(otherwise))
    return cst.Else(body=block_like(otherwise, source.body), leading_lines=source.leading_lines)


def _forward_side(branch: Branch) -> bool:
    return forward_work(branch.then) or forward_work(branch.otherwise)


def forward_work(regions: Sequence[Region]) -> bool:
    """Whether anything of the regions is printed in `forward` for sure."""
    return any(isinstance(region, Line) and region.work is not None for region in walk(regions))
