"""Parameters: which a function has, and what of a passed value stays known inside it."""

from __future__ import annotations

import libcst as cst

from migrator.resolve import knowledge
from migrator.resolve.values import UNKNOWN, Api, Gives, Items, Many, OneOf, Table, Value


def passed(value: Value) -> Value:
    """A value as a parameter sees it: of an API that is passed on only what calling it gives stays known."""
    if isinstance(value, Api):
        result = knowledge.result_of(value.name)
        return Gives(result) if result != UNKNOWN else UNKNOWN
    if isinstance(value, (Items, Many, Table)):
        return value if not _holds_api(value) else UNKNOWN
    return UNKNOWN if isinstance(value, OneOf) else value


def _holds_api(value: Value) -> bool:
    if isinstance(value, Items):
        return any(_holds_api(item) for item in value.values)
    if isinstance(value, (Many, Table)):
        return _holds_api(value.element)
    return isinstance(value, (Api, OneOf))


def parameters(node: cst.FunctionDef | cst.Lambda) -> list[cst.Param]:
    """All parameters in order; `star` is empty for ordinary ones."""
    parts = node.params
    found = [*parts.posonly_params, *parts.params]
    if isinstance(parts.star_arg, cst.Param):
        found.append(parts.star_arg)
    found.extend(parts.kwonly_params)
    if parts.star_kwarg is not None:
        found.append(parts.star_kwarg)
    return found
