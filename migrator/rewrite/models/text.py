"""Comments: each is printed once, where the construct that it speaks of went."""

from __future__ import annotations

from typing import TypeVar

import libcst as cst

S = TypeVar("S", bound=cst.CSTNode)


def comment_lines(new: S, source: cst.CSTNode | None) -> S:
    """The lines above the source statement, above the new one."""
    lines = getattr(source, "leading_lines", None)
    if not lines:
        return new
    existing = [line for line in getattr(new, "leading_lines", ()) if line.comment is not None]
    return new.with_changes(leading_lines=[*lines, *existing])  # type: ignore[return-value]


def without_lines(new: S) -> S:
    """The statement without the lines above it."""
    return new.with_changes(leading_lines=()) if hasattr(new, "leading_lines") else new  # type: ignore[return-value]


def trailing(new: S, source: cst.CSTNode | None) -> S:
    """The comment at the end of the source line, at the end of the new one."""
    whitespace = getattr(source, "trailing_whitespace", None)
    if whitespace is None or whitespace.comment is None or not isinstance(new, cst.SimpleStatementLine):
        return new
    return new.with_changes(trailing_whitespace=whitespace)  # type: ignore[return-value]


def element_comments(new: S, element: cst.CSTNode) -> S:
    """The comment behind an element of a list display."""
    comment = _behind(element)
    if comment is None or not isinstance(new, cst.SimpleStatementLine):
        return new
    space = cst.TrailingWhitespace(whitespace=cst.SimpleWhitespace("  "), comment=comment)
    return new.with_changes(trailing_whitespace=space)  # type: ignore[return-value]


def _behind(element: cst.CSTNode) -> cst.Comment | None:
    comma = getattr(element, "comma", None)
    after = getattr(comma, "whitespace_after", None)
    if isinstance(after, cst.ParenthesizedWhitespace):
        return after.first_line.comment
    return None


def lines_before(
    elements: list[cst.BaseElement], index: int, left: cst.BaseParenthesizableWhitespace
) -> list[cst.EmptyLine]:
    """Comment lines that stand above an element of a list display."""
    whitespace: object = left
    if index:
        whitespace = getattr(elements[index - 1].comma, "whitespace_after", None)
    if not isinstance(whitespace, cst.ParenthesizedWhitespace):
        return []
    return [line for line in whitespace.empty_lines if line.comment is not None]
