"""Keras optimizers as torch.optim, with Keras's defaults written out where PyTorch's are others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import libcst as cst

from migrator.facts import Named, Profile, Rule
from migrator.rewrite.arguments import Bound, code
from migrator.rewrite.structures.training_code import call, constant
from migrator.rewrite.structures.training_tree import Refused
from migrator.rewrite.structures.training_uses import Tracer, bound
from migrator.rewrite.templates import expression

STRINGS = {"adam": "Adam", "adamw": "AdamW", "sgd": "SGD", "rmsprop": "RMSprop"}
CLIPS = {
    "clipnorm": "clip_grad_norm_each_({model}.parameters(), {limit})",
    "clipvalue": "torch.nn.utils.clip_grad_value_({model}.parameters(), {limit})",
    "global_clipnorm": "torch.nn.utils.clip_grad_norm_({model}.parameters(), {limit})",
}


@dataclass(frozen=True)
class Optimizer:
    """How to make the optimizer, and what its steps need besides."""

    value: cst.BaseExpression
    support: frozenset[str]
    clip: tuple[str, cst.BaseExpression] | None
    differences: tuple[str, ...]
    named: Named | None


def optimizer_of(
    node: cst.BaseExpression | None, model: cst.BaseExpression, tracer: Tracer, context: OptimizerContext
) -> Optimizer:
    """The optimizer that compile was given. Raises Refused where it cannot be told or has no counterpart."""
    given = tracer.value(node) if node is not None else expression('"rmsprop"')
    made, api = _call_of(given, tracer)
    rule = context.rule(api)
    if rule is None or rule.family != "optimizer" or rule.structure is None:
        raise Refused(f"the optimizer {api or 'that compile gets'} has no rule yet or is not known here")
    arguments = bound(rule, made)
    for name in ("decay", "lr"):
        if name in arguments.given:
            raise Refused(f"`{name}` of the optimizer means different things in different versions")
    _check_rate(arguments, tracer)
    parameters = expression("{model}.parameters()", model=model)
    value, support = _MAKERS[rule.id](arguments, parameters, context)
    return Optimizer(value, support, _clip(arguments), rule.differences, _named(rule.tf, arguments, tracer))


@dataclass(frozen=True)
class OptimizerContext:
    """What decides between equivalent optimizers. `rate_changes`: callbacks change the learning rate."""

    rule: Callable[[str], Rule | None]
    profile: Profile
    rate_changes: bool


def _call_of(given: cst.BaseExpression, tracer: Tracer) -> tuple[cst.Call, str]:
    text = constant(given)
    if isinstance(text, str):
        name = STRINGS.get(text.lower())
        if name is None:
            raise Refused(f"the optimizer {text!r} has no rule yet")
        return cst.Call(cst.Name(name)), f"tf.keras.optimizers.{name}"
    api = tracer.api(given)
    if isinstance(given, cst.Call):
        if any(argument.keyword and argument.keyword.value in ("lr", "decay") for argument in given.args):
            raise Refused(
                "`lr` and `decay` of an optimizer are ignored by TensorFlow 2.11 to 2.15 and rejected by Keras 3: "
                "write learning_rate, or a schedule, as it was meant"
            )
        return given, api
    return cst.Call(given), api  # a class in place of an object


def _check_rate(arguments: Bound, tracer: Tracer) -> None:
    rate = arguments.value("learning_rate")
    source = tracer.peek(rate)
    if ".schedules." in tracer.api(source) or ".experimental." in tracer.api(source):
        raise Refused("learning-rate schedules have no rule yet")
    if not isinstance(constant(source, 0.0), int | float):
        raise Refused(f"the learning rate `{code(rate)}` is no number")


def _clip(arguments: Bound) -> tuple[str, cst.BaseExpression] | None:
    given = [name for name in CLIPS if not arguments.left_out(name)]
    if not given:
        return None
    if len(given) > 1:
        raise Refused("Keras takes one of clipnorm, clipvalue and global_clipnorm, this call gives several")
    limit = arguments.value(given[0])
    if not isinstance(constant(limit), int | float):
        raise Refused(f"`{given[0]}` is not written out as a number")
    return given[0], limit


def _adam(arguments: Bound, parameters: cst.BaseExpression, context: OptimizerContext) -> Made:
    betas = None
    if not (arguments.left_out("beta_1") and arguments.left_out("beta_2")):
        betas = expression("({a}, {b})", a=arguments.value("beta_1"), b=arguments.value("beta_2"))
    decay = None
    if arguments.rule.id == "adamw" or not arguments.left_out("weight_decay"):
        decay = arguments.value("weight_decay")
    faithful = context.profile == "faithful"
    name = "AdamEpsilonHat" if faithful else "torch.optim.AdamW" if decay is not None else "torch.optim.Adam"
    value = call(
        name,
        parameters,
        lr=_plain(arguments, "learning_rate", "1e-3"),
        betas=betas,
        eps=_plain(arguments, "epsilon", "1e-7"),
        weight_decay=decay,
        amsgrad=None if arguments.left_out("amsgrad") else arguments.value("amsgrad"),
    )
    return value, frozenset({name}) if faithful else frozenset()


def _sgd(arguments: Bound, parameters: cst.BaseExpression, context: OptimizerContext) -> Made:
    rate = arguments.value("learning_rate")
    has_momentum, has_decay = not arguments.left_out("momentum"), not arguments.left_out("weight_decay")
    momentum = arguments.value("momentum") if has_momentum else None
    nesterov = arguments.value("nesterov") if has_momentum and not arguments.left_out("nesterov") else None
    if has_momentum and has_decay:
        raise Refused("SGD with both momentum and weight_decay: PyTorch lets the decay gather momentum, Keras does not")
    if has_momentum and (context.rate_changes or context.profile == "faithful"):
        return call("MomentumSGD", parameters, lr=rate, momentum=momentum, nesterov=nesterov), frozenset(
            {"MomentumSGD"}
        )
    decay = arguments.value("weight_decay") if has_decay else None
    value = call("torch.optim.SGD", parameters, lr=rate, momentum=momentum, nesterov=nesterov, weight_decay=decay)
    return value, frozenset()


def _rmsprop(arguments: Bound, parameters: cst.BaseExpression, context: OptimizerContext) -> Made:
    value = call(
        "RMSpropEpsilonInside",
        parameters,
        lr=_plain(arguments, "learning_rate", "1e-3"),
        rho=None if arguments.left_out("rho") else arguments.value("rho"),
        momentum=None if arguments.left_out("momentum") else arguments.value("momentum"),
        eps=None if arguments.left_out("epsilon") else arguments.value("epsilon"),
        centered=None if arguments.left_out("centered") else arguments.value("centered"),
    )
    return value, frozenset({"RMSpropEpsilonInside"})


def _plain(arguments: Bound, name: str, default: str) -> cst.BaseExpression:
    return expression(default) if arguments.left_out(name) else arguments.value(name)


def _named(api: str, arguments: Bound, tracer: Tracer) -> Named | None:
    """The optimizer with its arguments, None where one of them is not known before the code runs."""
    given = {name: constant(tracer.peek(node)) for name, node in arguments.given.items() if name != "name"}
    return None if None in given.values() else Named(api.rsplit(".", 1)[-1], given)


Made = tuple[cst.BaseExpression, frozenset[str]]
_MAKERS: dict[str, Callable[[Bound, cst.BaseExpression, OptimizerContext], Made]] = {
    "adam": _adam,
    "adamw": _adam,
    "sgd": _sgd,
    "rmsprop": _rmsprop,
}
