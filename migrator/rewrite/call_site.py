"""One call of an operation with a template rule: the PyTorch expression for it, or why it stays.

Arguments are bound by name, the first template whose conditions hold is taken, and what TensorFlow does silently to
arguments is written out: numbers and lists become tensors, dtypes get their PyTorch name. Comments inside the call
and its line breaks stay with the arguments they belong to; a call whose comment would be lost is left.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

import libcst as cst

from migrator.catalogue.checks import templates
from migrator.catalogue.conditions import DTYPES
from migrator.catalogue.signature import PLACEHOLDER, placeholders
from migrator.facts import Resolution, Rule
from migrator.rewrite.arguments import Bound, Refusal, bind, code
from migrator.rewrite.conditions import holds
from migrator.rewrite.templates import Part, expression, fill, imports_of
from migrator.rewrite.values import all_numbers, all_whole, dtype_name, is_number, is_simple, literal_items

Finish = Callable[[cst.BaseExpression], cst.BaseExpression]


class Printed(NamedTuple):
    """The PyTorch expression for a call, and the import statements that it needs."""

    node: cst.BaseExpression
    imports: set[str]


class Chosen(NamedTuple):
    """A template whose conditions hold, with what it means where parameters are left out."""

    template: str
    fills: Mapping[str, str]


def rewritten(
    rule: Rule, call: cst.Call, resolution: Resolution, place: str | None, finish: Finish
) -> Printed | Refusal:
    """The call as PyTorch. `finish` applies to each argument what was already decided for the calls inside it."""
    bound = bind(rule, _with_receiver(call, rule))
    if isinstance(bound, Refusal):
        return bound
    chosen = _chosen(rule, bound, resolution, place)
    if isinstance(chosen, Refusal):
        return chosen
    parts = _parts(chosen, bound, resolution, finish)
    if isinstance(parts, Refusal):
        return parts
    left_out = [name for name in placeholders(chosen.template) if name not in chosen.fills and bound.left_out(name)]
    result = _with_layout(fill(chosen.template, parts, left_out), call, bound, parts)
    if "#" in code(call) and _comments(call) - _comments(result):
        return Refusal("a comment inside the call would be lost: move it above the statement")
    return Printed(result, imports_of(" ".join([chosen.template, *chosen.fills.values()])) | _inserted(bound, parts))


def _inserted(bound: Bound, parts: Mapping[str, Part]) -> set[str]:
    """What arguments need that were written out: `torch.tensor(0.5)`, `torch.float32`."""
    found: set[str] = set()
    for name, part in parts.items():
        if name in bound.given and isinstance(part, cst.BaseExpression) and part is not bound.given[name]:
            found |= imports_of(code(part)) - imports_of(code(bound.given[name]))
    return found


def chosen_template(rule: Rule, call: cst.Call, resolution: Resolution, place: str | None) -> str | None:
    """The template that `rewritten` takes for this call, None where it refuses."""
    bound = bind(rule, _with_receiver(call, rule))
    found = None if isinstance(bound, Refusal) else _chosen(rule, bound, resolution, place)
    return found.template if isinstance(found, Chosen) else None


def _with_receiver(call: cst.Call, rule: Rule) -> cst.Call:
    """A method's call as its rule sees it: what stands before the dot is `self`."""
    method = rule.parameters[:1] and rule.parameters[0].name == "self"
    if not method or not isinstance(call.func, cst.Attribute):
        return call
    return call.with_changes(args=[cst.Arg(call.func.value), *call.args])


def _chosen(rule: Rule, bound: Bound, resolution: Resolution, place: str | None) -> Chosen | Refusal:
    for template, when, fills in templates(rule):
        if holds(when, bound, resolution, place):
            return Chosen(template, fills)
    return Refusal(f"{rule.tf} has no faithful translation for these arguments: {_told(bound)}")


def _told(bound: Bound) -> str:
    return ", ".join(f"{name}={code(node)}" for name, node in bound.given.items()) or "none"


