"""A class name for every function, from what the source calls it."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from migrator.facts import Definition
from migrator.rewrite.arguments import code
from migrator.rewrite.models.binding import Function, own_nodes
from migrator.rewrite.models.names_used import binds, reads, target_names
from migrator.rewrite.models.naming import class_name


def class_names(functions: Mapping[Definition, Function]) -> dict[Definition, str]:
    """A class name for every function, free in its file."""
    chosen: dict[Definition, str] = {}
    for definition, function in functions.items():
        taken = _bound_in(function.resolution.source.module) | {
            name for other, name in chosen.items() if other.file == definition.file
        }
        stem = definition.file.rpartition("/")[2].removesuffix(".py")
        taken.discard(function.name)
        own = () if function.kind == "helper" else literal_names(function)
        first = function.name if function.kind == "helper" or hands_out(function) else (*own, stem)[0]
        name = class_name(first, taken, (*own, function.name, stem))
        if name == function.name and function.kind == "factory":
            name = class_name(function.name + "_module", taken | {name}, ())
        chosen[definition] = name
    return chosen


def hands_out(function: Function) -> bool:
    """Whether a function returns the model that it builds, judged by the text alone."""
    made = literal_names(function)
    for statement in function.body:
        for node in own_nodes(statement):
            if isinstance(node, cst.Return) and node.value is not None:
                names = reads(node.value)
                if names & set(made) or (isinstance(node.value, cst.Call) and _makes_model(node.value)):
                    return True
    return False


def _makes_model(node: cst.Call) -> bool:
    return code(node.func).rpartition(".")[2] in ("Model", "Sequential")


def literal_names(function: Function) -> tuple[str, ...]:
    """What a model calls itself: the literal `name=` of `Model` or `Sequential`, then the variable it is bound to."""
    literal: list[str] = []
    variables: list[str] = []
    for statement in function.body:
        for node in own_nodes(statement):
            if isinstance(node, cst.Call) and _makes_model(node):
                given = [item.value for item in node.args if item.keyword is not None and item.keyword.value == "name"]
                literal += [str(value.evaluated_value) for value in given if isinstance(value, cst.SimpleString)]
            if isinstance(node, cst.Assign) and isinstance(node.value, cst.Call) and _makes_model(node.value):
                variables += [name for target in node.targets for name in target_names(target.target)]
    return (*literal, *variables)


def _bound_in(module: cst.Module) -> set[str]:
    found: set[str] = set()
    for item in module.body:
        found |= binds(item)
    return found
