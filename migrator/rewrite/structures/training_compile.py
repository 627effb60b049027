"""`compile` as an optimizer, a loss function and metrics: local names, or attributes that travel with the module."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from migrator.facts import Rule
from migrator.rewrite.session import FileContext
from migrator.rewrite.structures.training_callbacks import changes_rate
from migrator.rewrite.structures.training_code import Statements, dictionary
from migrator.rewrite.structures.training_losses import Loss, Metric, loss_of, metrics_of
from migrator.rewrite.structures.training_optimizers import Optimizer, OptimizerContext, optimizer_of
from migrator.rewrite.structures.training_tree import Refused
from migrator.rewrite.structures.training_uses import Namer, Tracer, Use, bound, compiles_of, travels
from migrator.rewrite.templates import expression, statements

STATE = ("optimizer", "loss_fn", "metrics")  # what compile sets up


class RuleFinder:
    """`finder(api)`: the rule of an API; `finder.method(use)`: the rule of the method a use calls."""

    def __init__(self, context: FileContext, use: Use) -> None:
        self.context = context
        self.use = use

    def __call__(self, api: str) -> Rule | None:
        return self.context.catalogue.find(api, self.context.keras)

    def method(self) -> Rule:
        """The rule of this use's method. Raises Refused where the catalogue has none."""
        rule = self(f"tf.keras.Model.{self.use.method}")
        if rule is None:
            raise Refused(f"there is no rule for {self.use.method}")
        return rule


@dataclass(frozen=True)
class Compiled:
    """What one compile call sets up, and under which expressions a loop finds it."""

    use: Use
    optimizer: Optimizer
    loss: Loss
    metrics: tuple[Metric, ...]
    tracer: Tracer
    travels: bool
    names: dict[str, cst.BaseExpression]  # by the words of STATE
    rules: RuleFinder
    optimizer_statements: tuple[cst.SimpleStatementLine, ...]  # that held the optimizer before

    @property
    def support(self) -> frozenset[str]:
        """Support names that the statements use."""
        pieces = {metric.function for metric in self.metrics}
        return frozenset(pieces) | self.optimizer.support | self.loss.support

    @property
    def imports(self) -> frozenset[str]:
        """Import statements that the statements need."""
        partial = any(isinstance(metric.value, cst.Call) for metric in self.metrics)
        return self.loss.imports | {"import torch"} | ({"from functools import partial"} if partial else set())

    def seen_from(self, use: Use) -> dict[str, cst.BaseExpression]:
        """The expressions for optimizer, loss_fn and metrics where `use` stands."""
        if not self.travels:
            return self.names
        return {name: expression(f"{{model}}.{name}", model=use.receiver) for name in self.names}

    def statements(self) -> Statements:
        """The code in the place of the compile call."""
        made: dict[str, cst.BaseExpression] = {"optimizer": self.optimizer.value, "loss_fn": self.loss.value}
        if self.metrics or self.travels:
            made["metrics"] = dictionary({metric.name: metric.value for metric in self.metrics})
        return [
            line
            for name, value in made.items()
            for line in statements("{target} = {value}", target=self.names[name], value=value)
        ]


def compiled_of(use: Use, uses: Sequence[Use], context: FileContext, namer: Namer) -> Compiled:
    """Reads a compile call. Raises Refused for the first thing that has no counterpart."""
    if use.facts is None:
        raise Refused("the model stays TensorFlow, so what trains it does too")
    if len(use.facts.outputs) != 1:
        raise Refused("a model with several outputs is not trained by this rule yet")
    rules = RuleFinder(context, use)
    arguments = bound(rules.method(), use.call)
    tracer = Tracer(use)
    fits = [other for other in uses if other.method == "fit" and use in compiles_of(other, uses)]
    situation = OptimizerContext(rules, context.profile, any(changes_rate(fit) for fit in fits))
    optimizer = optimizer_of(arguments.given.get("optimizer"), use.receiver, tracer, situation)
    made = tuple(tracer.consumed)
    if any(_repeats(statement, use) for statement in made):
        raise Refused("one optimizer serves several rounds of a loop: it would forget what it gathered")
    loss = loss_of(arguments.given.get("loss"), use.facts.outputs[0], tracer, rules)
    metrics = tuple(metrics_of(arguments.given.get("metrics"), tracer, rules))
    far = travels(use, uses)
    return Compiled(
        use,
        optimizer,
        loss,
        metrics,
        tracer,
        far,
        _names(use, arguments.given.get("optimizer"), far, namer),
        rules,
        made,
    )


def _repeats(statement: cst.SimpleStatementLine, use: Use) -> bool:
    """Whether the use stands in a loop that the statement does not stand in."""
    tree = use.file.tree
    around = set(tree.ancestors(statement))
    return any(isinstance(node, cst.For | cst.While) and node not in around for node in tree.ancestors(use.call))


def _names(use: Use, optimizer: cst.BaseExpression | None, far: bool, namer: Namer) -> dict[str, cst.BaseExpression]:
    if far:
        return {name: expression(f"{{model}}.{name}", model=use.receiver) for name in STATE}
    if use.text not in namer.receivers:  # compiled again, the same names are bound again
        namer.receivers[use.text] = {name: namer.fresh(name) for name in STATE}
    names: dict[str, cst.BaseExpression] = {name: cst.Name(new) for name, new in namer.receivers[use.text].items()}
    if isinstance(optimizer, cst.Name):
        names["optimizer"] = optimizer  # the team's own name for it
    return names
