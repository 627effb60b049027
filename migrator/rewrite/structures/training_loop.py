"""`fit` as an explicit loop over epochs and mini-batches."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from migrator.rewrite.arguments import Bound, code
from migrator.rewrite.structures.training_callbacks import CallbackCode, LoopParts, callback_code, callbacks_of
from migrator.rewrite.structures.training_code import Statements, call, constant, simple
from migrator.rewrite.structures.training_compile import Compiled
from migrator.rewrite.structures.training_inference import check_arrays, evaluation
from migrator.rewrite.structures.training_optimizers import CLIPS
from migrator.rewrite.structures.training_tree import Refused
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


@dataclass(frozen=True)
class Data:
    """Where batches come from: statements before the loop, and the two streams as expressions."""

    before: Statements
    training: cst.BaseExpression
    validation: cst.BaseExpression | None
    support: frozenset[str]


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
    data = _data(use, arguments, names["device"], namer)
    parts = LoopParts(
        names["epoch"], names["logs"], use.receiver, state["optimizer"],
        {metric.name: metric.function for metric in compiled.metrics}, data.validation is not None, rules.context.keras,
        lambda schedule: parameter_count(schedule, use),
    )  # fmt: skip
    codes = [
        callback_code(item, parts, namer, rules) for item in callbacks_of(arguments.given.get("callbacks"), tracer)
    ]
    if sum(bool(item.stop) for item in codes) > 1:
        raise Refused("two callbacks that may end the training")
    epochs, count, counted = _epochs(arguments, namer)
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
        before=[*start, *counted, *data.before, *_all(codes, "before"), *_history(history)],
        begin=_all(codes, "begin"),
        reset=statements("{means} = RunningMeans()", means=names["means"]) if watched else [],
        forward=_forward(use, names),
        objective=_objective(use, state, names),
        clip=_clip(use, compiled),
        measure=_measure(compiled, state, names) if watched else [],
        summarise=[
            *statements("{logs} = {means}.compute()", logs=names["logs"], means=names["means"]),
            *_validation(use, compiled, data, names),
            *(_rate(parts) if any(item.rate for item in codes) else []),
            *_record(history, names),
            *report,
        ] if watched else [],
        each=_all(codes, "each"),
        stop=_all(codes, "stop"),
        after=_all(codes, "after"),
    )  # fmt: skip
    support = {"mini_batches"} | data.support | ({"RunningMeans"} if watched else set())
    support |= {"TrainingHistory"} if history else set()
    support |= (
        {"clip_grad_norm_each_"} if compiled.optimizer.clip and compiled.optimizer.clip[0] == "clipnorm" else set()
    )
    return Loop(
        body,
        frozenset(support).union(*(item.support for item in codes)),
        frozenset({"import torch"}).union(*(item.imports for item in codes)),
        tracer,
        names["device"],
    )


def _all(codes: list[CallbackCode], place: str) -> Statements:
    return [line for item in codes for line in getattr(item, place)]


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


def parameter_count(schedule: cst.BaseExpression, use: Use) -> int | None:
    """How many arguments a lambda, or a function of the same file, takes; None where that is not seen."""
    if isinstance(schedule, cst.Lambda):
        return len(schedule.params.params)
    for node in use.file.tree.parents:
        if isinstance(node, cst.FunctionDef) and isinstance(schedule, cst.Name) and node.name.value == schedule.value:
            return len(node.params.params)
    return None


def _record(history: cst.Name | None, names: dict[str, cst.BaseExpression]) -> Statements:
    if history is None:
        return []
    return statements("{h}.append({epoch}, {logs})", h=history, epoch=names["epoch"], logs=names["logs"])


def _epochs(arguments: Bound, namer: Namer) -> tuple[cst.BaseExpression, cst.BaseExpression, Statements]:
    """The range to loop over, the number of epochs, and a statement that names it where it is computed."""
    count = arguments.value("epochs")
    before: Statements = []
    if not simple(count):
        name = cst.Name(namer.fresh("epochs"))
        before = statements("{name} = {count}", name=name, count=count)
        count = name
    if arguments.left_out("initial_epoch"):
        return call("range", count), count, before
    return call("range", arguments.value("initial_epoch"), count), count, before


def _data(use: Use, arguments: Bound, device: cst.BaseExpression, namer: Namer) -> Data:
    x, y = arguments.given.get("x"), arguments.given.get("y")
    if x is None or y is None:
        raise Refused("fit gets one data argument, a dataset or a generator; only arrays are read by this rule yet")
    check_arrays(use, x, y)
    if isinstance(x, cst.Dict) or isinstance(y, cst.Dict | cst.List | cst.Tuple):
        raise Refused("data by name, or for several outputs, is not read by this rule yet")
    before: Statements = []
    validation, support = _held_out(use, arguments, namer, before)
    pair: list[cst.BaseExpression | str] = [x, y]
    if validation is None and not arguments.left_out("validation_split"):
        train, held = cst.Name(namer.fresh("training_data")), cst.Name(namer.fresh("validation_data"))
        split = call("split_validation", x, y, fraction=arguments.value("validation_split"))
        before += statements("{train}, {held} = {split}", train=train, held=held, split=split)
        pair, validation, support = [train], [held], frozenset({"split_validation"})
    elif not (simple(x) and simple(y)):
        train = cst.Name(namer.fresh("training_data"))
        before += statements("{train} = {x}, {y}", train=train, x=x, y=y)
        pair = [train]
    size = arguments.value("batch_size") if not arguments.left_out("batch_size") else expression("32")
    training = _stream(pair, size, _shuffle(arguments), device)
    if validation is None:
        return Data(before, training, None, support)
    other = arguments.left_out("validation_batch_size")
    stream = _stream(validation, size if other else arguments.value("validation_batch_size"), None, None)
    return Data(before, training, stream, support | {"evaluate_in_batches"})


def _stream(
    data: list[cst.BaseExpression | str],
    size: cst.BaseExpression,
    shuffle: cst.BaseExpression | None,
    device: cst.BaseExpression | None,
) -> cst.BaseExpression:
    made = call("mini_batches", *data, batch_size=size, shuffle=shuffle, device=device)
    if len(data) == 2 or not isinstance(made, cst.Call):
        return made
    return made.with_changes(args=[made.args[0].with_changes(star="*"), *made.args[1:]])


def _shuffle(arguments: Bound) -> cst.BaseExpression | None:
    value = arguments.value("shuffle")
    known = constant(value, "computed")
    if isinstance(known, str) and known != "computed":
        raise Refused(f"shuffle={code(value)} is not read by this rule")
    return None if known is False else value


def _held_out(
    use: Use, arguments: Bound, namer: Namer, before: Statements
) -> tuple[list[cst.BaseExpression | str] | None, frozenset[str]]:
    """The pair of arrays given as validation_data, or the one name that holds it."""
    if arguments.left_out("validation_data"):
        return None, frozenset()
    given = arguments.value("validation_data")
    pair = Tracer(use).peek(given)
    if not isinstance(pair, cst.Tuple | cst.List) or any(
        isinstance(item, cst.StarredElement) for item in pair.elements
    ):
        raise Refused(f"`validation_data={code(given)}` is not seen to be a pair of arrays")
    if len(pair.elements) != 2:
        raise Refused("validation_data with sample weights is not read by this rule yet")
    check_arrays(use, *(item.value for item in pair.elements))
    if pair is not given:
        return [given], frozenset()
    if all(simple(item.value) for item in pair.elements):
        return [item.value for item in pair.elements], frozenset()
    name = cst.Name(namer.fresh("validation_data"))
    before += statements("{name} = {pair}", name=name, pair=pair)
    return [name], frozenset()


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


def _measure(
    compiled: Compiled, state: dict[str, cst.BaseExpression], names: dict[str, cst.BaseExpression]
) -> Statements:
    if not compiled.metrics and not compiled.travels:
        return statements("{means}.update(len({targets}), loss={loss})", **names)
    plain = all(isinstance(item.value, cst.Name) and item.name.isidentifier() for item in compiled.metrics)
    if plain and not compiled.travels:
        calls = {item.name: call(item.function, names["outputs"], names["targets"]) for item in compiled.metrics}
        size = expression("len({targets})", targets=names["targets"])
        return statements("{update}", update=call(f"{code(names['means'])}.update", size, loss=names["loss"], **calls))
    return statements(
        """
        {means}.update(
            len({targets}), loss={loss}, **{{name: metric({outputs}, {targets}) for name, metric in {metrics}.items()}}
        )
        """,
        metrics=state["metrics"],
        **names,
    )


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
