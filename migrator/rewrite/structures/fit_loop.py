"""compile, fit, evaluate, predict and callbacks become explicit training code.

Read from the whole project first: which models are PyTorch now, where each is compiled, and where trained. Where one
function does all of it, optimizer, loss and metrics become its local variables; else they travel with the module as
attributes. A compile and the fits that depend on it are rewritten together or not at all.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from migrator.facts import Left, Site
from migrator.rewrite.arguments import Bound, bind
from migrator.rewrite.session import FileContext, Proposal
from migrator.rewrite.structures.training_code import Statements, in_place_of
from migrator.rewrite.structures.training_code import call as made_call
from migrator.rewrite.structures.training_compile import RuleFinder
from migrator.rewrite.structures.training_group import (
    Group,
    compile_statements,
    one_compiled,
    plan_of,
    taken_over,
)
from migrator.rewrite.structures.training_inference import PLAIN, evaluate
from migrator.rewrite.structures.training_tree import Refused, tree_of
from migrator.rewrite.structures.training_uses import Tracer, Use, bound, compiles_of

HISTORY = ("tf.keras.callbacks.History.history", "tf.keras.callbacks.History.epoch")
SEED = "tf.keras.utils.set_random_seed"
Kept = Mapping[cst.SimpleStatementLine, Statements]


def propose(context: FileContext) -> list[Proposal]:
    """The training code of one file: new statements and expressions, and what is left with its reason."""
    plan = plan_of(context)
    uses, groups = plan.uses, plan.groups
    mine = any(use.file.path == context.path for use in uses)
    if not mine and not any(call.api in (*HISTORY, SEED) for call in context.resolution.calls):
        return []
    _check_names(groups)
    draft = _Draft(context)
    for group in groups:
        draft.group(group)
    for use in uses:
        if use.method not in ("compile", "fit"):
            draft.expression(use, groups, uses)
    draft.around(groups)
    return [draft.proposal()]


def _check_names(groups: Sequence[Group]) -> None:
    """A support piece whose name the file uses for something else cannot be imported."""
    for group in groups:
        for use in group.uses:
            made = group.compiled.get(id(use)) or (group.loops.get(id(use)) or (None,))[0]
            clash = _clash(use, made.support) if made and not group.reason else ""
            if clash:
                group.refuse(use, clash)


def _clash(use: Use, support: frozenset[str]) -> str:
    taken = sorted(support & set(use.file.tree.names(use.file.tree.module)))
    return f"`{taken[0]}` is a name of this file; the support piece of that name cannot be imported" if taken else ""


@dataclass
class _Draft:
    """Collects what concerns one file."""

    context: FileContext
    edits: dict[cst.CSTNode, Sequence[cst.CSTNode]] = field(default_factory=dict)
    imports: set[str] = field(default_factory=set)
    support: set[str] = field(default_factory=set)
    sites: list[Site] = field(default_factory=list)
    left: list[Left] = field(default_factory=list)

    def proposal(self) -> Proposal:
        """All of it as one proposal."""
        return Proposal(
            self.edits, frozenset(self.imports), frozenset(self.support), tuple(self.sites), tuple(self.left)
        )

    def group(self, group: Group) -> None:
        """The compile and fit calls of this file, all rewritten or all left."""
        for use in group.uses:
            if use.file.path != self.context.path:
                continue
            if group.reason and group.cause is not None:
                self.leave(use, group.reason if use is group.cause else _elsewhere(group.cause))
            elif id(use) in group.compiled:
                compiled = group.compiled[id(use)]
                self.replace(use, compile_statements(use, compiled), compiled.tracer, {})
                self.need(compiled.support, compiled.imports)
            else:
                loop, new = group.loops[id(use)]
                self.replace(use, new, loop.tracer, loop.kept)
                self.need(loop.support, loop.imports)

    def replace(self, use: Use, new: Statements, tracer: Tracer, kept: Kept) -> None:
        """New statements in the place of the call's own; variables that it took over go, their comments stay."""
        statement = use.file.tree.statement(use.call)
        assert statement is not None
        for old in tracer.consumed:
            self.edits[old] = in_place_of(old, kept.get(old, []))
        first = new[0]
        there = [line for old in tracer.consumed for line in in_place_of(old, kept.get(old, []))]
        lines = [*taken_over(tracer, [*new, *there]), *getattr(first, "leading_lines", ())]
        self.edits[statement] = [first.with_changes(leading_lines=lines), *new[1:]]
        self.site(use, True)

    def expression(self, use: Use, groups: Sequence[Group], uses: Sequence[Use]) -> None:
        """evaluate, predict and the like: the call alone is replaced."""
        if use.file.path != self.context.path:
            return
        try:
            if use.facts is None:
                raise Refused("the model stays TensorFlow")
            rule = RuleFinder(self.context, use).method()
            if rule.guide is not None:
                raise Refused(rule.guide)
            arguments = bound(rule, use.call)
            if use.method == "evaluate":
                compiled = one_compiled(use, _group_of(use, groups, uses), uses)
                new = evaluate(use, arguments, compiled)
                support, imports = frozenset({"evaluate_in_batches", "mini_batches"}), frozenset[str]()
            else:
                write, support, imports = PLAIN[use.method]
                new = write(use, arguments)
            clash = _clash(use, support)
            if clash:
                raise Refused(clash)
        except Refused as refused:
            self.leave(use, refused.reason)
            return
        self.edits[use.call] = [new]
        self.need(support, imports)
        self.site(use, True)

    def around(self, groups: Sequence[Group]) -> None:
        """Once all training of the project is rewritten: histories read as before, and the seed is PyTorch's too."""
        if not groups or any(group.reason for group in groups):
            return
        for call in self.context.resolution.calls:
            if call.api in HISTORY:
                self.edits[call.node] = [call.node.deep_clone()]  # the same code, and no longer TensorFlow's
        rule, tree = self.context.catalogue.find(SEED, self.context.keras), tree_of(self.context.source.module)
        for call in self.context.resolution.calls:
            parent = tree.parents.get(call.node)
            if call.api == SEED and rule and isinstance(parent, cst.Call) and parent.func is call.node:
                arguments = bind(rule, parent)
                if isinstance(arguments, Bound):
                    self.edits[parent] = [made_call("seed_all", arguments.value("seed"))]
                    self.need(frozenset({"seed_all"}), frozenset())

    def need(self, support: frozenset[str], imports: frozenset[str]) -> None:
        """Support pieces and imports of new code."""
        self.support |= support
        self.imports |= imports

    def leave(self, use: Use, reason: str) -> None:
        """The call stays as it was."""
        rule = self.context.catalogue.find(f"tf.keras.Model.{use.method}", self.context.keras)
        self.left.append(Left(use.file.path, use.file.tree.line(use.call), rule.id if rule else use.method, reason))
        self.site(use, False)

    def site(self, use: Use, rewritten: bool) -> None:
        """One line of the record."""
        line = use.file.tree.line(use.call)
        self.sites.append(Site(use.file.path, line, "fit_loop", f"{use.text}.{use.method}", rewritten))


def _elsewhere(cause: Use) -> str:
    return f"it goes together with {cause.method} in {cause.file.path}, line {cause.file.tree.line(cause.call)}"


def _group_of(use: Use, groups: Sequence[Group], uses: Sequence[Use]) -> Group:
    needed = compiles_of(use, uses)
    for group in groups:
        if any(item in group.uses for item in needed):
            if group.reason and group.cause is not None:
                raise Refused(_elsewhere(group.cause))
            return group
    raise Refused("no compile of this model was found in the project")
