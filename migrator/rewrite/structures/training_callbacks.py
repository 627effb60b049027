"""Callbacks as code of a training loop: what happens before it, in each epoch, and after it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import libcst as cst

from migrator.facts import Rule
from migrator.rewrite.arguments import Bound, code
from migrator.rewrite.structures.training_code import Statements, call, constant, element_comments
from migrator.rewrite.structures.training_losses import LOWER_IS_BETTER
from migrator.rewrite.structures.training_tree import Refused
from migrator.rewrite.structures.training_uses import Namer, Tracer, Use, bound
from migrator.rewrite.templates import expression, statements

RATE_CHANGERS = ("tf.keras.callbacks.ReduceLROnPlateau", "tf.keras.callbacks.LearningRateScheduler")


@dataclass(frozen=True)
class LoopParts:
    """The names of the loop that callbacks speak of. `metrics` maps each metric's name to its function."""

    epoch: cst.BaseExpression
    logs: cst.BaseExpression
    model: cst.BaseExpression
    optimizer: cst.BaseExpression
    metrics: Mapping[str, str]
    validates: bool
    keras: int
    parameter_count: Callable[[cst.BaseExpression], int | None]
    peek: Callable[[cst.BaseExpression], cst.BaseExpression]  # the value of a variable that is bound once


@dataclass(frozen=True)
class CallbackCode:
    """One callback's code by place, and what it needs.

    `kept` stands where the callback was made: what it remembers from one fit to the next.
    """

    kept: Statements = field(default_factory=list)
    before: Statements = field(default_factory=list)
    begin: Statements = field(default_factory=list)
    each: Statements = field(default_factory=list)
    stop: Statements = field(default_factory=list)
    after: Statements = field(default_factory=list)
    rate: bool = False  # changes the learning rate, which Keras then notes for each epoch
    support: frozenset[str] = frozenset()
    imports: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Callback:
    """One callback as the code has it: its call, the variable that held it, and the comments beside it."""

    api: str
    call: cst.Call
    variable: str | None
    comments: tuple[cst.EmptyLine, ...]


def callbacks_of(node: cst.BaseExpression | None, tracer: Tracer) -> list[Callback]:
    """The callbacks that fit was given. Raises Refused where one is not known."""
    if node is None or code(node) == "None":
        return []
    given = tracer.value(node)
    display = isinstance(given, cst.List | cst.Tuple)
    items = [item.value for item in given.elements] if isinstance(given, cst.List | cst.Tuple) else [given]
    comments = element_comments(given) if isinstance(given, cst.List | cst.Tuple) else [[]]
    found = []
    for item, beside in zip(items, comments, strict=True):
        made = tracer.value(item)
        api = tracer.api(made)
        if not isinstance(made, cst.Call) or not api:
            raise Refused(f"the callback `{code(item)}` is not one of Keras's, or not known here")
        variable = item.value if display and isinstance(item, cst.Name) else None
        found.append(Callback(api, made, variable, tuple(beside)))
    return found


def changes_rate(fit: Use) -> bool:
    """Whether a callback of this fit changes the learning rate."""
    node = next((argument.value for argument in fit.call.args if _is_callbacks(fit.call, argument)), None)
    try:
        return any(item.api in RATE_CHANGERS for item in callbacks_of(node, Tracer(fit)))
    except Refused:
        return False  # the fit is left for the same reason


def _is_callbacks(fit: cst.Call, argument: cst.Arg) -> bool:
    if argument.keyword is not None:
        return argument.keyword.value == "callbacks"
    return not argument.star and fit.args.index(argument) == 5


def callback_code(
    callback: Callback, parts: LoopParts, namer: Namer, rules: Callable[[str], Rule | None]
) -> CallbackCode:
    """The code of one callback. Raises Refused where it has no rule or an argument no counterpart."""
    rule = rules(callback.api)
    writer = _WRITERS.get(rule.id) if rule else None
    if rule is None or writer is None:
        raise Refused(f"the callback {callback.api} has no rule yet")
    written = writer(bound(rule, callback.call), callback.variable, parts, namer)
    if written.before:
        return replace(written, before=_commented(callback, written.before))
    if written.each:
        return replace(written, each=_commented(callback, written.each))
    return replace(written, begin=_commented(callback, written.begin))


def _commented(callback: Callback, lines: Statements) -> Statements:
    first, *rest = lines
    above = [*callback.comments, *getattr(first, "leading_lines", ())]
    return [first.with_changes(leading_lines=above), *rest]


def _monitor(arguments: Bound, parts: LoopParts) -> tuple[cst.BaseExpression, str]:
    """What is watched, and whether "min" or "max" is better, as Keras decides it."""
    name, mode = constant(arguments.value("monitor")), constant(arguments.value("mode"))
    if not isinstance(name, str) or mode not in ("auto", "min", "max"):
        raise Refused("`monitor` and `mode` of a callback are not both written out")
    if name.startswith("val_") and not parts.validates:
        raise Refused(f"a callback watches {name!r}, but nothing is validated here: Keras would never act")
    base = name.removeprefix("val_")
    if base != "loss" and base not in parts.metrics:
        raise Refused(f"a callback watches {name!r}, which is not among the loss and the metrics that compile names")
    if mode == "auto":
        lower = base == "loss" or parts.metrics[base] in LOWER_IS_BETTER
        mode = "min" if lower else "max"
    return expression(f'"{name}"'), str(mode)


def _kept(arguments: Bound, *names: str) -> dict[str, cst.BaseExpression | str | None]:
    return {name: None if arguments.left_out(name) else arguments.value(name) for name in names}


