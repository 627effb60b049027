"""Which argument of a call is which parameter of its rule, whatever the call style; or why that cannot be said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from migrator.catalogue.signature import same_value
from migrator.facts import Parameter, Rule


@dataclass(frozen=True)
class Refusal:
    """Why a call is left alone, in words for a person."""

    reason: str


@dataclass(frozen=True)
class Bound:
    """A call's arguments by parameter name; `arguments` holds the original nodes, for their comments."""

    rule: Rule
    given: Mapping[str, cst.BaseExpression]
    arguments: Mapping[str, cst.Arg]
    variadic: tuple[cst.Arg, ...] = ()

    @property
    def variadic_name(self) -> str | None:
        """The name after the star in the signature, where there is one."""
        names = [item.name for item in self.rule.parameters if item.variadic and not item.keyword_only]
        return names[0] if names else None

    def left_out(self, name: str) -> bool:
        """Whether the parameter was not given, or was given its own default."""
        if name not in self.given:
            return True
        default = _parameter(self.rule, name).default
        return default is not None and same_value(code(self.given[name]), default)

    def value(self, name: str) -> cst.BaseExpression:
        """What the call passes; where it leaves the parameter out, the rule's `fill`, else the signature's default.

        Raises KeyError for a name that the signature does not have.
        """
        parameter = _parameter(self.rule, name)
        if not self.left_out(name):
            return self.given[name]
        text = self.rule.fill.get(name, parameter.default)
        if text is None:
            raise KeyError(name)
        return cst.parse_expression(text)


def code(node: cst.CSTNode) -> str:
    """A node as source text."""
    return cst.Module(body=[]).code_for_node(node)


def bind(rule: Rule, call: cst.Call) -> Bound | Refusal:
    """The call's arguments by parameter, or the reason why it must be left: star arguments, unknown, missing or
    doubled ones, and parameters that the rule refuses when they are given another value than their default."""
    positional = len([item for item in rule.parameters if not item.keyword_only and not item.variadic])
    starred = any(item.variadic and not item.keyword_only for item in rule.parameters)
    unnamed = [argument for argument in call.args if argument.keyword is None and not argument.star]
    variadic = tuple(unnamed[positional:]) if starred else ()
    arguments = _matched(rule, [argument for argument in call.args if argument not in variadic])
    if isinstance(arguments, Refusal):
        return arguments
    bound = Bound(rule, {name: argument.value for name, argument in arguments.items()}, arguments, variadic)
    for parameter in rule.parameters:
        if parameter.default is None and not parameter.variadic and parameter.name not in arguments:
            return Refusal(f"{rule.tf} needs `{parameter.name}`, which this call does not pass")
    for name in rule.refuse:
        if not bound.left_out(name):
            return Refusal(f"`{name}={code(bound.given[name])}` of {rule.tf} has no faithful translation yet")
    return bound


def _matched(rule: Rule, given: Sequence[cst.Arg]) -> dict[str, cst.Arg] | Refusal:
    positional = [item for item in rule.parameters if not item.keyword_only and not item.variadic]
    names = {item.name for item in rule.parameters if not item.variadic}
    arguments: dict[str, cst.Arg] = {}
    for index, argument in enumerate(given):
        if argument.star:
            return Refusal(f"`{argument.star}` hides which arguments {rule.tf} gets")
        if argument.keyword is None:
            if index >= len(positional):
                return Refusal(f"{rule.tf} takes {len(positional)} positional arguments, this call passes more")
            name = positional[index].name
        else:
            name = argument.keyword.value
            if name not in names:
                return Refusal(f"{rule.tf} has no parameter `{name}` in the supported versions")
        if name in arguments:
            return Refusal(f"{rule.tf} gets `{name}` twice")
        arguments[name] = argument
    return arguments


def _parameter(rule: Rule, name: str) -> Parameter:
    for parameter in rule.parameters:
        if parameter.name == name:
            return parameter
    raise KeyError(name)
