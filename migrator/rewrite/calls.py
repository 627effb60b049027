"""Plain operations and constants rewritten by their templates: `tf.reduce_mean(x)`, `tf.float32`.

Tensors of the two libraries do not mix. So the unit is a function, a class, or the module-level statements that share
variables, together with the units of the file that it names and that use TensorFlow too. Where one thing has to stay
TensorFlow, all operations of these units stay, with that as the reason.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import libcst as cst

from migrator.catalogue import Catalogue
from migrator.catalogue.conditions import SHAPES
from migrator.facts import Left, Resolution, Rule
from migrator.rewrite.arguments import Bound, Refusal, bind
from migrator.rewrite.call_site import rewritten
from migrator.rewrite.precedence import fitted, replace
from migrator.rewrite.templates import expression, imports_of
from migrator.rewrite.units import Unit, connected, units_of
from migrator.rewrite.values import indexed_once
from migrator.rewrite.walking import children


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

    `handled` are API nodes that somebody else rewrites: layers, models, fit calls. They are not touched and hold
    nothing back; a layer or model that is not among them stays TensorFlow, and so does what shares tensors with it.
    """
    result = Replacements()
    taken = {id(node) for node in handled}
    walks: dict[Unit, _Walk] = {}
    for unit in units_of(tree):
        walk = _Walk(resolution, catalogue, keras, taken)
        walk.read(unit)
        if walk.done or walk.left:
            walks[unit] = walk
    for group in connected(list(walks), resolution):
        _finish([walks[unit] for unit in group], result)
    return result


def _finish(walks: Sequence[_Walk], result: Replacements) -> None:
    """Hands over all replacements of units that belong together, or, where something stays TensorFlow, none."""
    stays = [(walk, item) for walk in walks for item in walk.left]
    if not stays:
        for walk in walks:
            result.nodes.update(walk.done)
            result.imports.update(walk.imports)
        return
    line, api = min((walk.line(item.node), walk.api(item.node)) for walk, item in stays)
    cause = f"this code shares tensors with {api} in line {line}, which stays TensorFlow"
    for walk in walks:
        result.left.extend(walk.told(item) for item in walk.left if item.own)
        held = [_Stays(api_node, rule.id, cause) for api_node, rule in walk.rules.values() if not rule.constant]
        result.left.extend(walk.told(item) for item in held)


class _Stays(NamedTuple):
    """An API that stays; `own` is False where others report it."""

    node: cst.CSTNode
    rule: str
    reason: str
    own: bool = True


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
        self.left: list[_Stays] = []

    def read(self, unit: Unit) -> None:
        """Decides about every API of the unit."""
        try:
            for part in unit.nodes:
                self.visit(part, None)
        except RecursionError:
            first = next(iter(self.rules.values()), None)
            api = first[0] if first is not None else next(iter(self.resolution.apis))
            self.left.append(_Stays(api, "", "the code is nested too deeply to be rewritten safely"))

    def visit(self, node: cst.CSTNode, parent: cst.CSTNode | None) -> None:
        if isinstance(node, (cst.Import, cst.ImportFrom)):
            return
        if parent is not None:
            self.parents[node] = parent
        if isinstance(node, cst.Call) and self._own(node.func):
            for child in children(node):
                self.visit_below_api(child, node) if child is node.func else self.visit(child, node)
            self._call(node, parent)
        elif self._own(node):
            self._reference(node, parent)
        else:
            for child in children(node):
                self.visit(child, node)

    def visit_below_api(self, node: cst.CSTNode, parent: cst.CSTNode) -> None:
        """Below `f(x).numpy`, the receiver of a method, may be calls; below `tf.abs` there is nothing."""
        for child in children(node):
            if not isinstance(child, (cst.Name, cst.Attribute)):
                self.visit(child, node)
            else:
                self.visit_below_api(child, node)

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
            self.left.append(_Stays(call.func, rule.id, "", own=False))
            return
        place = place_of(call, self.parents, self.resolution, self.catalogue, self.keras)
        found = rewritten(rule, call, self.resolution, place, self._finished)
        if isinstance(found, Refusal):
            self.left.append(_Stays(call.func, rule.id, found.reason))
            return
        self.done[call] = fitted(found.node, parent, call)
        self.imports |= found.imports
        self.rules[call] = (call.func, rule)

    def _reference(self, node: cst.CSTNode, parent: cst.CSTNode | None) -> None:
        rule = self._rule(node)
        if rule is not None and rule.guide is None and not _plain(rule):
            self.left.append(_Stays(node, rule.id, "", own=False))
            return
        if rule is None or rule.reference is None:
            reason = f"{self.api(node)} is passed on as a value, which has no translation yet"
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
        told = reason or guide or f"{self.api(node)} has no rule yet"
        self.left.append(_Stays(node, rule.id if rule else "", told))

    def api(self, node: cst.CSTNode) -> str:
        """The canonical name of an API node."""
        return self.resolution.apis[node]

    def line(self, node: cst.CSTNode) -> int:
        """Where it stands, 0 if nobody knows."""
        return next((call.line for call in self.resolution.calls if call.node is node), 0)

    def told(self, item: _Stays) -> Left:
        """The fact for the report."""
        return Left(self.resolution.source.path, self.line(item.node), item.rule, item.reason)


def _plain(rule: Rule) -> bool:
    """Whether the rule is an operation or a constant, whose template stands for the whole use."""
    proven = rule.constant or rule.proof != "fixture" or rule.family in ("regularizer", "initializer")
    return rule.torch is not None and proven
