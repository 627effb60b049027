"""Values that the source settles: literals, names assigned once to one, and Keras's data format."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping

import libcst as cst

from migrator.rewrite.arguments import code
from migrator.rewrite.models.layer_call import NOT_CONSTANT
from migrator.rewrite.models.names_used import binds

_DATA_FORMAT = {"tf.keras.backend.image_data_format", "tf.keras.config.image_data_format"}


def fold(
    node: cst.BaseExpression, api: Callable[[cst.CSTNode], str | None], named: Mapping[str, cst.BaseExpression]
) -> object:
    """The value of an expression, NOT_CONSTANT where only a run can tell."""
    if isinstance(node, cst.Name) and node.value in named:
        return fold(named[node.value], api, {key: value for key, value in named.items() if key != node.value})
    if isinstance(node, cst.Call) and api(node.func) in _DATA_FORMAT:
        return "channels_last"
    if isinstance(node, (cst.Tuple, cst.List)):
        items = [fold(element.value, api, named) for element in node.elements]
        if any(item is NOT_CONSTANT for item in items):
            return NOT_CONSTANT
        return tuple(items) if isinstance(node, cst.Tuple) else items
    if isinstance(node, cst.Comparison) and len(node.comparisons) == 1:
        return _comparison(node, api, named)
    if isinstance(node, cst.IfExp):
        test = fold(node.test, api, named)
        return NOT_CONSTANT if test is NOT_CONSTANT else fold(node.body if test else node.orelse, api, named)
    try:
        return ast.literal_eval(code(node).strip())
    except (ValueError, SyntaxError, TypeError):
        return NOT_CONSTANT


def _comparison(
    node: cst.Comparison, api: Callable[[cst.CSTNode], str | None], named: Mapping[str, cst.BaseExpression]
) -> object:
    left, right = fold(node.left, api, named), fold(node.comparisons[0].comparator, api, named)
    if left is NOT_CONSTANT or right is NOT_CONSTANT:
        return NOT_CONSTANT
    operator = node.comparisons[0].operator
    if isinstance(operator, cst.Equal):
        return left == right
    if isinstance(operator, cst.NotEqual):
        return left != right
    return NOT_CONSTANT


def single_assignments(body: list[cst.BaseStatement]) -> dict[str, cst.BaseExpression]:
    """Names that are assigned exactly once, at the top level of `body`, with what they are assigned."""
    counts: dict[str, int] = {}
    values: dict[str, cst.BaseExpression] = {}
    for item in body:
        for name in _bound_everywhere(item):
            counts[name] = counts.get(name, 0) + 1
        if isinstance(item, cst.SimpleStatementLine):
            for small in item.body:
                if isinstance(small, cst.Assign) and len(small.targets) == 1:
                    target = small.targets[0].target
                    if isinstance(target, cst.Name):
                        values[target.value] = small.value
    return {name: value for name, value in values.items() if counts[name] == 1}


def _bound_everywhere(item: cst.CSTNode) -> list[str]:
    """Like `binds`, a name once for every statement that binds it, and in branches and loops at least twice."""
    names = list(binds(item))
    return names if isinstance(item, cst.SimpleStatementLine) else names * 2