def _early_stopping(arguments: Bound, variable: str | None, parts: LoopParts, namer: Namer) -> CallbackCode:
    monitor, mode = _monitor(arguments, parts)
    name = cst.Name(variable or namer.fresh("early_stopping"))
    keywords: dict[str, cst.BaseExpression | str | None] = {
        "monitor": None if arguments.left_out("monitor") else monitor,
        **_kept(arguments, "min_delta", "patience"),
        "mode": None if mode == "min" else '"max"',
        **_kept(arguments, "baseline", "restore_best_weights", "start_from_epoch"),
    }
    restores = not arguments.left_out("restore_best_weights")
    # Keras 3 restores at the end in any case, Keras 2 only when it stopped early
    restore = statements("{stopper}.restore({model})", stopper=name, model=parts.model) if restores else []
    stop = statements(
        """
        if {stopper}.step({epoch}, {logs}, {model}):
            {restore}
            break
        """,
        stopper=name, epoch=parts.epoch, logs=parts.logs, model=parts.model,
        restore=restore if parts.keras == 2 else [],
    )  # fmt: skip
    return CallbackCode(
        before=statements("{name} = {value}", name=name, value=call("EarlyStopper", **keywords)),
        stop=stop,
        after=restore if parts.keras == 3 else [],
        support=frozenset({"EarlyStopper"}),
    )


def _plateau(arguments: Bound, variable: str | None, parts: LoopParts, namer: Namer) -> CallbackCode:
    monitor, mode = _monitor(arguments, parts)
    name = cst.Name(variable or namer.fresh("scheduler"))
    value = call(
        "torch.optim.lr_scheduler.ReduceLROnPlateau",
        parts.optimizer,
        mode=None if mode == "min" else '"max"',
        factor=None if arguments.left_out("factor") else arguments.value("factor"),
        patience=_one_less(arguments, "patience"),
        threshold=arguments.value("min_delta") if not arguments.left_out("min_delta") else None,
        threshold_mode='"abs"',
        cooldown=None if arguments.left_out("cooldown") else _one_less(arguments, "cooldown"),
        min_lr=None if arguments.left_out("min_lr") else arguments.value("min_lr"),
        eps="0",
    )
    return CallbackCode(
        before=statements("{name} = {value}", name=name, value=value),
        each=statements("{name}.step({logs}[{monitor}])", name=name, logs=parts.logs, monitor=monitor),
        rate=True,
        imports=frozenset({"import torch"}),
    )


def _one_less(arguments: Bound, name: str) -> cst.BaseExpression:
    """PyTorch acts one epoch after the count is full, Keras when it is; neither waits less than one epoch."""
    value = arguments.value(name)
    number = constant(value)
    if isinstance(number, int):
        return expression(str(max(number - 1, 0)))
    return expression("max({value} - 1, 0)", value=value)


def _checkpoint(arguments: Bound, variable: str | None, parts: LoopParts, namer: Namer) -> CallbackCode:
    path = _path(arguments.value("filepath"), parts)
    save = statements("torch.save({model}.state_dict(), {path})", model=parts.model, path=path)
    if arguments.left_out("save_best_only"):
        return CallbackCode(each=save, imports=frozenset({"import torch"}))
    if constant(arguments.value("save_best_only")) is not True:
        raise Refused("`save_best_only` is not written out as True or False")
    monitor, mode = _monitor(arguments, parts)
    best = cst.Name(namer.fresh("best"))
    sign, start = ("<", "math.inf") if mode == "min" else (">", "-math.inf")
    each = statements(
        f"""
        if {{logs}}[{{monitor}}] {sign} {{best}}:
            {{best}} = {{logs}}[{{monitor}}]
            {{save}}
        """,
        logs=parts.logs, monitor=monitor, best=best, save=save,
    )  # fmt: skip
    return CallbackCode(
        kept=statements("{best} = {start}", best=best, start=start),
        each=each,
        imports=frozenset({"import torch", "import math"}),
    )


def _path(node: cst.BaseExpression, parts: LoopParts) -> cst.BaseExpression:
    """A path with fields such as {epoch:02d} is filled in as Keras does, epochs counted from 1."""
    found = parts.peek(node)
    text = constant(found)
    if isinstance(text, str) and "{" not in text:
        return node
    if isinstance(text, str) or not isinstance(found, cst.FormattedString):
        return expression("{path}.format(epoch={epoch} + 1, **{logs})", path=node, epoch=parts.epoch, logs=parts.logs)
    raise Refused("the checkpoint's path is a formatted text, whose fields cannot be told from Keras's own")


def _schedule(arguments: Bound, variable: str | None, parts: LoopParts, namer: Namer) -> CallbackCode:
    function = arguments.value("schedule")
    takes = parts.parameter_count(function)
    if takes not in (1, 2):
        raise Refused("the schedule of LearningRateScheduler is not seen to take an epoch, or an epoch and a rate")
    before: Statements = []
    if not isinstance(function, cst.Name):
        name = cst.Name(variable or namer.fresh("schedule"))
        before = statements("{name} = {function}", name=name, function=function)
        function = name
    begin = statements(
        f"""
        for {{group}} in {{optimizer}}.param_groups:
            {{group}}["lr"] = {{schedule}}({{epoch}}{', {group}["lr"]' if takes == 2 else ""})
        """,
        group=cst.Name(namer.fresh("group")), optimizer=parts.optimizer, schedule=function, epoch=parts.epoch,
    )  # fmt: skip
    return CallbackCode(before=before, begin=begin, rate=True)


_WRITERS: dict[str, Callable[[Bound, str | None, LoopParts, Namer], CallbackCode]] = {
    "early-stopping": _early_stopping,
    "reduce-lr-on-plateau": _plateau,
    "model-checkpoint": _checkpoint,
    "learning-rate-scheduler": _schedule,
}
