"""Reads of static shapes: which tensor they look at, and which axis."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from migrator.rewrite.models.ir import Tensor

_SHAPE_FUNCTIONS = {
    "tf.keras.backend.int_shape",
    "tf.keras.backend.shape",
    "tf.shape",
    "tf.keras.ops.shape",
}


def shape_of(
    node: cst.BaseExpression,
    tensor: Callable[[cst.BaseExpression], Tensor | None],
    api: Callable[[cst.CSTNode], str | None],
) -> Tensor | None:
    """The tensor whose whole shape the expression is: `x.shape`, `K.int_shape(x)`, `x.get_shape().as_list()` …"""
    if isinstance(node, cst.Attribute) and node.attr.value in ("shape", "_keras_shape"):
        return tensor(node.value)
    if not isinstance(node, cst.Call):
        return None
    if api(node.func) in _SHAPE_FUNCTIONS and len(node.args) == 1:
        return tensor(node.args[0].value)
    if isinstance(node.func, cst.Attribute) and not node.args:
        if node.func.attr.value == "as_list":
            return shape_of(node.func.value, tensor, api)
        if node.func.attr.value == "get_shape":
            return tensor(node.func.value)
    if isinstance(node.func, cst.Name) and node.func.value in ("tuple", "list") and len(node.args) == 1:
        return shape_of(node.args[0].value, tensor, api)
    return None


def index_of(node: cst.Subscript, constant: Callable[[cst.BaseExpression], object]) -> int | None:
    """The index of a subscript where the source settles it, None for slices and anything computed."""
    if len(node.slice) != 1 or not isinstance(node.slice[0].slice, cst.Index):
        return None
    known = constant(node.slice[0].slice.value)
    return known if isinstance(known, int) and not isinstance(known, bool) else None
