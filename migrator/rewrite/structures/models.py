"""Functional and Sequential models of the whole project: proposals by file, and what training code must know of them.

Models are read in dependency groups (a helper and everybody who calls it), because a helper can only become a class
for all of its callers. A group that holds something that is not understood stays as it was, with one reason at the
line that is to blame; so does one that is refused later, because of what the rest of the project does with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from migrator.catalogue import Catalogue
from migrator.facts import Definition, Left, Pair, Profile, Project, Site
from migrator.rewrite.models.binding import Function, find_functions, own_nodes
from migrator.rewrite.models.class_names import class_names
from migrator.rewrite.models.components import components
from migrator.rewrite.models.creation import model_variable, returns_model
from migrator.rewrite.models.group import Group, Printed
from migrator.rewrite.models.ir import Refused
from migrator.rewrite.models.pairs import output_width, pair_of
from migrator.rewrite.positions import Lines
from migrator.rewrite.session import ModelFacts, Proposal
from migrator.rewrite.structures.model_checks import At, check_members, check_names_after, check_unused_elsewhere
from migrator.rewrite.structures.model_edits import proposal_of
from migrator.rewrite.structures.model_imports import claim_names, own_claims, renamed_imports

Key = Definition | cst.CSTNode


@dataclass(eq=False)
class Outcome:
    """What became of one dependency group: new code, or the one reason why it stays."""

    members: list[Function]
    printed: list[Printed] = field(default_factory=list)
    proposals: list[tuple[str, Proposal]] = field(default_factory=list)
    reason: Left | None = None

    def refuse(self, function: Function, node: cst.CSTNode | None, reason: str, rule: str, lines: Lines) -> None:
        """Leaves the whole group. The reason stands at `node`, else at the function."""
        line = lines.line(node) if node is not None else 0
        others = len(self.members) - 1
        more = f" ({others} other functions depend on it)" if others else ""
        self.reason = Left(function.definition.file, line or lines.line(place_of(function)), rule, reason + more)
        self.printed, self.proposals = [], []


@dataclass
class Models:
    """What became of all models of a project."""

    proposals: dict[str, list[Proposal]] = field(default_factory=dict)
    facts: dict[Key, ModelFacts] = field(default_factory=dict)
    pairs: list[Pair] = field(default_factory=list)
    widths: dict[str, int] = field(default_factory=dict)  # by pair: channels of the only output, where they are known
    owners: dict[Key, tuple[Outcome, Printed]] = field(default_factory=dict)  # by the keys of `facts`
    refused: dict[str, list[Function]] = field(default_factory=dict)  # functions that stay, by file


def read_models(project: Project, catalogue: Catalogue, profile: Profile, lines: Mapping[str, Lines]) -> list[Outcome]:
    """Every group of models: rewritten as far as it can tell by itself, or refused."""
    functions = find_functions(project, catalogue)
    names = class_names(functions)
    claims = own_claims(project, functions)
    found: list[Outcome] = []
    for members in components(functions):
        if all(function.kind == "helper" and not function.tensors for function in members):
            continue
        group, outcome = Group(members, functions, catalogue, profile, names), Outcome(members)
        found.append(outcome)
        try:
            check_members(members)
            check_unused_elsewhere(members, functions, project, catalogue)
            printed = group.rewrite()
            check_names_after(printed)
            proposals = [(item.function.definition.file, proposal_of(item, lines)) for item in printed]
            imports, arrivals = renamed_imports(printed, project)
            claim_names(printed, arrivals, claims)
        except Refused as refused:
            function = refused.function if isinstance(refused, At) else group.current
            place = lines[function.definition.file]
            outcome.refuse(function, refused.node, refused.reason, refused.rule, place)
            continue
        outcome.printed, outcome.proposals = printed, proposals + imports
    return found


def collected(outcomes: Sequence[Outcome], lines: Mapping[str, Lines]) -> Models:
    """The proposals of all groups together, and what others must know of the models that are PyTorch now."""
    models = Models()
    for outcome in outcomes:
        if outcome.reason is not None:
            _leave(models, outcome, outcome.reason, lines)
        for path, proposal in outcome.proposals:
            models.proposals.setdefault(path, []).append(proposal)
        for item in outcome.printed:
            _note(models, outcome, item)
    return models


def _leave(models: Models, outcome: Outcome, reason: Left, lines: Mapping[str, Lines]) -> None:
    told = [reason]
    for member in outcome.members:
        file = member.definition.file
        models.refused.setdefault(file, []).append(member)
        line = lines[file].line(place_of(member))
        site = Site(file, line, "model", member.name or "module", False)
        models.proposals.setdefault(file, []).append(Proposal(sites=(site,)))
        if file != reason.file or not lines[file].covers(member.node, reason.line):
            pointer = f"it stays together with what {reason.file} says in line {reason.line}"
            told.append(Left(file, line, reason.rule, pointer))
    for item in told:
        models.proposals.setdefault(item.file, []).append(Proposal(left=(item,)))


def place_of(function: Function) -> cst.CSTNode:
    """Where a reason about a function stands: at the function; at the first statement of a script that makes a part of
    a model."""
    if not isinstance(function.node, cst.Module):
        return function.node
    for statement in function.body:
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            continue
        calls = [node for node in own_nodes(statement) if isinstance(node, cst.Call)]
        apis = [function.resolution.apis.get(node.func, "") for node in calls]
        if any(api.startswith("tf.keras.") for api in apis):
            return statement
    return function.node


# ---------------------------------------------------------------- what others must know


def _note(models: Models, outcome: Outcome, item: Printed) -> None:
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
    keys = _keys(item)
    models.facts |= dict.fromkeys(keys, facts)
    models.owners |= dict.fromkeys(keys, (outcome, item))
    if function.kind != "script" and returns_model(model):
        pair = pair_of(item)
        if pair is not None:
            models.pairs.append(pair)
            width = output_width(item)
            if width is not None:
                models.widths[pair.name] = width


def _keys(item: Printed) -> list[Key]:
    """What a model is known by: its factory or module-level variable, the statement and the value that make it."""
    function, model = item.function, item.model
    assert model is not None
    found: list[Key] = []
    variable = model_variable(model)
    if function.kind == "script":
        if variable is not None:
            found.append(Definition(function.definition.file, variable))
    elif returns_model(model):
        found.append(function.definition)
    if model.creation is not None:
        found.append(model.creation)
        value = getattr(model.creation.body[0], "value", None)
        if value is not None:
            found.append(value)
    return found
