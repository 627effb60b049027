"""What a loop runs over: epochs, mini-batches of the training data, and the data that is held out."""

from __future__ import annotations

from dataclasses import dataclass

import libcst as cst

from migrator.rewrite.arguments import Bound, code
from migrator.rewrite.structures.training_code import Statements, call, constant, simple
from migrator.rewrite.structures.training_inference import check_arrays, integers
from migrator.rewrite.structures.training_tree import Refused
from migrator.rewrite.structures.training_uses import Namer, Tracer, Use
from migrator.rewrite.templates import expression, statements


@dataclass(frozen=True)
class Data:
    """Where batches come from: statements before the loop, and the two streams as expressions."""

    before: Statements
    training: cst.BaseExpression
    validation: cst.BaseExpression | None
    support: frozenset[str]


def data_of(use: Use, arguments: Bound, device: cst.BaseExpression, namer: Namer) -> Data:
    """The streams of a fit call. Raises Refused where what it reads is not seen to be arrays."""
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
    training = _stream(pair, size, _shuffle(arguments), device, integers(use))
    if validation is None:
        return Data(before, training, None, support)
    other = arguments.left_out("validation_batch_size")
    stream = _stream(validation, size if other else arguments.value("validation_batch_size"), None, None, integers(use))
    return Data(before, training, stream, support | {"evaluate_in_batches"})


def _stream(
    data: list[cst.BaseExpression | str],
    size: cst.BaseExpression,
    shuffle: cst.BaseExpression | None,
    device: cst.BaseExpression | None,
    whole: str | None,
) -> cst.BaseExpression:
    made = call("mini_batches", *data, batch_size=size, shuffle=shuffle, device=device, integer_inputs=whole)
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


def epochs_of(arguments: Bound, namer: Namer) -> tuple[cst.BaseExpression, cst.BaseExpression, Statements]:
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
