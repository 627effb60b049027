"""Functional and Sequential models of the whole project: proposals by file, and what training code must know of them.

Models are read in dependency groups (a helper and everybody who calls it), because a helper can only become a class
for all of its callers. A group that holds something that is not understood stays as it was, with one reason at the
line that is to blame.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from migrator.catalogue import Catalogue
from migrator.facts import Definition, Left, Pair, Profile, Project, Site
from migrator.rewrite.models.binding import Function, Names, components, find_functions, own_nodes
from migrator.rewrite.models.class_names import class_names
from migrator.rewrite.models.creation import model_variable, returns_model
from migrator.rewrite.models.group import Group, Printed
from migrator.rewrite.models.ir import Refused
from migrator.rewrite.models.names_used import reads
from migrator.rewrite.models.pairs import output_width, pair_of
from migrator.rewrite.positions import Lines
from migrator.rewrite.session import ModelFacts, Proposal
from migrator.rewrite.support import public_names
from migrator.rewrite.templates import imports_of


@dataclass
class Models:
    """What became of all models of a project."""

    proposals: dict[str, list[Proposal]] = field(default_factory=dict)
    facts: dict[Definition | cst.CSTNode, ModelFacts] = field(default_factory=dict)
    pairs: list[Pair] = field(default_factory=list)
    widths: dict[str, int] = field(default_factory=dict)  # by pair: channels of the only output, where they are known


def propose_models(project: Project, catalogue: Catalogue, profile: Profile) -> Models:
    """Every model that can be rewritten, and why the others cannot."""
    functions = find_functions(project, catalogue)
    names = class_names(functions)
    models = Models()
    lines = {path: Lines(resolution) for path, resolution in project.resolutions.items()}
    for members in components(functions):
        if all(function.kind == "helper" and not function.tensors for function in members):
            continue
        group = Group(members, functions, catalogue, profile, names)
        try:
            _unused_elsewhere(members, functions, project, catalogue)
            printed = group.rewrite()
            proposals = [(item.function.definition.file, _proposal(item, lines)) for item in printed]
            proposals += _renamed_imports(printed, project)
        except Refused as refused:
            _leave(models, group, refused, lines)
            continue
        for path, proposal in proposals:
            models.proposals.setdefault(path, []).append(proposal)
        for item in printed:
            _note(models, item)
    return models


# ---------------------------------------------------------------- what stays


def _leave(models: Models, group: Group, refused: Refused, lines: Mapping[str, Lines]) -> None:
    function = group.current
    path = function.definition.file
    place = refused.node if refused.node is not None else function.node
    line = lines[path].line(place) or lines[path].line(function.node)
    others = len(group.functions) - 1
    reason = refused.reason + (f" ({others} other functions depend on it)" if others else "")
    left = Left(path, line, refused.rule, reason)
    models.proposals.setdefault(path, []).append(Proposal(left=(left,)))
    for member in group.functions:
        file = member.definition.file
        site = Site(file, lines[file].line(member.node), "model", member.name or "module", False)
        models.proposals.setdefault(file, []).append(Proposal(sites=(site,)))


def _unused_elsewhere(
    members: Sequence[Function], functions: Mapping[Definition, Function], project: Project, catalogue: Catalogue
) -> None:
    """A helper that somebody outside the group uses cannot change its form."""
    helpers = {function.definition for function in members if function.kind == "helper"}
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
        if not helpers & set(resolution.definitions.values()):
            continue
        accounted |= _declaring_nodes(resolution.source.module)
        for node, definition in resolution.definitions.items():
            if definition in helpers and id(node) not in accounted:
                raise Refused(f"`{definition.name}` is also used in {path} where no model is built", None)


def _declaring_nodes(module: cst.Module) -> set[int]:
    """Names that only declare: in imports, and those of the functions themselves."""
    found: set[int] = set()
    for node in own_nodes(module):
        if isinstance(node, (cst.Import, cst.ImportFrom)):
            found |= {id(inner) for inner in own_nodes(node)}
        elif isinstance(node, cst.FunctionDef):
            found.add(id(node.name))
    return found


# ---------------------------------------------------------------- what changes


def _proposal(item: Printed, lines: Mapping[str, Lines]) -> Proposal:
    function, definition = item.function, item.definition
    assert definition is not None
    text = cst.Module([definition]).code
    support = reads(definition) & public_names()
    _no_clash(function, support)
    edits = _edits(item, definition)
    site = Site(
        function.definition.file,
        lines[function.definition.file].line(function.node),
        "model",
        definition.name.value,
        True,
    )
    return Proposal(
        edits,
        frozenset(imports_of(text) | {"from torch import nn"}),
        frozenset(support),
        (site,),
    )


def _no_clash(function: Function, support: set[str]) -> None:
    """A support piece whose name the file uses for something of its own cannot be imported."""
    for statement in function.resolution.source.module.body:
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)) and statement.name.value in support:
            raise Refused(f"`{statement.name.value}` is a name of this file and of the support code", statement)


def _edits(item: Printed, definition: cst.ClassDef) -> dict[cst.CSTNode, Sequence[cst.CSTNode]]:
    node, model = item.function.node, item.model
    if model is None:
        assert isinstance(node, cst.FunctionDef)
        return {node: [definition.with_changes(leading_lines=_spaced(node.leading_lines))]}
    call = _construction(item)
    assert model.creation is not None
    small = model.creation.body[0]
    assert isinstance(small, (cst.Assign, cst.Return, cst.Expr, cst.AnnAssign))
    lines = model.creation.leading_lines if model.sequential else ()  # else they are in `forward` with the outputs
    creation = model.creation.with_changes(body=[small.with_changes(value=call)], leading_lines=lines)
    if isinstance(node, cst.Module):
        edits: dict[cst.CSTNode, Sequence[cst.CSTNode]] = {statement: [] for statement in model.inside}
        edits[model.inside[0]] = [definition, *([] if len(model.inside) > 1 else [_apart(creation)])]
        if len(model.inside) > 1:
            edits[model.inside[-1]] = [_apart(creation)]
        return edits
    body: list[cst.BaseStatement] = [*model.before, creation, *model.after]
    if model.docstring is not None and not returns_model(model):
        body.insert(0, model.docstring)
    if _is_wrapper(item, body):
        return {node: [definition.with_changes(leading_lines=_spaced(node.leading_lines))]}
    function = node.with_changes(body=cst.IndentedBlock(body), leading_lines=_two_blank())
    return {node: [definition.with_changes(leading_lines=_spaced(node.leading_lines)), function]}


def _is_wrapper(item: Printed, body: Sequence[cst.BaseStatement]) -> bool:
    """Whether the class itself takes the place of the factory: a CamelCase name and nothing else to do."""
    return item.summary.class_name == item.function.name and len(body) == 1


def _apart(statement: cst.SimpleStatementLine) -> cst.SimpleStatementLine:
    return statement.with_changes(leading_lines=_spaced(statement.leading_lines))


def _two_blank() -> list[cst.EmptyLine]:
    return [cst.EmptyLine(indent=False), cst.EmptyLine(indent=False)]


def _spaced(lines: Sequence[cst.EmptyLine]) -> list[cst.EmptyLine]:
    """Two blank lines at least, and the comments that stood above."""
    comments = list(lines)
    while comments and comments[0].comment is None:
        comments.pop(0)
    return [*_two_blank(), *comments]


def _construction(item: Printed) -> cst.BaseExpression:
    """The class called with the function's own parameters, and the local names that it needs besides."""
    arguments = [cst.Arg(cst.Name(name)) for name in item.outside]
    keyword_only: set[str] = set()
    if isinstance(item.function.node, cst.FunctionDef):
        keyword_only = {param.name.value for param in item.function.node.params.kwonly_params}
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    for name in item.parameters:
        if name in keyword_only:
            arguments.append(cst.Arg(cst.Name(name), keyword=cst.Name(name), equal=equal))
        else:
            arguments.append(cst.Arg(cst.Name(name)))
    return cst.Call(func=cst.Name(item.summary.class_name), args=arguments)


