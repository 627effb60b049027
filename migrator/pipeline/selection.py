"""Which pairs a command works on: named ones of the configuration, or one made from the command line."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from migrator import config
from migrator.errors import MigrateError
from migrator.facts import Accept, Named, Pair
from migrator.spec import parse_spec

FROM_COMMAND_LINE = "stated on the command line"


@dataclass(frozen=True)
class Selection:
    """Pairs, and the folder that their REFs are relative to. `ad_hoc`: not from a configuration."""

    pairs: tuple[Pair, ...]
    folder: Path
    interpreters: Mapping[str, str] = field(default_factory=dict)
    ad_hoc: bool = False


def from_config(file: Path | None = None, names: Sequence[str] = ()) -> Selection:
    """The pairs called `names` (all for none) of `file`, or of the configuration in the current folder.

    Raises MigrateError where there is no configuration, no such pair, or something in it that is wrong.
    """
    found = config.load(file or Path())
    return Selection(found.chosen(names), found.folder, found.interpreters)


def from_options(
    tensorflow: str | None,
    torch: str | None,
    inputs: Sequence[str],
    *,
    real_inputs: bool = False,
    target: str | None = None,
    loss: str | None = None,
    optimizer: str | None = None,
    accept: Sequence[str] = (),
    call: str | None = None,
    torch_call: str | None = None,
    tensorflow_args: str | None = None,
    interpreters: Mapping[str, str] | None = None,
) -> Selection:
    """One pair from the command line; REFs and files are relative to the current folder.

    `loss` and `optimizer` are Keras class names, with arguments as in Python where needed: `Adam(learning_rate=0.01)`.
    `tensorflow_args` is a JSON object. Raises MigrateError for whatever is missing or cannot be read.
    """
    if not tensorflow or not torch:
        missing = "--torch" if tensorflow else "--tensorflow"
        raise MigrateError(f"{missing} is missing: a pair needs both, each like models.py:build.")
    if not inputs and not real_inputs:
        raise MigrateError(
            "What goes into the model? Add --input float32[8,28,28,1], or --inputs FILE with real arrays."
        )
    for spec in (*inputs, *([target] if target else ())):
        parse_spec(spec)
    pair = Pair(
        name=_name(config.check_ref(torch, "--torch")),
        tensorflow=config.check_ref(tensorflow, "--tensorflow"),
        torch=torch,
        inputs=tuple(inputs),
        batch=_batch(inputs),
        target=target,
        loss=named(loss, "--loss") if loss else None,
        optimizer=named(optimizer, "--optimizer") if optimizer else None,
        accept=tuple(Accept(name, FROM_COMMAND_LINE) for name in accept),
        call=call,
        torch_call=torch_call,
        tensorflow_args=_object(tensorflow_args) if tensorflow_args else {},
    )
    return Selection((pair,), Path(), interpreters or {}, ad_hoc=True)


def named(text: str, option: str) -> Named:
    """`Adam` or `Adam(learning_rate=0.01)`; raises MigrateError for anything but literal keyword arguments."""
    wrong = MigrateError(f"'{text}' ({option}) is not understood. Write a Keras class name, or Name(argument=value).")
    try:
        node = ast.parse(text.strip(), mode="eval").body
        if isinstance(node, ast.Name):
            return Named(node.id)
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name) or node.args:
            raise wrong
        arguments = {keyword.arg: ast.literal_eval(keyword.value) for keyword in node.keywords}
    except (SyntaxError, ValueError):
        raise wrong from None
    if None in arguments:
        raise wrong
    return Named(node.func.id, {str(name): value for name, value in arguments.items()})


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except json.JSONDecodeError as error:
        raise MigrateError(
            f"--tensorflow-args is not JSON ({error.msg}). Write an object like '{{\"n\": 3}}'."
        ) from None
    if not isinstance(value, dict):
        raise MigrateError("--tensorflow-args must be a JSON object, one entry an argument, like '{\"n\": 3}'.")
    return value


def _name(ref: str) -> str:
    """`ported/models.py:build` -> `models-build`: readable, and fit for a folder's name."""
    place, _, attribute = ref.rpartition(":")
    stem = Path(place).stem if place.endswith(".py") else place.rpartition(".")[2]
    return f"{stem}-{attribute}".replace(".", "-")


def _batch(inputs: Sequence[str]) -> int:
    """The first dimension of the first input where it is a number; it is what figures per sample are divided by."""
    dims = parse_spec(inputs[0]).dims if inputs else ()
    return dims[0] if dims and isinstance(dims[0], int) else 32
