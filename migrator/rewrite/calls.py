"""Plain operations and constants rewritten by their templates: `tf.reduce_mean(x)`, `tf.float32`.

Tensors of the two libraries do not mix, so the unit is the function (at module level: the statements that share
variables). In a unit where something has to stay TensorFlow, every operation stays, with that as the reason. Layers
and structures (rules with `build` or `structure`) are other people's work: they are passed over here.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field

import libcst as cst

from migrator.catalogue import Catalogue
from migrator.catalogue.conditions import SHAPES
from migrator.facts import Left, Resolution, Rule
from migrator.rewrite.arguments import Bound, Refusal, bind
from migrator.rewrite.call_site import rewritten
from migrator.rewrite.precedence import fitted, replace
from migrator.rewrite.templates import expression, imports_of
from migrator.rewrite.units import units_of
from migrator.rewrite.values import indexed_once


@dataclass(frozen=True)
class Replacements:
    """What to put where (nodes by identity), the import statements that needs, and what stays."""

    nodes: dict[cst.CSTNode, cst.BaseExpression] = field(default_factory=dict)
    imports: set[str] = field(default_factory=set)
    left: list[Left] = field(default_factory=list)


def rewrite_calls(
    tree: cst.CSTNode, resolution: Resolution, catalogue: Catalogue, keras: int, handled: Collection[cst.CSTNode] = ()
) -> Replacements:
    """Replacements for all operations below `tree` (a module, a function or an expression).

    `handled` are API nodes that somebody else rewrites; they neither block a unit nor are they touched.
    """
    result = Replacements()
    taken = {id(node) for node in handled}
    for unit in units_of(tree):
        walk = _Walk(resolution, catalogue, keras, taken)
        for part in unit:
            walk.visit(part, None)
        walk.finish(result)
    return result


def place_of(
    call: cst.Call,
    parents: Mapping[cst.CSTNode, cst.CSTNode],
    resolution: Resolution,
    catalogue: Catalogue,
    keras: int,
) -> str | None:
    """The word of catalogue.conditions for where the call stands, None for an ordinary place."""
    parent = parents.get(call)
    if isinstance(parent, cst.Subscript) and parent.value is call and indexed_once(parent):
        return "indexed"
    outer = parents.get(parent) if isinstance(parent, cst.Arg) else None
    if not isinstance(outer, cst.Call) or outer.func not in resolution.apis:
        return None
    rule = catalogue.find(resolution.apis[outer.func], keras)
    bound = bind(rule, outer) if rule is not None and rule.torch is not None else None
    if not isinstance(bound, Bound):
        return None
    return "shape" if any(bound.arguments.get(name) is parent for name in SHAPES) else None


class _Walk:
    """One unit, children before parents, so that each replacement already holds those inside it."""

    def __init__(self, resolution: Resolution, catalogue: Catalogue, keras: int, taken: Collection[int]) -> None:
        self.resolution = resolution
        self.catalogue = catalogue
        self.keras = keras
        self.taken = taken
        self.parents: dict[cst.CSTNode, cst.CSTNode] = {}
        self.done: dict[cst.CSTNode, cst.BaseExpression] = {}
        self.rules: dict[cst.CSTNode, tuple[cst.CSTNode, Rule]] = {}  # replaced node -> API node, rule
        self.imports: set[str] = set()
        self.left: list[tuple[cst.CSTNode, str, str]] = []  # API node, rule, reason

    def visit(self, node: cst.CSTNode, parent: cst.CSTNode | None) -> None:
        if isinstance(node, (cst.Import, cst.ImportFrom)):
            return
        if parent is not None:
            self.parents[node] = parent
        if isinstance(node, cst.Call) and self._own(node.func):
            for child in node.children:
                self.visit_below_api(child, node) if child is node.func else self.visit(child, node)
            self._call(node, parent)
        elif self._own(node):
            self._reference(node, parent)
        else:
            for child in node.children:
                self.visit(child, node)

    def visit_below_api(self, node: cst.CSTNode, parent: cst.CSTNode) -> None:
        """Below `f(x).numpy`, the receiver of a method, may be calls; below `tf.abs` there is nothing."""
        for child in node.children:
            if not isinstance(child, (cst.Name, cst.Attribute)):
                self.visit(child, node)
            else:
                self.visit_below_api(child, node)

    def finish(self, result: Replacements) -> None:
        """Hands over all of the unit's replacements, or, where something stays TensorFlow, none."""
        if self.left:
            first = min(self.left, key=lambda item: self._line(item[0]))
            cause = f"this code also needs {self._api(first[0])}, which stays TensorFlow (line {self._line(first[0])})"
            self.left.extend((api, rule.id, cause) for api, rule in self.rules.values() if not rule.constant)
            result.left.extend(self._told(*item) for item in self.left)
            return
        result.nodes.update(self.done)
        result.imports.update(self.imports)

    def _own(self, node: cst.CSTNode) -> bool:
        return node in self.resolution.apis and id(node) not in self.taken

    def _rule(self, node: cst.CSTNode) -> Rule | None:
        return self.catalogue.find(self.resolution.apis[node], self.keras)

    def _call(self, call: cst.Call, parent: cst.CSTNode | None) -> None:
        rule = self._rule(call.func)
        if rule is None or rule.guide is not None or rule.constant:
            self._leave(call.func, rule)
            return
        if not _plain(rule):
            return  # a layer, a structure, a regulariser …: other people's work
        place = place_of(call, self.parents, self.resolution, self.catalogue, self.keras)
        found = rewritten(rule, _with_receiver(call, rule), self.resolution, place, self._finished)
        if isinstance(found, Refusal):
            self.left.append((call.func, rule.id, found.reason))
            return
        self.done[call] = fitted(found.node, parent, call)
        self.imports |= found.imports
        self.rules[call] = (call.func, rule)

    def _reference(self, node: cst.CSTNode, parent: cst.CSTNode | None) -> None:
        rule = self._rule(node)
        if rule is not None and rule.guide is None and not _plain(rule):
            return
        if rule is None or rule.reference is None:
            reason = f"{self._api(node)} is passed on as a value, which has no translation yet"
            self._leave(node, rule, None if rule is None or rule.guide else reason)
            return
        self.done[node] = fitted(expression(rule.reference), parent, node)
        self.imports |= imports_of(rule.reference)
        self.rules[node] = (node, rule)

    def _finished(self, node: cst.BaseExpression) -> cst.BaseExpression:
        result = replace(node, self.done)
        assert isinstance(result, cst.BaseExpression)
        return result

    def _leave(self, node: cst.CSTNode, rule: Rule | None, reason: str | None = None) -> None:
        guide = rule.guide if rule is not None else None
        self.left.append((node, rule.id if rule else "", reason or guide or f"{self._api(node)} has no rule yet"))

    def _api(self, node: cst.CSTNode) -> str:
        return self.resolution.apis[node]

    def _line(self, node: cst.CSTNode) -> int:
        return next((call.line for call in self.resolution.calls if call.node is node), 0)

    def _told(self, node: cst.CSTNode, rule: str, reason: str) -> Left:
        return Left(self.resolution.source.path, self._line(node), rule, reason)


def _plain(rule: Rule) -> bool:
    """Whether the rule is an operation or a constant, whose template stands for the whole use."""
    return rule.torch is not None and (rule.constant or rule.proof != "fixture")


def _with_receiver(call: cst.Call, rule: Rule) -> cst.Call:
    """A method's call as its rule sees it: what stands before the dot is `self`."""
    method = rule.parameters[:1] and rule.parameters[0].name == "self"
    if not method or not isinstance(call.func, cst.Attribute):
        return call
    return call.with_changes(args=[cst.Arg(call.func.value), *call.args])
