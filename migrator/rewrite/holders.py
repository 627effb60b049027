"""Which rewritten models an expression *may* hold: followed through lists, loops, conditions and factories handed on.

Training code asks what an expression certainly is; here one possible origin is enough, because one is enough to break
the code around it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import libcst as cst

from migrator.facts import Definition
from migrator.rewrite.session import FileContext
from migrator.rewrite.structures.training_models import DEPTH, File, Known, Models
from migrator.rewrite.structures.training_tree import Binding, Scope

Source = tuple[cst.BaseExpression, File]
_OPENING = ("values", "items", "get", "pop", "copy")  # methods that hand out what a container holds
_PASSING = ("zip", "enumerate", "list", "tuple", "reversed", "sorted", "iter", "next", "set")


class Holders(Models):
    """Answers for one set of rewritten models, known by `owners`: definitions, and nodes that make them."""

    def __init__(self, context: FileContext, owners: Iterable[object]) -> None:
        super().__init__(context)
        self.owners = set(owners)
        self._answers: dict[tuple[str, object, str, bool], Known | None] = {}

    def held(self, node: cst.BaseExpression, file: File, among: bool = False) -> Known | None:
        """All models that the expression may be, with `among` also those in the list or dictionary that it is."""
        if not isinstance(node, cst.Name):
            return self._held(node, file, among)
        key = (file.path, file.tree.scope(node), node.value, among)
        if key not in self._answers:
            self._answers[key] = self._held(node, file, among)
        return self._answers[key]

    def _held(self, node: cst.BaseExpression, file: File, among: bool) -> Known | None:
        sources = [(node, file), *self._sources(node, file, among, DEPTH)]
        return self.merged(self._origin(source, other) for source, other in sources)

    def _origin(self, node: cst.BaseExpression, file: File) -> Known | None:
        found = [self.known(node, file)]
        if isinstance(node, cst.Call):
            for source, other in self._sources(node.func, file, False, DEPTH):
                maker = self._factory(source, other)
                facts = self.context.models.get(maker) if maker is not None else None
                if maker is not None and facts is not None:
                    found.append(Known(facts, frozenset({maker})))
        return self.merged(found)

    def known(self, node: cst.BaseExpression, file: File, depth: int = DEPTH) -> Known | None:
        """As of any origin. The name of a factory is no model; only its call is."""
        return None if self._factory(node, file) is not None else super().known(node, file, depth)

    def _factory(self, node: cst.BaseExpression, file: File) -> Definition | None:
        definition = file.resolution.definitions.get(node)
        made = definition is not None and definition in self.owners and self.files.function(definition) is not None
        return definition if made else None

    def merged(self, found: Iterable[Known | None]) -> Known | None:
        """All origins together."""
        known = [item for item in found if item is not None]
        if not known:
            return None
        return Known(known[0].facts, frozenset().union(*(item.roots for item in known)))

    # ------------------------------------------------------------ where a value comes from

    def _sources(self, node: cst.CSTNode, file: File, among: bool, depth: int) -> Iterator[Source]:
        """The expressions whose value this one may have; `among`: or hold."""
        if depth == 0:
            return
        if isinstance(node, cst.Name):
            yield node, file
            yield from self._of_name(node, file, among, depth - 1)
            return
        inside = _inside(node, among)
        for part, opened in inside:
            yield from self._sources(part, file, opened, depth)
        if not inside and isinstance(node, cst.BaseExpression):
            yield node, file

    def _of_name(self, node: cst.Name, file: File, among: bool, depth: int) -> Iterator[Source]:
        scope: Scope = file.tree.scope(node)
        while not (bindings := file.tree.bindings(scope, node.value)) and scope is not file.tree.module:
            scope = file.tree.scope(scope)
        for binding in bindings:
            yield from self._of_binding(binding, scope, file, among, depth)

    def _of_binding(self, binding: Binding, scope: Scope, file: File, among: bool, depth: int) -> Iterator[Source]:
        if binding.value is not None:
            yield from self._sources(binding.value, file, among, depth)
        elif isinstance(file.tree.parents[binding.node], cst.Param) and isinstance(scope, cst.FunctionDef):
            for value, other in self.files.callers(binding.node.value, scope, file):
                if value is not None:
                    yield from self._sources(value, other, among, depth)
        else:
            for parent in file.tree.ancestors(binding.node):
                if isinstance(parent, (cst.For, cst.CompFor)):
                    yield from self._sources(parent.iter, file, True, depth)
                if isinstance(parent, (cst.For, cst.CompFor, cst.BaseSmallStatement)):
                    return


def _inside(node: cst.CSTNode, among: bool) -> list[tuple[cst.CSTNode, bool]]:
    """The expressions that one hands on, and whether it is what they hold."""
    if isinstance(node, cst.IfExp):
        return [(node.body, among), (node.orelse, among)]
    if isinstance(node, cst.BooleanOperation):
        return [(node.left, among), (node.right, among)]
    if isinstance(node, cst.Subscript):
        return [(node.value, True)]
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and node.func.attr.value in _OPENING:
        return [(node.func.value, True)]
    if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in _PASSING:
        return [(argument.value, True) for argument in node.args] if among else []
    if not among:
        return []
    if isinstance(node, (cst.List, cst.Tuple, cst.Set)):
        return [(element.value, True) for element in node.elements]
    if isinstance(node, cst.Dict):
        return [(element.value, True) for element in node.elements]
    if isinstance(node, (cst.ListComp, cst.GeneratorExp, cst.SetComp)):
        return [(node.elt, True)]
    return [(node.value, True)] if isinstance(node, cst.DictComp) else []
