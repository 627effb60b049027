"""What a project's own training code says about a model: for the pair that parity checks and trains for real."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import libcst as cst

from migrator.facts import Accept, Definition, Named, Pair, Training
from migrator.rewrite.session import FileContext
from migrator.rewrite.structures.training_code import constant
from migrator.rewrite.structures.training_compile import Compiled, RuleFinder
from migrator.rewrite.structures.training_group import Group, plan_of
from migrator.rewrite.structures.training_losses import LOWER_IS_BETTER
from migrator.rewrite.structures.training_models import DEPTH, File, Files
from migrator.rewrite.structures.training_tree import Scope
from migrator.rewrite.structures.training_uses import Tracer, Use, bound


@dataclass(frozen=True)
class TrainingFacts:
    """Loss, optimizer and real training of one factory's model. None where the code does not say, or says several.

    `differences` are the known differences of the rewritten optimizer.
    """

    loss: Named | None
    optimizer: Named | None
    differences: tuple[str, ...]
    training: Training | None


def training_facts(context: FileContext) -> dict[Definition, TrainingFacts]:
    """By factory. `context` may be that of any file: the whole project is read."""
    found: dict[Definition, list[tuple[Group, Compiled]]] = {}
    for group in plan_of(context).groups:
        for compiled in group.compiled.values() if not group.reason else ():
            for root in compiled.use.roots:
                if isinstance(root, Definition):
                    found.setdefault(root, []).append((group, compiled))
    return {root: _facts(items, context) for root, items in found.items()}


def _facts(items: Sequence[tuple[Group, Compiled]], context: FileContext) -> TrainingFacts:
    losses = [compiled.loss.named for _, compiled in items]
    optimizers = [compiled.optimizer.named for _, compiled in items]
    differences = {name for _, compiled in items for name in compiled.optimizer.differences}
    fits = [(use, compiled) for group, compiled in items for use in group.uses if use.method == "fit"]
    trainings = [_training(use, compiled, context) for use, compiled in fits]
    return TrainingFacts(
        losses[0] if all(loss == losses[0] for loss in losses) else None,
        optimizers[0] if all(optimizer == optimizers[0] for optimizer in optimizers) else None,
        tuple(sorted(differences)) if context.profile == "idiomatic" else (),
        trainings[0] if trainings and all(training == trainings[0] for training in trainings) else None,
    )


def _training(use: Use, compiled: Compiled, context: FileContext) -> Training | None:
    """Epochs, batch size, metric and the function that makes the data, where all are written out."""
    arguments = bound(RuleFinder(context, use).method(), use.call)
    tracer = Tracer(use)
    epochs = constant(tracer.peek(arguments.value("epochs")))
    batch = constant(tracer.peek(arguments.value("batch_size")), 0)
    metric = next((item.name for item in compiled.metrics if item.function not in LOWER_IS_BETTER), None)
    data = _data(arguments.given["x"], use.file, Files(context.project), DEPTH)
    if not isinstance(epochs, int) or metric is None or data is None:
        return None
    if batch is None:
        batch = 32
    return Training(f"{data.file}:{data.name}", epochs, metric, batch) if isinstance(batch, int) and batch else None


def _data(node: cst.BaseExpression, file: File, files: Files, depth: int) -> Definition | None:
    """The function that returned `(x, y), (x_test, y_test)` with this x, unchanged since."""
    if depth == 0 or not isinstance(node, cst.Name):
        return None
    scope: Scope = file.tree.scope(node)
    bindings = file.tree.bindings(scope, node.value)
    if not bindings:
        scope = file.tree.module
        bindings = file.tree.bindings(scope, node.value)
    if len(bindings) != 1:
        return None
    (binding,) = bindings
    if isinstance(file.tree.parents[binding.node], cst.Param) and isinstance(scope, cst.FunctionDef):
        found = {
            _data(value, other, files, depth - 1) if value is not None else None
            for value, other in files.callers(node.value, scope, file)
        }
        return found.pop() if len(found) == 1 else None
    if binding.value is not None:
        return _data(binding.value, file, files, depth - 1)
    return _maker(binding.node, file)


def _maker(name: cst.Name, file: File) -> Definition | None:
    """The function of the project in `(name, y), (…, …) = function()`."""
    tree = file.tree
    assign = next((parent for parent in tree.ancestors(name) if isinstance(parent, cst.Assign)), None)
    if assign is None or len(assign.targets) != 1 or not isinstance(assign.value, cst.Call) or assign.value.args:
        return None
    pairs = assign.targets[0].target
    if not isinstance(pairs, cst.Tuple) or len(pairs.elements) != 2:
        return None
    first = pairs.elements[0].value
    if not isinstance(first, cst.Tuple) or len(first.elements) != 2 or first.elements[0].value is not name:
        return None
    return file.resolution.definitions.get(assign.value.func)


_BECAUSE = {
    "adam-epsilon": "torch.optim.Adam adds epsilon after the bias correction, Keras before it: steps differ for "
    "gradients that are as small as epsilon",
}


def informed(pairs: Sequence[Pair], context: FileContext) -> list[Pair]:
    """The pairs with what the project's training code says about their models."""
    known = training_facts(context)
    return [_informed(pair, known.get(_definition(pair.torch))) for pair in pairs]


def _informed(pair: Pair, facts: TrainingFacts | None) -> Pair:
    if facts is None:
        return pair
    named = {item.id for item in pair.accept}
    accept = [Accept(name, _BECAUSE[name]) for name in facts.differences if name not in named]
    batch = facts.training.batch if facts.training else pair.batch
    return replace(
        pair,
        loss=pair.loss or facts.loss,
        optimizer=pair.optimizer or facts.optimizer,
        training=pair.training or facts.training,
        batch=batch,
        accept=(*pair.accept, *accept),
    )


def _definition(reference: str) -> Definition:
    file, _, name = reference.partition(":")
    return Definition(file, name)
