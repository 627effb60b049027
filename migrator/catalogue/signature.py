"""Text of a rule taken apart: `tf.nn.softmax(logits, axis=None)` into parameters, a template into its placeholders."""

from __future__ import annotations

import ast
import re

from migrator.errors import MigrateError
from migrator.facts import Parameter

# a doubled brace (literal) or a placeholder; group 1 is the placeholder's name
PLACEHOLDER = re.compile(r"\{\{|\}\}|\{([A-Za-z_]\w*)\}")


def parse_signature(text: str) -> tuple[str, tuple[Parameter, ...] | None]:
    """Name and parameters of a signature; None where there are no parentheses, that is for a constant.

    Raises MigrateError when the text is no signature.
    """
    name, bracket, rest = text.strip().partition("(")
    if not re.fullmatch(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", name.strip()):
        raise MigrateError(f"{text!r} does not start with a dotted name.")
    if not bracket:
        return name.strip(), None
    try:
        tree = ast.parse(f"def f({rest}: pass")
    except SyntaxError:
        raise MigrateError(f"{text!r} is no signature that Python can read.") from None
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    return name.strip(), _parameters(function.args)


def _parameters(arguments: ast.arguments) -> tuple[Parameter, ...]:
    plain = [*arguments.posonlyargs, *arguments.args]
    without: list[ast.expr | None] = [None] * (len(plain) - len(arguments.defaults))
    result = [
        Parameter(argument.arg, _text(default))
        for argument, default in zip(plain, [*without, *arguments.defaults], strict=True)
    ]
    if arguments.vararg:
        result.append(Parameter(arguments.vararg.arg, None, variadic=True))
    for argument, default in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        result.append(Parameter(argument.arg, _text(default), keyword_only=True))
    if arguments.kwarg:
        result.append(Parameter(arguments.kwarg.arg, None, keyword_only=True, variadic=True))
    return tuple(result)


def _text(default: ast.expr | None) -> str | None:
    return None if default is None else ast.unparse(default)


def placeholders(template: str) -> tuple[str, ...]:
    """Names in braces, in order of first use. Raises MigrateError on a brace that is neither doubled nor a name's."""
    stray = re.search(r"[{}]", PLACEHOLDER.sub("", template))
    if stray:
        raise MigrateError(f"The template {template!r} has a stray brace: double it, or put a parameter's name inside.")
    names = [found.group(1) for found in PLACEHOLDER.finditer(template) if found.group(1)]
    return tuple(dict.fromkeys(names))


def same_value(left: str, right: str) -> bool:
    """Whether two pieces of source text denote the same literal, or are the same expression up to spelling."""
    try:
        one, other = ast.parse(left.strip(), mode="eval"), ast.parse(right.strip(), mode="eval")
    except SyntaxError:
        return left == right
    try:
        a, b = ast.literal_eval(one), ast.literal_eval(other)
    except (ValueError, TypeError):
        return ast.dump(one) == ast.dump(other)
    return bool(a == b) and type(a) is type(b)
