"""The loss and the metrics that compile was given, as functions of (outputs, targets)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import libcst as cst

from migrator.facts import Named, Rule
from migrator.rewrite.arguments import Bound, code
from migrator.rewrite.structures.training_code import call, constant
from migrator.rewrite.structures.training_tree import Refused
from migrator.rewrite.structures.training_uses import Tracer, bound
from migrator.rewrite.templates import expression

Rules = Callable[[str], Rule | None]

LOSSES = {
    "SparseCategoricalCrossentropy": "sparse_cross_entropy",
    "CategoricalCrossentropy": "categorical_cross_entropy",
    "BinaryCrossentropy": "binary_cross_entropy",
    "MeanSquaredError": "squared_error",
    "MeanAbsoluteError": "absolute_error",
    "Huber": "huber_error",
}
# the strings and functions that stand for a class with its defaults
LOSS_NAMES = {
    "sparse_categorical_crossentropy": "SparseCategoricalCrossentropy",
    "categorical_crossentropy": "CategoricalCrossentropy",
    "binary_crossentropy": "BinaryCrossentropy",
    "mean_squared_error": "MeanSquaredError",
    "mse": "MeanSquaredError",
    "mean_absolute_error": "MeanAbsoluteError",
    "mae": "MeanAbsoluteError",
    "huber": "Huber",
}
METRICS = {
    "SparseCategoricalAccuracy": "sparse_accuracy",
    "CategoricalAccuracy": "one_hot_accuracy",
    "BinaryAccuracy": "threshold_accuracy",
    "MeanSquaredError": "squared_error",
    "MeanAbsoluteError": "absolute_error",
}
METRIC_NAMES = {
    "accuracy": "batch_accuracy",
    "acc": "batch_accuracy",
    "sparse_categorical_accuracy": "sparse_accuracy",
    "categorical_accuracy": "one_hot_accuracy",
    "binary_accuracy": "threshold_accuracy",
    "mean_squared_error": "squared_error",
    "mse": "squared_error",
    "mean_absolute_error": "absolute_error",
    "mae": "absolute_error",
}
LOWER_IS_BETTER = {"squared_error", "absolute_error"}
_SOFT = {
    "SparseCategoricalCrossentropy": "softmax",
    "CategoricalCrossentropy": "softmax",
    "BinaryCrossentropy": "sigmoid",
}


@dataclass(frozen=True)
class Loss:
    """A function of (outputs, targets) that gives the batch's mean."""

    value: cst.BaseExpression
    support: frozenset[str]
    imports: frozenset[str]
    named: Named | None


@dataclass(frozen=True)
class Metric:
    """A metric under the name that Keras reports it by; `function` is the support piece behind it."""

    name: str
    value: cst.BaseExpression
    function: str


def loss_of(node: cst.BaseExpression | None, activation: str | None, tracer: Tracer, rules: Rules) -> Loss:
    """The loss for a model whose output comes from `activation`. Raises Refused for what has no counterpart."""
    if node is None or code(node) == "None":
        raise Refused("compile gets no loss")
    given = tracer.value(node)
    name, made = _loss_class(given, tracer)
    rule = rules(f"tf.keras.losses.{name}")
    if rule is None or name not in LOSSES:
        raise Refused(f"the loss {name} has no rule yet")
    arguments = bound(rule, made)
    keywords: dict[str, cst.BaseExpression | str | None] = {}
    if name in _SOFT:
        kind = _kind(arguments, _SOFT[name], activation)
        keywords["outputs_are"] = None if kind == _SOFT[name] else f'"{kind}"'
    for extra in ("label_smoothing", "delta"):
        if extra in {parameter.name for parameter in rule.parameters} and not arguments.left_out(extra):
            keywords[extra] = arguments.value(extra)
    value = _partial(LOSSES[name], keywords)
    imports = frozenset({"from functools import partial"} if isinstance(value, cst.Call) else ())
    literals = {
        key: constant(tracer.peek(item)) for key, item in arguments.given.items() if key not in ("name", "reduction")
    }
    return Loss(value, frozenset({LOSSES[name]}), imports, None if None in literals.values() else Named(name, literals))


def _loss_class(given: cst.BaseExpression, tracer: Tracer) -> tuple[str, cst.Call]:
    text, api = constant(given), tracer.api(given)
    if isinstance(text, str):
        name = LOSS_NAMES.get(text.lower())
        if name is None:
            raise Refused(f"the loss {text!r} has no rule yet")
        return name, cst.Call(cst.Name(name))
    if isinstance(given, cst.List | cst.Tuple | cst.Dict):
        raise Refused("several losses: models with several outputs are not trained by this rule yet")
    last = api.rsplit(".", 1)[-1]
    if isinstance(given, cst.Call) and api:
        return last, given
    if api and last.lower() in LOSS_NAMES:
        name = LOSS_NAMES[last.lower()]
        return name, cst.Call(cst.Name(name))
    raise Refused(f"the loss `{code(given)}` is not one of Keras's, or not known here")


def _kind(arguments: Bound, soft: str, activation: str | None) -> str:
    """What the outputs are. Keras goes back to the logits of a softmax or sigmoid, whatever `from_logits` says."""
    flag = constant(arguments.value("from_logits"))
    if not isinstance(flag, bool):
        raise Refused("`from_logits` is not written out as True or False")
    if activation == soft:
        return soft
    return "logits" if flag else "probabilities"


def metrics_of(node: cst.BaseExpression | None, tracer: Tracer, rules: Rules) -> list[Metric]:
    """The metrics of a model with one output. Raises Refused for what has no counterpart."""
    if node is None or code(node) == "None":
        return []
    given = tracer.value(node)
    if isinstance(given, cst.Dict):
        raise Refused("metrics by output: models with several outputs are not trained by this rule yet")
    items = [item.value for item in given.elements] if isinstance(given, cst.List | cst.Tuple) else [given]
    metrics = [_metric(item, tracer, rules) for item in items]
    if len({metric.name for metric in metrics}) < len(metrics):
        raise Refused("two metrics have the same name")
    return metrics


def _metric(node: cst.BaseExpression, tracer: Tracer, rules: Rules) -> Metric:
    given = tracer.value(node)
    text, api = constant(given), tracer.api(given)
    if isinstance(text, str):
        function = METRIC_NAMES.get(text.lower())
        if function is None:
            raise Refused(f"the metric {text!r} has no rule yet")
        return Metric(text, cst.Name(function), function)
    name = api.rsplit(".", 1)[-1]
    rule = rules(api) if api else None
    if not isinstance(given, cst.Call) or rule is None or rule.family != "metric" or name not in METRICS:
        raise Refused(f"the metric `{code(given)}` has no rule yet, or is not known here")
    arguments = bound(rule, given)
    label = constant(arguments.value("name"))
    if not isinstance(label, str):
        raise Refused(f"the name of the metric {name} is not written out")
    threshold = None
    if name == "BinaryAccuracy" and not arguments.left_out("threshold"):
        threshold = arguments.value("threshold")
    return Metric(label, _partial(METRICS[name], {"threshold": threshold}), METRICS[name])


def _partial(function: str, keywords: dict[str, cst.BaseExpression | str | None]) -> cst.BaseExpression:
    if all(value is None for value in keywords.values()):
        return cst.Name(function)
    return call("partial", expression(function), **keywords)