def _parts(chosen: Chosen, bound: Bound, resolution: Resolution, finish: Finish) -> dict[str, Part] | Refusal:
    uses = Counter(found.group(1) for found in PLACEHOLDER.finditer(chosen.template))
    parts: dict[str, Part] = {}
    for name in placeholders(chosen.template):
        if name == bound.variadic_name:
            parts[name] = _several(bound, finish)
            continue
        if bound.left_out(name):
            default = _left_out(name, chosen, bound)
            if default is not None:
                parts[name] = default
            continue
        part = _given(name, bound, resolution, finish)
        if isinstance(part, Refusal):
            return part
        if uses[name] > 1 and not is_simple(bound.given[name]):
            return Refusal(f"`{code(part)}` would be evaluated {uses[name]} times: give it a name first")
        parts[name] = part
    return parts


def _several(bound: Bound, finish: Finish) -> list[cst.Arg]:
    """The arguments that `*inputs` collects, as arguments."""
    return [cst.Arg(finish(argument.value)) for argument in bound.variadic]


def _left_out(name: str, chosen: Chosen, bound: Bound) -> cst.BaseExpression | None:
    """What stands for a parameter that was not given; None where only a keyword argument needs it, which goes."""
    if name in chosen.fills:
        return expression(chosen.fills[name])
    try:
        return bound.value(name)
    except KeyError:
        return None


def _given(name: str, bound: Bound, resolution: Resolution, finish: Finish) -> cst.BaseExpression | Refusal:
    node = bound.given[name]
    if name in DTYPES:
        return _dtype(node, resolution, finish)
    if name in bound.rule.tensors:
        return _tensor(node, resolution, finish)
    return finish(node)


def _dtype(node: cst.BaseExpression, resolution: Resolution, finish: Finish) -> cst.BaseExpression | Refusal:
    name = dtype_name(node, resolution)
    if name is not None:
        return expression("torch.{name}", name=name)
    if isinstance(node, cst.Attribute) and node.attr.value == "dtype" and node not in resolution.apis:
        return finish(node)
    return Refusal(f"which dtype `{code(node)}` is cannot be read from the code")


def _tensor(node: cst.BaseExpression, resolution: Resolution, finish: Finish) -> cst.BaseExpression | Refusal:
    """TensorFlow turns numbers and lists into tensors by itself: float32, or int32 for whole numbers."""
    if all_numbers(node, resolution):
        template = "torch.tensor({x}, dtype=torch.int32)" if all_whole(node) else "torch.tensor({x})"
        return expression(template, x=finish(node))
    items = literal_items(node)
    if items is None:
        return finish(node)
    if not items or any(literal_items(item) is not None or is_number(item, resolution) for item in items):
        return Refusal(f"the list `{code(node)}` mixes what PyTorch cannot stack: make it a tensor first")
    return expression("torch.stack({x})", x=finish(node))


def _with_layout(
    result: cst.BaseExpression, call: cst.Call, bound: Bound, parts: Mapping[str, Part]
) -> cst.BaseExpression:
    """Gives the arguments of a call that was spread over lines the line breaks and comments they had."""
    if not isinstance(result, cst.Call) or "\n" not in code(call):
        return result
    origin = {id(part): bound.arguments[name] for name, part in parts.items() if name in bound.arguments}
    arguments = []
    for argument in result.args:
        source = origin.get(id(argument.value))
        if source is None:
            arguments.append(argument)
            continue
        arguments.append(argument.with_changes(comma=source.comma, whitespace_after_arg=source.whitespace_after_arg))
    for index, argument in enumerate(arguments[:-1]):
        if not isinstance(argument.comma, cst.Comma):
            comma = cst.Comma(whitespace_after=cst.SimpleWhitespace(" "))
            arguments[index] = argument.with_changes(comma=comma)
    return result.with_changes(args=arguments, whitespace_before_args=call.whitespace_before_args)


def _comments(node: cst.CSTNode) -> Counter[str]:
    found: Counter[str] = Counter()
    pending: list[cst.CSTNode] = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, cst.Comment):
            found[current.value] += 1
        pending.extend(current.children)
    return found
