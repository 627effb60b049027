"""An example's text as the rewriter sees it: names that begin with `tf.` are TensorFlow, and the styles of one call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import libcst as cst

from migrator.catalogue import Catalogue
from migrator.errors import MigrateError
from migrator.facts import Call, Resolution, Rule, Source
from migrator.rewrite.arguments import Bound, bind, code
from migrator.rewrite.calls import rewrite_calls
from migrator.rewrite.precedence import replace
from migrator.rewrite.values import dotted

IMPORTS = {"tf": "tensorflow", "np": "numpy", "math": "math"}


def parsed(text: str) -> cst.BaseExpression:
    """The expression. Raises MigrateError where it is none."""
    try:
        return cst.parse_expression(text)
    except cst.ParserSyntaxError:
        raise MigrateError(f"The example {text!r} is no Python expression.") from None


def resolution_of(tree: cst.BaseExpression, methods: Mapping[str, str]) -> Resolution:
    """What the names of an example mean; examples spell APIs by their canonical names.

    `methods` maps the last part of a method's name to the canonical one.
    """
    apis: dict[cst.CSTNode, str] = {}
    calls: list[Call] = []
    pending: list[cst.CSTNode] = [tree]
    while pending:
        node = pending.pop()
        name = dotted(node) if isinstance(node, (cst.Name, cst.Attribute)) else None
        if name is not None and name.startswith("tf."):
            apis[node] = name
            calls.append(Call("example", 1, 0, name, "reference", node))
            continue
        if isinstance(node, cst.Call) and _method(node) in methods:
            apis[node.func] = methods[_method(node)]
            calls.append(Call("example", 1, 0, apis[node.func], "method", node.func))
        pending.extend(node.children)
    source = Source("example", code(tree), cst.Module(body=[]))
    return Resolution(source, tuple(calls), (), apis, {}, IMPORTS)


def _method(call: cst.Call) -> str:
    """`numpy` for `x.numpy()`, nothing for `tf.abs(x)`."""
    if not isinstance(call.func, cst.Attribute) or (dotted(call.func) or "").startswith("tf."):
        return ""
    return call.func.attr.value


def methods_of(catalogue: Catalogue) -> dict[str, str]:
    """The methods that have an operation's rule, by the last part of their names."""
    rules = [rule for rule in catalogue if rule.torch is not None and rule.parameters[:1]]
    return {rule.tf.rsplit(".", 1)[1]: rule.tf for rule in rules if rule.parameters[0].name == "self"}


def translated(text: str, catalogue: Catalogue, keras: int, tensors: bool = True) -> str:
    """What the rewriter makes of an example, whose free names are TensorFlow tensors (`tensors`) or unknown.

    Raises MigrateError with the rewriter's reason where it leaves the example.
    """
    tree = parsed(text)
    methods = methods_of(catalogue) if tensors else {}
    found = rewrite_calls(tree, resolution_of(tree, methods), catalogue, keras)
    if found.left:
        raise MigrateError(f"{text} is left alone: {found.left[0].reason}.")
    return code(replace(tree, found.nodes))


def styles(rule: Rule, text: str) -> Iterator[str]:
    """The same call by keywords, by keywords in reverse order, by position, and without what has a default."""
    tree = parsed(text)
    call = next(calls_of(rule, tree), None)
    bound = None if call is None else bind(rule, call)
    if call is None or not isinstance(bound, Bound) or bound.variadic_name is not None:
        return
    given = {parameter.name: bound.given.get(parameter.name) for parameter in rule.parameters}
    keywords = [cst.Arg(node, keyword=cst.Name(name)) for name, node in given.items() if node is not None]
    required = [
        argument
        for argument, parameter in ((_keyword(keywords, item.name), item) for item in rule.parameters)
        if argument is not None and parameter.default is None
    ]
    for arguments in (keywords, keywords[::-1], _positional(rule, bound), required):
        plain = [item.with_changes(equal=_EQUAL) if item.keyword else item for item in arguments]
        new = call.with_changes(args=plain)
        yield code(replace(tree, {call: new}))


_EQUAL = cst.AssignEqual(whitespace_before=cst.SimpleWhitespace(""), whitespace_after=cst.SimpleWhitespace(""))


def _keyword(arguments: list[cst.Arg], name: str) -> cst.Arg | None:
    return next((item for item in arguments if item.keyword is not None and item.keyword.value == name), None)


def _positional(rule: Rule, bound: Bound) -> list[cst.Arg]:
    last = max((index for index, item in enumerate(rule.parameters) if item.name in bound.given), default=-1)
    arguments = []
    for parameter in rule.parameters[: last + 1]:
        if parameter.keyword_only:
            node = bound.given.get(parameter.name)
            arguments += [] if node is None else [cst.Arg(node, keyword=cst.Name(parameter.name))]
            continue
        node = bound.given.get(parameter.name) or cst.parse_expression(parameter.default or "None")
        arguments.append(cst.Arg(node))
    return arguments


def calls_of(rule: Rule, tree: cst.CSTNode) -> Iterator[cst.Call]:
    """The calls of the rule's APIs in an example."""
    names = {rule.tf, *rule.also}
    is_method = bool(rule.parameters) and rule.parameters[0].name == "self"
    method = rule.tf.rsplit(".", 1)[1] if is_method else None
    pending = [tree]
    while pending:
        node = pending.pop()
        if isinstance(node, cst.Call) and (dotted(node.func) in names or _method(node) == method):
            yield node
        pending.extend(node.children)
