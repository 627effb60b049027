"""Helpers that became classes, under their new names wherever they are imported or exported."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import libcst as cst

from migrator.facts import Definition, Project, Resolution
from migrator.rewrite.models.binding import Function, declarations, own_nodes
from migrator.rewrite.models.group import Printed
from migrator.rewrite.models.names_used import binds
from migrator.rewrite.session import Proposal
from migrator.rewrite.structures.model_checks import At

Edits = dict[cst.CSTNode, Sequence[cst.CSTNode]]
Claims = dict[tuple[str, str], Definition]


@dataclass(frozen=True)
class Arrival:
    """A class imported in a file under its new name, where a helper was known by another."""

    path: str
    before: str
    name: str
    definition: Definition


def renamed_imports(printed: Sequence[Printed], project: Project) -> tuple[list[tuple[str, Proposal]], list[Arrival]]:
    """`from blocks import res_block` becomes `from blocks import ResBlock` wherever it stands.

    Raises Refused where the new name would not arrive: through `import *`.
    """
    renamed = {
        item.function.definition: item.summary.class_name
        for item in printed
        if item.function.kind == "helper" and item.summary.class_name != item.function.name
    }
    functions = {item.function.definition: item.function for item in printed}
    found: list[tuple[str, Proposal]] = []
    arrivals: list[Arrival] = []
    for path, resolution in project.resolutions.items() if renamed else ():
        edits: Edits = {}
        for alias in _aliases(resolution):
            definition = _imported(resolution, alias, renamed)
            if definition in renamed:
                edits[alias] = [alias.with_changes(name=cst.Name(renamed[definition]), asname=None)]
                arrivals.append(Arrival(path, local_name(alias), renamed[definition], definition))
        arrived = {item.definition for item in arrivals if item.path == path}
        _check_stars(path, resolution, arrived, renamed, functions)
        edits |= _exports(path, resolution, edits, renamed)
        if edits:
            found.append((path, Proposal(edits)))
    return found, arrivals


def _aliases(resolution: Resolution) -> list[cst.ImportAlias]:
    return [
        alias
        for node in declarations(resolution.source.module)
        if isinstance(node, cst.ImportFrom) and not isinstance(node.names, cst.ImportStar)
        for alias in node.names
    ]


def local_name(alias: cst.ImportAlias) -> str:
    """The name that an import binds in its file."""
    name = alias.asname.name if alias.asname is not None else alias.name
    return name.value if isinstance(name, cst.Name) else ""


def _imported(resolution: Resolution, alias: cst.ImportAlias, renamed: Mapping[Definition, str]) -> Definition | None:
    """What an import brings in, judged by the resolution or else by the file's own uses of the name."""
    known = resolution.definitions.get(alias.name)
    if known is not None or not isinstance(alias.name, cst.Name):
        return known
    for node, definition in resolution.definitions.items():
        if isinstance(node, cst.Name) and node.value == local_name(alias) and definition in renamed:
            return definition if definition.file != resolution.source.path else None
    return None


def _check_stars(
    path: str,
    resolution: Resolution,
    arrived: set[Definition],
    renamed: Mapping[Definition, str],
    functions: Mapping[Definition, Function],
) -> None:
    """Every plain name of a helper must come from an import that is renamed with it."""
    for node, definition in resolution.definitions.items():
        if not isinstance(node, cst.Name) or definition not in renamed or definition.file == path:
            continue
        if definition not in arrived:
            raise At(f"`{definition.name}` reaches {path} by way of `import *`", None, functions[definition])


def _exports(path: str, resolution: Resolution, edits: Edits, renamed: Mapping[Definition, str]) -> Edits:
    """The names in `__all__`."""
    new = {definition.name: name for definition, name in renamed.items() if definition.file == path}
    for alias, nodes in edits.items():
        (changed,) = nodes
        if isinstance(alias, cst.ImportAlias) and isinstance(changed, cst.ImportAlias):
            new[local_name(alias)] = local_name(changed)
    found: Edits = {}
    for statement in resolution.source.module.body if new else ():
        if isinstance(statement, cst.SimpleStatementLine) and "__all__" in binds(statement):
            for node in own_nodes(statement):
                if isinstance(node, cst.SimpleString) and node.evaluated_value in new:
                    found[node] = [node.with_changes(value=f"{node.quote}{new[str(node.evaluated_value)]}{node.quote}")]
    return found


def claim_names(printed: Sequence[Printed], arrivals: Sequence[Arrival], claims: Claims) -> None:
    """Notes the names that a group binds in each file. Raises Refused where one is taken by something else."""
    functions = {item.function.definition: item.function for item in printed}
    mine: Claims = {}
    for item in printed:
        _claim(mine, item.function.definition.file, item.summary.class_name, item.function)
    for arrival in arrivals:
        if arrival.name == arrival.before:
            claims.pop((arrival.path, arrival.name), None)  # its own name until now
        _claim(mine, arrival.path, arrival.name, functions[arrival.definition])
    for (path, name), definition in mine.items():
        other = claims.get((path, name))
        if other is not None and other != definition:
            raise At(_clash(name, path, other), None, functions[definition])
    claims.update(mine)


def _claim(claims: Claims, path: str, name: str, function: Function) -> None:
    other = claims.setdefault((path, name), function.definition)
    if other != function.definition:
        raise At(_clash(name, path, other), None, function)


def _clash(name: str, path: str, other: Definition) -> str:
    return f"its class would be called `{name}` in {path} like that of `{other.name or 'the model'}` of {other.file}"


def own_claims(project: Project, functions: Mapping[Definition, Function]) -> Claims:
    """Names that the files bind already, but those of the functions that classes take the place of."""
    found: Claims = {}
    for path, resolution in project.resolutions.items():
        for statement in resolution.source.module.body:
            for name in binds(statement):
                definition = Definition(path, name)
                if definition not in functions:
                    found[(path, name)] = definition
    return found
