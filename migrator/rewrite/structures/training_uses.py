"""Every use of a model's training methods in the project, and which of them belong together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import libcst as cst

from migrator.facts import Project, Rule
from migrator.rewrite.arguments import Bound, Refusal, bind, code
from migrator.rewrite.session import FileContext, ModelFacts
from migrator.rewrite.structures.training_models import File, Models, Root
from migrator.rewrite.structures.training_tree import Refused, Scope

METHODS = ("compile", "fit", "evaluate", "predict", "summary", "save_weights", "load_weights")

LONGER = {
    "epoch": "epoch_number",
    "inputs": "batch_inputs",
    "targets": "batch_targets",
    "outputs": "batch_outputs",
    "loss": "batch_loss",
    "means": "running_means",
    "logs": "epoch_logs",
    "validation": "held_out",
    "metrics": "metric_functions",
    "loss_fn": "loss_function",
    "optimizer": "model_optimizer",
    "device": "training_device",
}


@dataclass(frozen=True)
class Use:
    """One call `receiver.method(...)`. `facts` is None where the receiver is a model that stays TensorFlow."""

    method: str
    call: cst.Call
    receiver: cst.BaseExpression
    file: File
    scope: Scope
    facts: ModelFacts | None
    roots: frozenset[Root]
    project: Project

    @property
    def text(self) -> str:
        """The receiver as source text."""
        return code(self.receiver)

    def beside(self, other: Use) -> bool:
        """Whether both speak of the same variable of the same scope."""
        return self.scope is other.scope and self.text == other.text


def uses_of(context: FileContext) -> list[Use]:
    """All uses in the project, in the order of files and lines."""
    models = Models(context)
    found: list[Use] = []
    methods = {*METHODS, *_guided(context)}
    for file in models.files.by_path.values():
        if any(f".{method}(" in file.resolution.source.text for method in methods):
            calls = [node for node in file.tree.parents if isinstance(node, cst.Call)]
            uses = (_use(call, file, models, methods) for call in calls)
            found.extend(sorted((use for use in uses if use), key=lambda use: file.tree.line(use.call)))
    return found


def _guided(context: FileContext) -> set[str]:
    """Methods of models that only a person can bring over: their rules are guides."""
    prefix = "tf.keras.Model."
    return {rule.tf.removeprefix(prefix) for rule in context.catalogue if rule.guide and rule.tf.startswith(prefix)}


def _use(call: cst.Call, file: File, models: Models, methods: Collection[str]) -> Use | None:
    if not isinstance(call.func, cst.Attribute) or call.func.attr.value not in methods:
        return None
    receiver, method = call.func.value, call.func.attr.value
    known = models.known(receiver, file)
    api = file.resolution.apis.get(call.func, "")
    if known is None and method not in METHODS:
        return None  # a TensorFlow model's method, left with its guide like every other call
    if known is None and not (api.startswith("tf.keras.") and api.endswith(f".{method}")):
        return None
    facts, roots = (known.facts, known.roots) if known else (None, frozenset[Root]())
    return Use(method, call, receiver, file, file.tree.scope(call), facts, roots, models.context.project)


def compiles_of(use: Use, uses: Sequence[Use]) -> list[Use]:
    """The compile calls that prepare the model of this use: those on the same variable, else those on its roots."""
    compiles = [other for other in uses if other.method == "compile"]
    local = [other for other in compiles if other.beside(use)]
    return local or [other for other in compiles if other.roots & use.roots]


def travels(compiled: Use, uses: Sequence[Use]) -> bool:
    """Whether what compile made must travel with the module, because another place trains or evaluates it."""
    if not isinstance(compiled.receiver, cst.Name):
        return True
    if isinstance(compiled.scope, cst.FunctionDef) and _hands_on(compiled):
        return True
    return any(
        use.method in ("fit", "evaluate") and not use.beside(compiled) and compiled in compiles_of(use, uses)
        for use in uses
    )


def _hands_on(compiled: Use) -> bool:
    """Whether the function returns the compiled variable, so that a caller may train it."""
    tree, name = compiled.file.tree, compiled.text
    return any(
        isinstance(parent, cst.Return | cst.Element)
        and any(isinstance(item, cst.Return) for item in (parent, *tree.ancestors(parent)))
        for node in tree.reads(compiled.scope, name)
        if (parent := tree.parents[node])
    )


def bound(rule: Rule, call: cst.Call) -> Bound:
    """The call's arguments by name. Raises Refused where they cannot be told or the rule refuses one."""
    result = bind(rule, call)
    if isinstance(result, Refusal):
        raise Refused(result.reason)
    return result


class Tracer:
    """Follows a variable to the one value it was given, and remembers which variables lose their purpose."""

    def __init__(self, use: Use) -> None:
        self.use = use
        self.tree = use.file.tree
        self.consumed: dict[cst.SimpleStatementLine, list[cst.Name]] = {}

    def value(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """The value of a variable that is assigned once in this function or in the module; else the node itself."""
        if not isinstance(node, cst.Name):
            return node
        for scope in (self.use.scope, self.tree.module):
            bindings = self.tree.bindings(scope, node.value)
            if bindings:
                only = bindings[0]
                if len(bindings) > 1 or only.value is None or not self._always(only.statement):
                    return node
                if self._changing(only.value, scope):
                    return node
                assert only.statement is not None
                self.consumed.setdefault(only.statement, []).append(node)
                return self.value(only.value) if isinstance(only.value, cst.Name) else only.value
        return node

    def _always(self, statement: cst.SimpleStatementLine | None) -> bool:
        """Whether the statement runs whenever the use does, and may go without leaving an empty block."""
        if statement is None:
            return False
        block = self.tree.parents[statement]
        around = block is self.tree.module or block in set(self.tree.ancestors(self.use.call))
        return around and (isinstance(block, cst.Module) or len(getattr(block, "body", ())) > 1)

    def _changing(self, value: cst.BaseExpression, scope: Scope) -> bool:
        """Whether the value depends on names that may mean something else by the time it is used."""
        names = [child for child in self.tree.within(value) if isinstance(child, cst.Name)]
        return any(len(self.tree.bindings(scope, name.value)) > 1 for name in names)

    def peek(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """Like `value`, for looking only: the variable stays."""
        before = {statement: list(names) for statement, names in self.consumed.items()}
        found = self.value(node)
        self.consumed = before
        return found

    def api(self, node: cst.BaseExpression) -> str:
        """The canonical TensorFlow name of what is called or referred to, empty where there is none."""
        subject = node.func if isinstance(node, cst.Call) else node
        return self.use.file.resolution.apis.get(subject, "")


class Namer:
    """Local names for new code that nothing in the scope uses yet."""

    def __init__(self, use: Use) -> None:
        tree = use.file.tree
        self.receivers: dict[str, dict[str, str]] = {}  # names given to what compile sets up, by receiver
        self.taken = set(tree.names(use.scope)) | set(use.file.resolution.imports)

    def fresh(self, base: str) -> str:
        """`base`, where it is taken a longer word for it, or `base_2` …"""
        name, number = base, 2
        if base in self.taken and base in LONGER:
            name = LONGER[base]
        while name in self.taken:
            name, number = f"{base}_{number}", number + 1
        self.taken.add(name)
        return name
