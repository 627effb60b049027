"""compile and the fits that depend on it: rewritten together, or left together with one reason."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import libcst as cst

from migrator.facts import Definition
from migrator.rewrite.arguments import code
from migrator.rewrite.session import FileContext
from migrator.rewrite.structures.training_code import Statements, in_place_of
from migrator.rewrite.structures.training_compile import Compiled, RuleFinder, compiled_of
from migrator.rewrite.structures.training_loop import Loop, loop_of
from migrator.rewrite.structures.training_tree import FileTree, Refused, Scope
from migrator.rewrite.structures.training_uses import Namer, Tracer, Use, bound, compiles_of, uses_of
from migrator.rewrite.templates import statements

# what Keras keeps on a compiled model and a module does not have, or has under another meaning
KEPT_BY_KERAS = frozenset({"optimizer", "history", "loss", "metrics", "metrics_names", "stop_training", "layers"})


@dataclass
class Group:
    """Uses of compile and fit that stand or fall together. `reason` is set once something refuses."""

    uses: list[Use]
    compiled: dict[int, Compiled] = field(default_factory=dict)  # by id of the use
    loops: dict[int, tuple[Loop, Statements]] = field(default_factory=dict)
    reason: str = ""
    cause: Use | None = None

    def refuse(self, cause: Use, reason: str) -> None:
        """Leaves the whole group; the first reason stays."""
        if not self.reason:
            self.cause, self.reason = cause, reason

    def tracers(self) -> list[Tracer]:
        """The variables that the group's new code takes over."""
        return [item.tracer for item in self.compiled.values()] + [loop.tracer for loop, _ in self.loops.values()]


@dataclass(frozen=True)
class Plan:
    """All training uses of a project and their groups; the same for every file of it."""

    context: FileContext
    uses: list[Use]
    groups: list[Group]

    def serves(self, context: FileContext) -> bool:
        """Whether the plan was made for the project of this context, under the same conditions."""
        mine = self.context
        same = (mine.keras, mine.profile) == (context.keras, context.profile) and mine.catalogue is context.catalogue
        return same and mine.project is context.project and mine.models is context.models


_latest: list[Plan] = []  # a project is rewritten file by file; what is read of the whole of it is read once


def plan_of(context: FileContext) -> Plan:
    """The plan of the context's project."""
    if not _latest or not _latest[0].serves(context):
        uses = uses_of(context)
        _latest[:] = [Plan(context, uses, groups_of(uses, context))]
    return _latest[0]


def groups_of(uses: Sequence[Use], context: FileContext) -> list[Group]:
    """Every compile and fit of the project in its group, each group with its new code or a reason."""
    groups = _connected(uses)
    namers: dict[Scope, Namer] = {}
    for group in groups:
        _build(group, uses, context, namers)
    _check_variables(groups)
    return groups


def _connected(uses: Sequence[Use]) -> list[Group]:
    groups: list[Group] = []
    for use in (use for use in uses if use.method in ("compile", "fit")):
        linked = [use] if use.method == "compile" else [use, *compiles_of(use, uses)]
        touched = [group for group in groups if any(item in group.uses for item in linked)]
        merged = Group([item for group in touched for item in group.uses])
        merged.uses += [item for item in linked if item not in merged.uses]
        groups = [group for group in groups if group not in touched] + [merged]
    return groups


def _build(group: Group, uses: Sequence[Use], context: FileContext, namers: dict[Scope, Namer]) -> None:
    for use in sorted(group.uses, key=lambda use: use.method):  # compile before fit
        try:
            _check_receiver(use)
            if use.method == "compile":
                own_statement(use)
                namer = namers.setdefault(use.scope, Namer(use))
                group.compiled[id(use)] = compiled_of(use, uses, context, namer)
            else:
                group.loops[id(use)] = _loop(use, group, uses, context, namers)
        except Refused as refused:
            group.refuse(use, refused.reason)
            return


def _check_receiver(use: Use) -> None:
    tree, text = use.file.tree, use.text
    if use.facts is None:
        raise Refused("the model stays TensorFlow, so what trains it does too")
    if not isinstance(use.receiver, cst.Name | cst.Attribute):
        raise Refused("the model has no name here")
    frozen = next((node for node in tree.within(use.scope) if _freezes(node, tree)), None)
    if frozen is not None:
        raise Refused(f"`{code(frozen)}` is set in line {tree.line(frozen)}; freezing has no rule yet")
    for node in tree.reads(use.scope, text) if isinstance(use.receiver, cst.Name) else ():
        parent = tree.parents[node]
        if isinstance(parent, cst.Attribute) and parent.attr.value in KEPT_BY_KERAS:
            raise Refused(
                f"`{text}.{parent.attr.value}` is used in line {tree.line(parent)}; the module has no such thing"
            )


def _freezes(node: cst.CSTNode, tree: FileTree) -> bool:
    return (
        isinstance(node, cst.Attribute)
        and node.attr.value == "trainable"
        and isinstance(tree.parents[node], cst.AssignTarget)
    )


def own_statement(use: Use) -> cst.SimpleStatementLine:
    """The statement that is nothing but this call. Raises Refused where there is none."""
    statement = use.file.tree.statement(use.call)
    if statement is None or not isinstance(statement.body[0], cst.Expr) or statement.body[0].value is not use.call:
        raise Refused(f"{use.method} is not a statement on a line of its own")
    return statement


