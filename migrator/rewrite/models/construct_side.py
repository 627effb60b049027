"""An expression as `__init__` writes it: sizes in the place of shape reads, PyTorch in that of TensorFlow."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import libcst as cst

from migrator.rewrite.models.ir import Bundle, Refused, Tensor
from migrator.rewrite.models.layer_call import NotConstant
from migrator.rewrite.models.names_used import read_nodes
from migrator.rewrite.templates import expression

if TYPE_CHECKING:
    from migrator.rewrite.models.base import Reading


class Construct(cst.CSTTransformer):
    """Rewrites an expression for `__init__`, top down."""

    def __init__(self, reading: Reading) -> None:
        super().__init__()
        self.reading = reading
        self.done: dict[int, cst.BaseExpression] = {}
        self.allowed: set[int] | None = None

    def on_visit(self, node: cst.CSTNode) -> bool:
        if self.allowed is None:
            self.allowed = {id(name) for name in read_nodes(node)}
        if isinstance(node, cst.BaseExpression):
            new = self._replacement(node)
            if new is not None:
                self.done[id(node)] = new
                return False
        return True

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        return self.done.get(id(original_node), updated_node)

    def _replacement(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        reading = self.reading
        size = reading.dimension(node)
        if size is not None:
            return expression("{size}", size=size.expr)
        if isinstance(node, cst.Comparison):
            there = self._presence(node)
            if there is not None:
                return there
        if isinstance(node, cst.Call):
            length = self._length(node)
            if length is not None:
                return length
            if reading.names.api(node.func) is not None:
                return self._folded(node) or reading.bound_rule(node)
        if isinstance(node, (cst.Name, cst.Attribute)) and reading.names.api(node) is not None:
            return self._reference(node)
        if isinstance(node, cst.Name) and self.allowed is not None and id(node) in self.allowed:
            self._no_tensor(node)
        return None

    def _presence(self, node: cst.Comparison) -> cst.BaseExpression | None:
        """`skip is None` asks whether an optional tensor is there: in `__init__` its channels tell."""
        if not isinstance(node.left, cst.Name) or len(node.comparisons) != 1:
            return None
        value = self.reading.scope.values.get(node.left.value)
        size = self.reading.sizes.get(node.left.value)
        if not isinstance(value, Tensor) or not value.optional or size is None:
            return None
        if not isinstance(node.comparisons[0].operator, (cst.Is, cst.IsNot)):
            return None
        return node.with_changes(left=cst.Name(size))

    def _folded(self, node: cst.Call) -> cst.BaseExpression | None:
        known = self.reading.constant(node)
        return None if isinstance(known, NotConstant) else cst.parse_expression(repr(known))

    def _length(self, node: cst.Call) -> cst.BaseExpression | None:
        if isinstance(node.func, cst.Name) and node.func.value == "len" and len(node.args) == 1:
            argument = node.args[0].value
            if isinstance(argument, cst.Name) and isinstance(self.reading.scope.values.get(argument.value), Bundle):
                return expression(f"len({self.reading.running(argument.value)})")
        return None

    def _reference(self, node: cst.BaseExpression) -> cst.BaseExpression:
        rule = self.reading.names.rule(node)
        api = self.reading.names.api(node)
        if rule is not None and rule.reference is not None:
            return cst.parse_expression(rule.reference)
        raise Refused(f"{api} is used as a value while the model is built and has no translation there yet", node)

    def _no_tensor(self, node: cst.Name) -> None:
        value = self.reading.scope.values.get(node.value)
        if value is not None:
            raise Refused(f"`{node.value}` is a tensor or a layer, and is used as configuration", node)


class Rename(cst.CSTTransformer):
    def __init__(self, replacements: Mapping[str, cst.BaseExpression], allowed: set[int]) -> None:
        super().__init__()
        self.replacements, self.allowed = replacements, allowed

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        if id(original_node) in self.allowed and original_node.value in self.replacements:
            return self.replacements[original_node.value].deep_clone()
        return updated_node