def _renamed_imports(printed: Sequence[Printed], project: Project) -> list[tuple[str, Proposal]]:
    """`from blocks import res_block` becomes `from blocks import ResBlock` wherever it stands."""
    renamed = {
        item.function.definition: item.summary.class_name
        for item in printed
        if item.function.kind == "helper" and item.summary.class_name != item.function.name
    }
    found: list[tuple[str, Proposal]] = []
    for path, resolution in project.resolutions.items():
        edits: dict[cst.CSTNode, Sequence[cst.CSTNode]] = {}
        for node in own_nodes(resolution.source.module):
            if not isinstance(node, cst.ImportFrom) or isinstance(node.names, cst.ImportStar):
                continue
            for alias in node.names:
                definition = resolution.definitions.get(alias.name)
                if definition is None and isinstance(alias.name, cst.Name):
                    definition = _imported(resolution, alias, renamed)
                if definition in renamed:
                    edits[alias] = [alias.with_changes(name=cst.Name(renamed[definition]), asname=None)]
        if edits:
            found.append((path, Proposal(edits)))
    return found


def _imported(resolution, alias: cst.ImportAlias, renamed: Mapping[Definition, str]) -> Definition | None:  # type: ignore[no-untyped-def]
    """What an import brings in, judged by the file's own uses of the name."""
    local = alias.asname.name.value if alias.asname and isinstance(alias.asname.name, cst.Name) else alias.name.value
    for node, definition in resolution.definitions.items():
        if isinstance(node, cst.Name) and node.value == local and definition in renamed:
            return definition if definition.file != resolution.source.path else None
    return None


# ---------------------------------------------------------------- what others must know


def _note(models: Models, item: Printed) -> None:
    function, model = item.function, item.model
    if model is None:
        return
    facts = ModelFacts(
        item.summary.class_name,
        tuple(given.name for given in model.inputs),
        tuple(tensor.activation for tensor in model.outputs),
        tuple(tensor.rank for tensor in model.outputs),
        item.summary.penalty,
        tuple(given.dtype for given in model.inputs),
        tuple(sorted(item.summary.differences)),
    )
    variable = model_variable(model)
    if function.kind == "script":
        if variable is not None:
            models.facts[Definition(function.definition.file, variable)] = facts
    elif returns_model(model):
        models.facts[function.definition] = facts
        pair = pair_of(item)
        if pair is not None:
            models.pairs.append(pair)
            width = output_width(item)
            if width is not None:
                models.widths[pair.name] = width
    if model.creation is not None:
        models.facts[model.creation] = facts
        small = model.creation.body[0]
        value = getattr(small, "value", None)
        if value is not None:
            models.facts[value] = facts
