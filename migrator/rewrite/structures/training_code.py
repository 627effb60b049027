"""Small parts of new training code: calls with their keywords, and statements that keep the comments of old ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from migrator.rewrite.arguments import code
from migrator.rewrite.templates import expression

Statements = list[cst.BaseStatement]


def call(
    function: str, *positional: cst.BaseExpression | str, **keywords: cst.BaseExpression | str | None
) -> cst.BaseExpression:
    """`function(positional…, keyword=value…)`; keywords that are None are left out."""
    parts = {f"p{index}": value for index, value in enumerate(positional)}
    parts |= {f"k_{name}": value for name, value in keywords.items() if value is not None}
    arguments = [f"{{p{index}}}" for index in range(len(positional))]
    arguments += [f"{name}={{k_{name}}}" for name, value in keywords.items() if value is not None]
    return expression(f"{function}({', '.join(arguments)})", **parts)


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
    lines = [*old.leading_lines, *inside, *getattr(first, "leading_lines", ())]
    changes: dict[str, object] = {"leading_lines": lines}
    if isinstance(first, cst.SimpleStatementLine) and old.trailing_whitespace.comment:
        changes["trailing_whitespace"] = old.trailing_whitespace
    return [first.with_changes(**changes), *new[1:]]


def _comments(node: cst.CSTNode) -> list[cst.Comment]:
    if isinstance(node, cst.Comment):
        return [node]
    return [comment for child in node.children for comment in _comments(child)]
