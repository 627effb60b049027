"""Walking a libcst tree fast: `CSTNode.children` visits white space and punctuation, where most of its time goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

_SKIPPED = ("whitespace", "lpar", "rpar", "leading_lines", "header", "footer", "semicolon", "comma", "lbracket")
_FIELDS: dict[type, tuple[str, ...]] = {}
_NODES: dict[type, bool] = {}  # asking an abstract class each time costs more than all the rest


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes below, in source order, without white space and punctuation."""
    sort = type(node)
    fields = _FIELDS.get(sort)
    if fields is None:
        names = sort.__dataclass_fields__
        fields = _FIELDS[sort] = tuple(name for name in names if not name.startswith(_SKIPPED))
    for field in fields:
        value = getattr(node, field)
        if type(value) in (list, tuple):
            for item in value:
                if _is_node(item):
                    yield item
        elif _is_node(value):
            yield value


def _is_node(value: object) -> bool:
    sort = type(value)
    known = _NODES.get(sort)
    if known is None:
        import libcst

        known = _NODES[sort] = isinstance(value, libcst.CSTNode)
    return known
