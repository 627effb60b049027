"""What a call gives to a parameter, as source text, without evaluating anything."""

from __future__ import annotations

import libcst as cst

from migrator.facts import Call, Parameter


def keywords(call: Call) -> dict[str, cst.BaseExpression]:
    """The keyword arguments of a call."""
    arguments = call.site.args if call.site is not None else ()
    return {argument.keyword.value: argument.value for argument in arguments if argument.keyword is not None}


def given(call: Call, parameters: tuple[Parameter, ...]) -> dict[str, cst.BaseExpression]:
    """Arguments by parameter name, as far as they can be told without running the code (stars end the positions)."""
    found = keywords(call)
    names = [parameter.name for parameter in parameters if not parameter.keyword_only and not parameter.variadic]
    position = 0
    for argument in call.site.args if call.site is not None else ():
        if argument.star:
            break
        if argument.keyword is None:
            if position < len(names):
                found.setdefault(names[position], argument.value)
            position += 1
    return found


def star(call: Call) -> str:
    """`*` or `**` where the call passes arguments that reading cannot tell; empty where it does not."""
    given_stars = [argument.star for argument in (call.site.args if call.site is not None else ()) if argument.star]
    return given_stars[0] if given_stars else ""


def text(node: cst.CSTNode) -> str:
    """The source text of an expression."""
    return cst.Module([]).code_for_node(node)


def literal(node: cst.BaseExpression | None) -> object:
    """The value of a literal (numbers, text, tuples of them); an ellipsis where it is anything else, None for None."""
    if isinstance(node, (cst.SimpleString, cst.ConcatenatedString, cst.Integer, cst.Float)):
        return node.evaluated_value
    if isinstance(node, (cst.Tuple, cst.List)):
        return tuple(literal(item.value) for item in node.elements)
    if node is None or (isinstance(node, cst.Name) and node.value == "None"):
        return None
    return ...
