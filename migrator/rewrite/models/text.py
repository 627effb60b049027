"""Comments, each printed once where the construct that it speaks of went, and lines that would be too long."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

import libcst as cst

WIDTH = 100
S = TypeVar("S", bound=cst.CSTNode)


def comment_lines(new: S, source: cst.CSTNode | None) -> S:
    """The lines above the source statement, above the new one."""
    return above(new, getattr(source, "leading_lines", None) or ())


def above(new: S, lines: Sequence[cst.EmptyLine]) -> S:
    """Lines put above a statement, before those that it has."""
    if not lines:
        return new
    existing = [line for line in getattr(new, "leading_lines", ()) if line.comment is not None]
    return new.with_changes(leading_lines=[*lines, *existing])


def block_like(body: Sequence[cst.BaseStatement], source: cst.CSTNode | None) -> cst.IndentedBlock:
    """A block with the comments of the one it stands for: behind its colon, and below its last statement."""
    if not isinstance(source, cst.IndentedBlock):
        return cst.IndentedBlock(list(body))
    below = [line for line in source.footer if line.comment is not None]
    return cst.IndentedBlock(list(body), header=source.header, footer=below)


def without_lines(new: S) -> S:
    """The statement without the lines above it."""
    return new.with_changes(leading_lines=()) if hasattr(new, "leading_lines") else new


def trailing(new: S, source: cst.CSTNode | None) -> S:
    """The comment at the end of the source line, at the end of the new one."""
    whitespace = getattr(source, "trailing_whitespace", None)
    if whitespace is None or whitespace.comment is None or not isinstance(new, cst.SimpleStatementLine):
        return new
    return new.with_changes(trailing_whitespace=whitespace)


def inner_comments(node: cst.CSTNode | None) -> list[cst.EmptyLine]:
    """Comments between the brackets of a statement that is printed anew: they go above it, in their order."""
    if node is None:
        return []
    outside = {id(line) for line in getattr(node, "leading_lines", ())}
    outside.add(id(getattr(node, "trailing_whitespace", None)))
    found: list[cst.EmptyLine] = []
    pending: list[cst.CSTNode] = [node]
    while pending:
        current = pending.pop()
        if id(current) in outside:
            continue
        if isinstance(current, cst.Comment):
            found.append(cst.EmptyLine(comment=current))
        pending.extend(reversed(current.children))
    return found


def loose_comments(node: cst.CSTNode | None) -> list[cst.EmptyLine]:
    """Every comment of a statement that leaves no trace but these: above it, inside it, behind it."""
    lines = [line for line in getattr(node, "leading_lines", ()) if line.comment is not None]
    behind = getattr(getattr(node, "trailing_whitespace", None), "comment", None)
    return [*lines, *inner_comments(node), *([cst.EmptyLine(comment=behind)] if behind is not None else [])]


def element_comments(new: S, element: cst.CSTNode) -> S:
    """The comment behind an element of a list display."""
    comment = _behind(element)
    if comment is None or not isinstance(new, cst.SimpleStatementLine):
        return new
    space = cst.TrailingWhitespace(whitespace=cst.SimpleWhitespace("  "), comment=comment)
    return new.with_changes(trailing_whitespace=space)


def _behind(element: cst.CSTNode) -> cst.Comment | None:
    after = getattr(getattr(element, "comma", None), "whitespace_after", None)
    return after.first_line.comment if isinstance(after, cst.ParenthesizedWhitespace) else None


def lines_before(display: cst.List | cst.Tuple, index: int) -> list[cst.EmptyLine]:
    """Comment lines that stand above an element of a list display."""
    if index:
        whitespace: object = getattr(display.elements[index - 1].comma, "whitespace_after", None)
    else:
        whitespace = display.lbracket.whitespace_after if isinstance(display, cst.List) else None
    if not isinstance(whitespace, cst.ParenthesizedWhitespace):
        return []
    return [cst.EmptyLine(comment=line.comment) for line in whitespace.empty_lines if line.comment is not None]


# ---------------------------------------------------------------- width


def wrapped(body: Sequence[cst.BaseStatement], indent: int) -> list[cst.BaseStatement]:
    """The statements, calls that reach beyond the width with an argument a line. `indent` counts columns."""
    return [_statement(statement, indent) for statement in body]


def _statement(statement: cst.BaseStatement, indent: int) -> cst.BaseStatement:
    if isinstance(statement, cst.SimpleStatementLine):
        return _line(statement, indent)
    if isinstance(statement, (cst.If, cst.For, cst.Else)):
        changed = statement.with_changes(body=_block(statement.body, indent + 4))
        if isinstance(changed, cst.If) and changed.orelse is not None:
            if isinstance(changed.orelse, cst.If):
                orelse: cst.CSTNode = _statement(changed.orelse, indent)
            else:
                orelse = changed.orelse.with_changes(body=_block(changed.orelse.body, indent + 4))
            changed = changed.with_changes(orelse=orelse)
        return changed
    return statement


def _block(body: cst.BaseSuite, indent: int) -> cst.BaseSuite:
    if not isinstance(body, cst.IndentedBlock):
        return body
    return body.with_changes(body=[_statement(item, indent) for item in body.body])


def _line(line: cst.SimpleStatementLine, indent: int) -> cst.SimpleStatementLine:
    bare = line.with_changes(leading_lines=(), trailing_whitespace=cst.TrailingWhitespace())
    text = cst.Module([]).code_for_node(bare).rstrip()
    if len(text) + indent <= WIDTH or "\n" in text or len(line.body) != 1:
        return line
    small = line.body[0]
    value = getattr(small, "value", None)
    if not isinstance(value, cst.Call) or not value.args:
        return line
    if len(value.args) == 1 and isinstance(value.args[0].value, cst.Call) and value.args[0].keyword is None:
        inner = value.args[0].with_changes(value=broken(value.args[0].value))
        return line.with_changes(body=[small.with_changes(value=value.with_changes(args=[inner]))])
    return line.with_changes(body=[small.with_changes(value=broken(value))])


def broken(call: cst.Call) -> cst.Call:
    """The call with every argument on a line of its own."""
    inner, outer = _newline("    "), _newline("")
    last = len(call.args) - 1
    args = [
        argument.with_changes(comma=cst.Comma(whitespace_after=outer if index == last else inner))
        for index, argument in enumerate(call.args)
    ]
    return call.with_changes(args=args, whitespace_before_args=inner)


def _newline(extra: str) -> cst.ParenthesizedWhitespace:
    return cst.ParenthesizedWhitespace(indent=True, last_line=cst.SimpleWhitespace(extra))
