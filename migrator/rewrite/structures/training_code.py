"""Small parts of new training code: calls with their keywords, and statements that keep the comments of old ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from migrator.rewrite.arguments import code
from migrator.rewrite.templates import expression

Statements = list[cst.BaseStatement]
WIDTH = 96  # of a call; indentation and what stands in front of it come on top


def call(
    function: str, *positional: cst.BaseExpression | str, **keywords: cst.BaseExpression | str | None
) -> cst.BaseExpression:
    """`function(positional…, keyword=value…)`; keywords that are None are left out, long calls take several lines."""
    parts = {f"p{index}": value for index, value in enumerate(positional)}
    parts |= {f"k_{name}": value for name, value in keywords.items() if value is not None}
    arguments = [f"{{p{index}}}" for index in range(len(positional))]
    arguments += [f"{name}={{k_{name}}}" for name, value in keywords.items() if value is not None]
    made = expression(f"{function}({', '.join(arguments)})", **parts)
    return _hanging(made) if isinstance(made, cst.Call) and len(code(made)) > WIDTH else made


def _hanging(made: cst.Call) -> cst.Call:
    """The same call with its arguments on a line of their own, or on one each where that is too long."""
    deeper, back = _line_break(4), _line_break(0)
    single = len(code(made)) - len(code(made.func)) <= WIDTH
    between = cst.SimpleWhitespace(" ") if single else deeper
    arguments = [item.with_changes(comma=cst.Comma(whitespace_after=between)) for item in made.args[:-1]]
    last = made.args[-1]
    if single:
        last = last.with_changes(whitespace_after_arg=back, comma=cst.MaybeSentinel.DEFAULT)
    else:
        last = last.with_changes(comma=cst.Comma(whitespace_after=back))
    return made.with_changes(whitespace_before_args=deeper, args=[*arguments, last])


def _line_break(indent: int) -> cst.ParenthesizedWhitespace:
    return cst.ParenthesizedWhitespace(
        first_line=cst.TrailingWhitespace(), indent=True, last_line=cst.SimpleWhitespace(" " * indent)
    )


def dictionary(items: Mapping[str, cst.BaseExpression]) -> cst.BaseExpression:
    """A dictionary display with text keys."""
    keys = list(items)
    display = ", ".join(f'"{key}": {{v{index}}}' for index, key in enumerate(keys))
    return expression("{{" + display + "}}", **{f"v{index}": items[key] for index, key in enumerate(keys)})


def literal(node: cst.BaseExpression) -> object:
    """The Python value of a literal; raises ValueError for anything else."""
    import ast

    try:
        return ast.literal_eval(code(node))
    except (ValueError, SyntaxError):
        raise ValueError(code(node)) from None


def constant(node: cst.BaseExpression, default: object = None) -> object:
    """The Python value of a literal, `default` for anything else."""
    try:
        return literal(node)
    except ValueError:
        return default


def simple(node: cst.BaseExpression) -> bool:
    """Whether evaluating the expression again and again costs nothing and gives the same."""
    if isinstance(node, cst.Name | cst.Integer | cst.Float | cst.SimpleString):
        return True
    if isinstance(node, cst.Attribute):
        return simple(node.value)
    if isinstance(node, cst.Subscript):
        return simple(node.value) and not any(_has_call(item) for item in node.slice)
    return isinstance(node, cst.List | cst.Tuple) and all(simple(item.value) for item in node.elements)


def _has_call(node: cst.CSTNode) -> bool:
    return isinstance(node, cst.Call) or any(_has_call(child) for child in node.children)


def in_place_of(old: cst.SimpleStatementLine, new: Sequence[cst.BaseStatement]) -> Statements:
    """`new` with the comments of `old`: those above it, those inside its brackets, and the one behind it."""
    if not new:
        return []
    kept = "\n".join(code(statement) for statement in new)
    inside = [cst.EmptyLine(comment=comment) for comment in _comments(old.body[0]) if comment.value not in kept]
    first = new[0]
    lines = [*old.leading_lines, *inside]
    changes: dict[str, object] = {}
    if old.trailing_whitespace.comment and len(new) == 1 and isinstance(first, cst.SimpleStatementLine):
        changes["trailing_whitespace"] = old.trailing_whitespace
    elif old.trailing_whitespace.comment:
        lines.append(cst.EmptyLine(comment=old.trailing_whitespace.comment))
    changes["leading_lines"] = [*lines, *getattr(first, "leading_lines", ())]
    return [first.with_changes(**changes), *new[1:]]


def element_comments(display: cst.List | cst.Tuple) -> list[list[cst.EmptyLine]]:
    """For each element of a display, the comments above it and behind it."""
    found: list[list[cst.EmptyLine]] = [[] for _ in display.elements]
    spaces: list[cst.CSTNode | None] = [getattr(getattr(display, "lbracket", None), "whitespace_after", None)]
    spaces += [getattr(item.comma, "whitespace_after", None) for item in display.elements]
    spaces.append(getattr(getattr(display, "rbracket", None), "whitespace_before", None))
    for index, space in enumerate(spaces):
        if found and isinstance(space, cst.ParenthesizedWhitespace):
            behind, above = min(max(index - 1, 0), len(found) - 1), min(index, len(found) - 1)
            if space.first_line.comment:
                found[behind].append(cst.EmptyLine(comment=space.first_line.comment))
            found[above] += [cst.EmptyLine(comment=line.comment) for line in space.empty_lines if line.comment]
    return found


def _comments(node: cst.CSTNode) -> list[cst.Comment]:
    if isinstance(node, cst.Comment):
        return [node]
    return [comment for child in node.children for comment in _comments(child)]
