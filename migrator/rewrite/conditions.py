"""Whether the conditions of a template hold for one call; the words are those of `catalogue.conditions`."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import libcst as cst

from migrator.catalogue.conditions import alternatives
from migrator.catalogue.signature import same_value
from migrator.facts import Resolution
from migrator.rewrite import values
from migrator.rewrite.arguments import Bound, code


def holds(when: Mapping[str, str], bound: Bound, resolution: Resolution, place: str | None) -> bool:
    """Whether every condition holds. `place` is the word for where the call stands, if there is one."""
    return all(
        any(_holds(name, one, bound, resolution, place) for one in alternatives(condition))
        for name, condition in when.items()
    )


def _holds(name: str, condition: str, bound: Bound, resolution: Resolution, place: str | None) -> bool:
    word = condition.removeprefix("not ")
    wanted = word == condition
    if name == "@":
        return (place == word) is wanted
    if word == "absent":
        return bound.left_out(name) is wanted
    if word == "given":
        return bound.left_out(name) is not wanted
    try:
        node = bound.value(name)
    except KeyError:
        return not wanted
    if word.startswith("="):
        return same_value(code(node), word[1:]) is wanted
    return _WORDS[word](node, resolution) is wanted


def _nested(node: cst.BaseExpression, _: Resolution) -> bool:
    items = values.literal_items(node)
    return all(isinstance(item, (cst.List, cst.Tuple)) for item in items) if items else False


def _dtype(kind: str) -> Callable[[cst.BaseExpression, Resolution], bool]:
    return lambda node, resolution: values.dtype_kind(node, resolution) == kind


_WORDS: dict[str, Callable[[cst.BaseExpression, Resolution], bool]] = {
    "number": values.is_number,
    "integer": lambda node, _: values.is_whole(node),
    "whole": lambda node, _: values.all_whole(node),
    "numbers": lambda node, resolution: values.all_numbers(node, resolution) and not values.all_whole(node),
    "sequence": lambda node, _: values.literal_items(node) is not None,
    "nested": _nested,
    "string": lambda node, _: isinstance(node, (cst.SimpleString, cst.ConcatenatedString)),
    "boolean": lambda node, _: isinstance(node, cst.Name) and node.value in ("True", "False"),
    "size": values.is_size,
    "scalar": values.is_scalar,
    "name": lambda node, _: values.is_simple(node),
    "float": _dtype("float"),
    "int": _dtype("int"),
    "bool": _dtype("bool"),
}
