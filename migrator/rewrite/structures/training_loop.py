"""`fit` as an explicit loop over epochs and mini-batches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import libcst as cst

from migrator.rewrite.arguments import Bound, code
from migrator.rewrite.structures.training_attached import attached, parameter_count
from migrator.rewrite.structures.training_callbacks import (
    LoopParts,
)
from migrator.rewrite.structures.training_code import Statements, call, constant
from migrator.rewrite.structures.training_compile import Compiled
from migrator.rewrite.structures.training_data import Data, data_of, epochs_of
from migrator.rewrite.structures.training_inference import evaluation
from migrator.rewrite.structures.training_optimizers import CLIPS
from migrator.rewrite.structures.training_uses import Namer, Tracer, Use
from migrator.rewrite.templates import expression, statements

LOOP = """
{before}
for {epoch} in {epochs}:
    {begin}
    {model}.train()
    {reset}
    for {inputs}, {targets} in {batches}:
        {outputs} = {forward}
        {loss} = {objective}
        {optimizer}.zero_grad()
        {loss}.backward()
        {clip}
        {optimizer}.step()
        {measure}
    {summarise}
    {each}
    {stop}
{after}
{model}.eval()
"""
_LOCALS = ("device", "epoch", "means", "inputs", "targets", "outputs", "loss", "validation", "logs")


@dataclass(frozen=True)
class Loop:
    """The statements of one rewritten fit, and what they need."""

    statements: Statements
    support: frozenset[str]
    imports: frozenset[str]
    tracer: Tracer
    device: cst.BaseExpression
    kept: Mapping[cst.SimpleStatementLine, Statements]  # in the place of variables that the loop took over


def loop_of(
    use: Use, arguments: Bound, compiled: Compiled, namer: Namer, history: cst.Name | None, earlier: Loop | None
) -> Loop:
    """The loop in the place of a fit call. Raises Refused for the first argument that has no counterpart.

    `earlier` is a loop that always ran before this one and has brought the model to its device.
    """
    tracer, rules = Tracer(use), compiled.rules
    names: dict[str, cst.BaseExpression] = {name: cst.Name(namer.fresh(name)) for name in _LOCALS}
    if earlier is not None:
        names["device"] = earlier.device
    state = compiled.seen_from(use)
    data = data_of(use, arguments, names["device"], namer)
    parts = _parts(use, compiled, names, data, tracer)
    callbacks = attached(arguments.given.get("callbacks"), use, parts, tracer, namer, rules)
    codes = callbacks.codes
    epochs, count, counted = epochs_of(arguments, namer)
    report = _report(arguments, parts, count)
    watched = bool(history or report or any(item.each or item.stop for item in codes))
    start = _start(use, names) if earlier is None else []
    body = statements(
        LOOP,
        **names,
        model=use.receiver,
        optimizer=state["optimizer"],
        epochs=epochs,
        batches=data.training,
        before=[*start, *counted, *data.before, *callbacks.here, *callbacks.all("before"), *_history(history)],
        begin=callbacks.all("begin"),
        reset=_reset(compiled, state, names) if watched else [],
        forward=_forward(use, names),
        objective=_objective(use, state, names),
        clip=_clip(use, compiled),
        measure=statements("{means}.update({loss}, {outputs}, {targets})", **names) if watched else [],
        summarise=[
            *statements("{logs} = {means}.compute()", logs=names["logs"], means=names["means"]),
            *_validation(use, compiled, data, names),
            *(_rate(parts) if any(item.rate for item in codes) else []),
            *_record(history, names),
            *report,
        ] if watched else [],
        each=callbacks.all("each"),
        stop=callbacks.all("stop"),
        after=callbacks.all("after"),
    )  # fmt: skip
    return Loop(
        body,
        _support(compiled, data, watched, history is not None) | callbacks.support,
        frozenset({"import torch"}) | callbacks.imports,
        tracer,
        names["device"],
        callbacks.kept,
    )


def _parts(use: Use, compiled: Compiled, names: dict[str, cst.BaseExpression], data: Data, tracer: Tracer) -> LoopParts:
    return LoopParts(
        epoch=names["epoch"],
        logs=names["logs"],
        model=use.receiver,
        optimizer=compiled.seen_from(use)["optimizer"],
        metrics={metric.name: metric.function for metric in compiled.metrics},
        validates=data.validation is not None,
        keras=compiled.rules.context.keras,
        parameter_count=lambda schedule: parameter_count(schedule, use),
        peek=tracer.peek,
    )


def _support(compiled: Compiled, data: Data, watched: bool, remembered: bool) -> frozenset[str]:
    clips = compiled.optimizer.clip is not None and compiled.optimizer.clip[0] == "clipnorm"
    pieces = {"RunningMeans": watched, "TrainingHistory": remembered, "clip_grad_norm_each_": clips}
    return data.support | {"mini_batches"} | {name for name, used in pieces.items() if used}


def _start(use: Use, names: dict[str, cst.BaseExpression]) -> Statements:
    return statements(
        """
        {device} = torch.device("cuda" if torch.cuda.is_available() else "cpu")
        {model}.to({device})
        """,
        device=names["device"],
        model=use.receiver,
    )


def _history(history: cst.Name | None) -> Statements:
    return statements("{history} = TrainingHistory()", history=history) if history else []


def _record(history: cst.Name | None, names: dict[str, cst.BaseExpression]) -> Statements:
    if history is None:
        return []
    return statements("{h}.append({epoch}, {logs})", h=history, epoch=names["epoch"], logs=names["logs"])


def _forward(use: Use, names: dict[str, cst.BaseExpression]) -> cst.BaseExpression:
    assert use.facts is not None
    several = len(use.facts.inputs) > 1
    return expression(
        "{model}(*{inputs})" if several else "{model}({inputs})", model=use.receiver, inputs=names["inputs"]
    )


def _objective(
    use: Use, state: dict[str, cst.BaseExpression], names: dict[str, cst.BaseExpression]
) -> cst.BaseExpression:
    assert use.facts is not None
    loss = expression("{f}({o}, {t})", f=state["loss_fn"], o=names["outputs"], t=names["targets"])
    return expression("{loss} + {model}.penalty()", loss=loss, model=use.receiver) if use.facts.has_penalty else loss


def _clip(use: Use, compiled: Compiled) -> Statements:
    if compiled.optimizer.clip is None:
        return []
    name, limit = compiled.optimizer.clip
    return statements(CLIPS[name], model=use.receiver, limit=limit)


def _reset(
    compiled: Compiled, state: dict[str, cst.BaseExpression], names: dict[str, cst.BaseExpression]
) -> Statements:
    made = call("RunningMeans", state["metrics"]) if compiled.metrics or compiled.travels else call("RunningMeans")
    return statements("{means} = {made}", means=names["means"], made=made)


def _validation(use: Use, compiled: Compiled, data: Data, names: dict[str, cst.BaseExpression]) -> Statements:
    if data.validation is None:
        return []
    means = evaluation(use, compiled, data.validation)
    return statements(
        """
        {validation} = {means}
        {logs} |= {{f"val_{{name}}": value for name, value in {validation}.items()}}
        """,
        validation=names["validation"],
        logs=names["logs"],
        means=means,
    )


def _rate(parts: LoopParts) -> Statements:
    key = "learning_rate" if parts.keras == 3 else "lr"
    return statements(
        f'{{logs}}["{key}"] = {{optimizer}}.param_groups[0]["lr"]', logs=parts.logs, optimizer=parts.optimizer
    )


def _report(arguments: Bound, parts: LoopParts, count: cst.BaseExpression) -> Statements:
    """One line for each epoch, as Keras prints unless verbose=0."""
    verbose = arguments.value("verbose")
    known = constant(verbose, "computed")
    if known in (0, False):
        return []
    total = code(count) if isinstance(count, cst.Integer) else "{{{count}}}"
    line = statements(
        f'print(f"Epoch {{{{{{epoch}} + 1}}}}/{total}: " '
        '+ ", ".join(f"{{name}} {{value:.4g}}" for name, value in {logs}.items()))',
        epoch=parts.epoch,
        logs=parts.logs,
        count=count,
    )
    if known != "computed":
        return line
    return statements("if {verbose}:\n    {line}", verbose=verbose, line=line)
