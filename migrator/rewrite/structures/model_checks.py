"""What a dependency group must not touch if it is to be rewritten: uses elsewhere, double names, names read later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from migrator.catalogue import Catalogue
from migrator.facts import Definition, Project
from migrator.rewrite.models.binding import Function, Names, declarations, own_nodes
from migrator.rewrite.models.group import Printed
from migrator.rewrite.models.inputs import ModelBody
from migrator.rewrite.models.ir import Refused
from migrator.rewrite.models.names_used import binds, reads


class At(Refused):
    """A refusal at a function of the group that is not the one being read."""

    def __init__(self, reason: str, node: cst.CSTNode | None, function: Function) -> None:
        super().__init__(reason, node)
        self.function = function


def check_members(members: Sequence[Function]) -> None:
    """A function defined twice is ambiguous, and one that declares global names may not become a class."""
    for function in members:
        module = function.resolution.source.module
        if isinstance(function.node, cst.FunctionDef):
            twins = [node for node in declarations(module) if _named(node, function.name)]
            if len(twins) > 1:
                raise At(f"`{function.name}` is defined {len(twins)} times in this file", function.node, function)
        for statement in function.body:
            if isinstance(function.node, cst.Module) and isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
                continue
            for node in own_nodes(statement):
                if isinstance(node, (cst.Global, cst.Nonlocal)):
                    names = ", ".join(item.name.value for item in node.names)
                    raise At(f"`{names}` is shared with other functions by a global statement", node, function)


def _named(node: cst.CSTNode, name: str) -> bool:
    return isinstance(node, (cst.FunctionDef, cst.ClassDef)) and node.name.value == name


def check_unused_elsewhere(
    members: Sequence[Function], functions: Mapping[Definition, Function], project: Project, catalogue: Catalogue
) -> None:
    """A helper that somebody outside the group uses cannot change its form."""
    helpers = {function.definition: function for function in members if function.kind == "helper"}
    if not helpers:
        return
    accounted: set[int] = set()
    for function in members:
        names = Names(function.resolution, catalogue, function.keras)
        for statement in function.body:
            for node in own_nodes(statement):
                if isinstance(node, cst.Call) and names.definition(node.func) in helpers:
                    accounted |= {id(inner) for inner in own_nodes(node.func)}
    for path, resolution in project.resolutions.items():
        if not helpers.keys() & set(resolution.definitions.values()):
            continue
        accounted |= _declaring_nodes(resolution.source.module)
        for node, definition in resolution.definitions.items():
            if definition in helpers and id(node) not in accounted:
                raise At(
                    f"`{definition.name}` is also used in {path} where no model is built", None, helpers[definition]
                )


def _declaring_nodes(module: cst.Module) -> set[int]:
    """Names that only declare: in imports, and those of the functions themselves."""
    found: set[int] = set()
    for node in declarations(module):
        if isinstance(node, (cst.Import, cst.ImportFrom)):
            found |= {id(inner) for inner in own_nodes(node)}
        elif isinstance(node, cst.FunctionDef):
            found.add(id(node.name))
    return found


def check_names_after(printed: Sequence[Printed]) -> None:
    """What a statement of the model binds moves into the class with it, and must not be read outside."""
    for item in printed:
        model = item.model
        if model is None:
            continue
        moved = _bound_inside(model)
        for statement in model.after:
            _not_read(statement, moved, item)
            moved -= binds(statement) if isinstance(statement, cst.SimpleStatementLine) else set()
        if isinstance(item.function.node, cst.Module):
            _check_script(item, _bound_inside(model))


def _bound_inside(model: ModelBody) -> set[str]:
    inside = [statement for statement in model.inside if statement is not model.creation]
    own = binds(model.creation) if model.creation is not None else set()
    return set().union(*(binds(statement) for statement in inside)) - own


def _not_read(statement: cst.CSTNode, moved: set[str], item: Printed) -> None:
    names = sorted(reads(statement) & moved)
    if names:
        raise At(
            f"`{names[0]}` is set among the layers of the model and read again after it: set it apart from them",
            statement,
            item.function,
        )


def _check_script(item: Printed, moved: set[str]) -> None:
    """Functions and classes of the file, and other files, may read what a script's model statements bind."""
    for statement in item.function.resolution.source.module.body:
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            _not_read(statement, moved, item)
            shared = {
                name.name.value for node in own_nodes(statement) if isinstance(node, cst.Global) for name in node.names
            }
            variables = moved | (binds(item.model.creation) if item.model and item.model.creation else set())
            if shared & variables:
                name = sorted(shared & variables)[0]
                raise At(f"`{name}` is shared with this function by a global statement", statement, item.function)
