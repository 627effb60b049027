"""Walking a libcst tree fast: `CSTNode.children` visits white space and punctuation, where most of its time goes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import libcst as cst

_SKIPPED = ("whitespace", "lpar", "rpar", "leading_lines", "header", "footer", "semicolon", "comma", "lbracket")
_FIELDS: dict[type, tuple[str, ...]] = {}


def children(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes below, in source order, without white space and punctuation."""
    import libcst

    sort = type(node)
    fields = _FIELDS.get(sort)
    if fields is None:
        names = sort.__dataclass_fields__
        fields = _FIELDS[sort] = tuple(name for name in names if not name.startswith(_SKIPPED))
    for field in fields:
        value = getattr(node, field)
        if isinstance(value, libcst.CSTNode):
            yield value
        elif isinstance(value, (list, tuple)):
            yield from (item for item in value if isinstance(item, libcst.CSTNode))
