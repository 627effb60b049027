"""Lists that tensors are collected in."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from migrator.rewrite.arguments import code
from migrator.rewrite.models.binding import own_nodes
from migrator.rewrite.models.names_used import target_names


def appended_to(body: list[cst.BaseStatement], tensor_like: Callable[[cst.BaseExpression, set[str]], bool]) -> set[str]:
    """Names of lists that tensors are appended to, judged by what is assigned to what anywhere in the body."""
    tensors: set[str] = set()
    nodes = [node for statement in body for node in own_nodes(statement)]
    for _ in range(3):
        for node in nodes:
            if isinstance(node, cst.Assign) and tensor_like(node.value, tensors):
                for target in node.targets:
                    tensors |= target_names(target.target)
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, cst.Call) and len(node.args) == 1 and code(node.func).endswith(".append"):
            if tensor_like(node.args[0].value, tensors):
                found.add(code(node.func).removesuffix(".append"))
        elif isinstance(node, cst.AugAssign) and isinstance(node.value, cst.List):
            elements = [element.value for element in node.value.elements]
            found |= target_names(node.target) if any(tensor_like(item, tensors) for item in elements) else set()
    return found
