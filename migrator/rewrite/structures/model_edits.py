"""What a printed model or helper puts in the place of its function: the class, and the factory that makes it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import libcst as cst

from migrator.facts import Site
from migrator.rewrite.models.binding import Function
from migrator.rewrite.models.creation import returns_model
from migrator.rewrite.models.group import Printed
from migrator.rewrite.models.ir import Refused
from migrator.rewrite.models.names_used import reads
from migrator.rewrite.positions import Lines
from migrator.rewrite.session import Proposal
from migrator.rewrite.support import public_names
from migrator.rewrite.templates import imports_of


def proposal_of(item: Printed, lines: Mapping[str, Lines]) -> Proposal:
    """The edits of one function. Raises Refused where a name of the file stands in the way."""
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
    if not model.sequential:
        creation = creation.with_changes(trailing_whitespace=cst.TrailingWhitespace())
    if isinstance(node, cst.Module):
        edits: dict[cst.CSTNode, Sequence[cst.CSTNode]] = {statement: [] for statement in model.inside}
        edits[model.inside[-1]] = [definition, _apart(creation)]
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