def one_compiled(use: Use, group: Group, uses: Sequence[Use]) -> Compiled:
    """What this use trains or evaluates with. Raises Refused where several compile calls differ in kind."""
    found = [group.compiled[id(item)] for item in compiles_of(use, uses) if id(item) in group.compiled]
    if not found:
        raise Refused("no compile of this model was found in the project")
    kinds = {
        (tuple((m.name, m.function) for m in item.metrics), item.travels, str(item.optimizer.clip)) for item in found
    }
    names = {tuple(code(node) for node in item.seen_from(use).values()) for item in found}
    if len(kinds) > 1 or len(names) > 1:
        raise Refused("the model is compiled in several ways")
    return found[0]


def _loop(
    use: Use, group: Group, uses: Sequence[Use], context: FileContext, namers: dict[Scope, Namer]
) -> tuple[Loop, Statements]:
    compiled = one_compiled(use, group, uses)
    rules = RuleFinder(context, use)
    arguments = bound(rules.method(), use.call)
    namer = Namer(use)
    if use.scope in namers:
        namer.taken |= namers[use.scope].taken
    statement, history, rest = _result(use, namer)
    loop = loop_of(use, arguments, compiled, namer, history, _earlier(use, group))
    return loop, in_place_of(statement, [*loop.statements, *rest])


def _earlier(use: Use, group: Group) -> Loop | None:
    """A loop for the same variable that always runs before this one."""
    tree = use.file.tree
    around = set(tree.ancestors(use.call))
    for other in group.uses:
        statement = tree.statement(other.call)
        if id(other) in group.loops and other.beside(use) and statement and tree.parents[statement] in around:
            return group.loops[id(other)][0]
    return None


def _result(use: Use, namer: Namer) -> tuple[cst.SimpleStatementLine, cst.Name | None, Statements]:
    """The statement that holds the fit, the name for its history where that is used, and what is done with it."""
    tree = use.file.tree
    statement = tree.statement(use.call)
    if statement is None:
        raise Refused("fit does not stand in a statement on a line of its own")
    parent = tree.parents[use.call]
    if isinstance(parent, cst.Expr):
        return statement, None, []
    if isinstance(parent, cst.Assign) and len(parent.targets) == 1 and isinstance(parent.targets[0].target, cst.Name):
        return statement, parent.targets[0].target, []
    top: cst.CSTNode = use.call
    while (
        isinstance(tree.parents[top], cst.Attribute | cst.Subscript)
        and getattr(tree.parents[top], "value", None) is top
    ):
        top = tree.parents[top]
    if not isinstance(tree.parents[top], cst.Assign | cst.AnnAssign | cst.Return):
        raise Refused("the result of fit is used inside a larger expression")
    history = cst.Name(namer.fresh("history"))
    changed = statement.deep_replace(use.call, history)
    assert isinstance(changed, cst.SimpleStatementLine)
    plain = changed.with_changes(leading_lines=[], trailing_whitespace=cst.TrailingWhitespace())
    return statement, history, [plain]


def _check_variables(groups: Sequence[Group]) -> None:
    """A variable that new code takes over must serve nothing else; where it does, its groups are left."""
    owners: dict[cst.SimpleStatementLine, Compiled] = {}
    for group in groups:
        for compiled in group.compiled.values():
            for statement in compiled.optimizer_statements:
                if owners.setdefault(statement, compiled) is not compiled:
                    group.refuse(compiled.use, "one optimizer serves two compile calls: each would start anew")
    changed = True
    while changed:
        changed = False
        alive = [group for group in groups if not group.reason]
        taken = {
            name
            for group in alive
            for tracer in group.tracers()
            for names in tracer.consumed.values()
            for name in names
        }
        for group in alive:
            for tracer in group.tracers():
                reason = _other_use(tracer, taken)
                if reason:
                    group.refuse(tracer.use, reason)
                    changed = True


def _other_use(tracer: Tracer, taken: set[cst.Name]) -> str:
    for statement, names in tracer.consumed.items():
        name, tree = names[0].value, tracer.tree
        scope = tree.scope(statement)
        for read in tree.reads(scope, name):
            if read not in taken:
                return f"`{name}` is used for something else in line {tree.line(read)}"
        if scope is tree.module and _exported(name, tracer):
            return f"`{name}` is used in another file too"
    return ""


def _exported(name: str, tracer: Tracer) -> bool:
    wanted = Definition(tracer.use.file.path, name)
    return any(
        definition == wanted and node not in tracer.tree.parents
        for resolution in tracer.use.project.resolutions.values()
        for node, definition in resolution.definitions.items()
    )


def compile_statements(use: Use, compiled: Compiled) -> Statements:
    """The new statements of a compile call, with the comments of the old one."""
    return in_place_of(own_statement(use), compiled.statements())


def taken_over(tracer: Tracer, new: Statements) -> list[cst.EmptyLine]:
    """The comments of the variables that new code takes over, but those that it already has."""
    there = "\n".join(code(statement) for statement in new)
    lines: list[cst.EmptyLine] = []
    for statement in tracer.consumed:
        kept = in_place_of(statement, statements("pass\npass"))[0]
        assert isinstance(kept, cst.SimpleStatementLine)
        lines += [line for line in kept.leading_lines if line.comment and line.comment.value not in there]
    return lines
