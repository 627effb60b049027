"""evaluate, predict, summary and weights on disk, each one expression."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from migrator.rewrite.arguments import Bound, code
from migrator.rewrite.structures.training_code import call, constant
from migrator.rewrite.structures.training_compile import Compiled
from migrator.rewrite.structures.training_tree import Refused
from migrator.rewrite.structures.training_uses import Tracer, Use
from migrator.rewrite.templates import expression

DATASETS = ("tf.data.", "tf.keras.utils.image_dataset", "tf.keras.preprocessing.", "tf.keras.utils.Sequence")


def check_arrays(use: Use, *nodes: cst.BaseExpression) -> None:
    """Raises Refused where one of these is seen to be a dataset or a generator."""
    tracer = Tracer(use)
    for node in nodes:
        if tracer.api(tracer.peek(node)).startswith(DATASETS):
            raise Refused(f"`{code(node)}` is a dataset or a generator; only arrays are read by this rule yet")


def integers(use: Use) -> str | None:
    """The argument that keeps integer inputs as they are, where the model has such inputs; else they become floats."""
    assert use.facts is not None
    return None if all(dtype.startswith("float") for dtype in use.facts.dtypes) else "True"


def evaluate(use: Use, arguments: Bound, compiled: Compiled) -> cst.BaseExpression:
    """The evaluation as Keras returns it: a list of loss and metrics, the loss alone, or a dictionary."""
    x, y = arguments.given.get("x"), arguments.given.get("y")
    if x is None or y is None:
        raise Refused(
            "evaluate gets one data argument, a dataset or a generator; only arrays are read by this rule yet"
        )
    check_arrays(use, x, y)
    size = None if arguments.left_out("batch_size") else arguments.value("batch_size")
    means = evaluation(use, compiled, call("mini_batches", x, y, batch_size=size, integer_inputs=integers(use)))
    as_dictionary = constant(arguments.value("return_dict"))
    if not isinstance(as_dictionary, bool):
        raise Refused("`return_dict` is not written out as True or False")
    parent = use.file.tree.parents[use.call]
    if isinstance(parent, cst.Expr):
        return means if constant(arguments.value("verbose")) == 0 else expression("print({means})", means=means)
    if as_dictionary:
        return means
    if not compiled.metrics:
        return expression('{means}["loss"]', means=means)
    if isinstance(parent, cst.Assign) and all(isinstance(t.target, cst.Tuple | cst.List) for t in parent.targets):
        return expression("{means}.values()", means=means)
    return expression("list({means}.values())", means=means)


def evaluation(use: Use, compiled: Compiled, batches: cst.BaseExpression) -> cst.BaseExpression:
    """The means of loss and metrics over batches, as a dictionary."""
    assert use.facts is not None
    model, names = use.receiver, compiled.seen_from(use)
    metrics = names["metrics"] if compiled.metrics or compiled.travels else expression("{{}}")
    return call(
        "evaluate_in_batches",
        model,
        batches,
        names["loss_fn"],
        metrics,
        penalty=expression("{model}.penalty", model=model) if use.facts.has_penalty else None,
    )


def predict(use: Use, arguments: Bound) -> cst.BaseExpression:
    """The outputs as arrays."""
    x = arguments.value("x")
    check_arrays(use, x)
    size = None if arguments.left_out("batch_size") else arguments.value("batch_size")
    return call("predict_in_batches", use.receiver, x, batch_size=size, integer_inputs=integers(use))


def summary(use: Use, arguments: Bound) -> cst.BaseExpression:
    """The modules of the model, printed."""
    return expression("print({model})", model=use.receiver)


def save_weights(use: Use, arguments: Bound) -> cst.BaseExpression:
    """The state_dict under the given path."""
    return expression("torch.save({model}.state_dict(), {path})", model=use.receiver, path=arguments.value("filepath"))


def load_weights(use: Use, arguments: Bound) -> cst.BaseExpression:
    """The state_dict from the given path."""
    saved = call("torch.load", arguments.value("filepath"), map_location='"cpu"', weights_only="True")
    return expression("{model}.load_state_dict({saved})", model=use.receiver, saved=saved)


# what each needs from support and imports
PLAIN: dict[str, tuple[Callable[[Use, Bound], cst.BaseExpression], frozenset[str], frozenset[str]]] = {
    "predict": (predict, frozenset({"predict_in_batches"}), frozenset()),
    "summary": (summary, frozenset(), frozenset()),
    "save_weights": (save_weights, frozenset(), frozenset({"import torch"})),
    "load_weights": (load_weights, frozenset(), frozenset({"import torch"})),
}
