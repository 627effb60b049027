"""Dependency groups of model-building functions, callees first."""

from __future__ import annotations

from migrator.facts import Definition
from migrator.rewrite.models.binding import Function


def components(found: dict[Definition, Function]) -> list[list[Function]]:
    """Dependency groups: functions that call one another, callees first. Only functions that share code are together.

    A helper's group holds everybody who calls it, since it can only become a class for all of them.
    """
    groups: dict[Definition, set[Definition]] = {definition: {definition} for definition in found}
    for function in found.values():
        for callee in function.callees:
            if found[callee].kind != "helper":
                continue
            joined = groups[function.definition] | groups[callee]
            for member in joined:
                groups[member] = joined
    unique = {id(group): group for group in groups.values()}
    return [_ordered([found[definition] for definition in group]) for group in unique.values()]


def _ordered(group: list[Function]) -> list[Function]:
    """Callees before callers; source order otherwise."""
    by_definition = {function.definition: function for function in group}
    done: list[Function] = []
    visiting: set[Definition] = set()

    def visit(function: Function) -> None:
        if function in done or function.definition in visiting:
            return
        visiting.add(function.definition)
        for callee in sorted(function.callees, key=lambda item: (item.file, item.name)):
            if callee in by_definition:
                visit(by_definition[callee])
        done.append(function)

    for function in sorted(group, key=lambda item: (item.definition.file, item.definition.name)):
        visit(function)
    return done
