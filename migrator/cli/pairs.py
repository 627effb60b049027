"""How parity and bench are told what to compare: pairs of migrate.toml by name, or one pair stated ad hoc."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from migrator.cli.options import FILE, PLACE

if TYPE_CHECKING:
    from migrator.parity.options import Options
    from migrator.pipeline import Selection

F = TypeVar("F", bound=Callable[..., Any])

CALLS = click.Choice(["single", "list", "tuple", "dict", "args"])

# What states a pair without a configuration; any of these excludes names and --config.
_AD_HOC: tuple[tuple[str, dict[str, Any]], ...] = (
    ("--tensorflow", {"metavar": "REF", "help": "The TensorFlow model, as models.py:build; states a pair ad hoc."}),
    ("--torch", {"metavar": "REF", "help": "Its PyTorch twin."}),
    ("--input", {"metavar": "SPEC", "multiple": True, "help": "An input, as float32[8,28,28,1]; may be repeated."}),
    ("--call", {"type": CALLS, "help": "How several inputs reach the TensorFlow side."}),
    ("--torch-call", {"type": CALLS, "help": "How they reach the PyTorch side; by its forward by default."}),
    ("--tensorflow-args", {"metavar": "JSON", "help": "Arguments for the TensorFlow callable, as a JSON object."}),
    ("--target", {"metavar": "SPEC", "help": "The target of the loss, as int64[8]:int(0,10)."}),
    ("--loss", {"metavar": "NAME", "help": "A Keras loss, with arguments where needed: Huber(delta=2.0)."}),
    ("--optimizer", {"metavar": "NAME", "help": "A Keras optimizer: Adam(learning_rate=0.01)."}),
    ("--accept", {"metavar": "ID", "multiple": True, "help": "A known difference to live with; may be repeated."}),
)


def pair_options(function: F) -> F:
    """Adds PAIR…, --config, the options of a pair stated ad hoc, the interpreters and the device."""
    decorations = [
        click.argument("pairs", nargs=-1, metavar="[PAIR]..."),
        config_option,
        *(click.option(name, **settings) for name, settings in _AD_HOC),
        tensorflow_python,
        click.option("--torch-python", type=FILE, help="The Python that has PyTorch; migrate's own by default."),
        click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", show_default=True),
    ]
    for decorate in reversed(decorations):
        function = decorate(function)
    return function


def config_option(function: F) -> F:
    """`--config`."""
    text = "The migrate.toml to use; the one in the current folder by default."
    return click.option("--config", type=PLACE, help=text)(function)


def tensorflow_python(function: F) -> F:
    """`--tensorflow-python`."""
    text = "The Python that has TensorFlow; migrate's own by default."
    return click.option("--tensorflow-python", type=FILE, help=text)(function)


def select(pairs: tuple[str, ...], config: Path | None, stated: dict[str, Any]) -> Selection:
    """The pairs the command line means; `stated` holds the options of `pair_options`, and --inputs where it exists."""
    from migrator import pipeline

    names = [*(name for name, _ in _AD_HOC), *(["--inputs"] if "inputs" in stated else [])]
    values = {name: stated[name.removeprefix("--").replace("-", "_")] for name in names}
    given = [name for name, value in values.items() if value]
    pythons = interpreters(stated)
    if not given:
        selection = pipeline.from_config(config, pairs)
        return replace(selection, interpreters={**selection.interpreters, **pythons})
    if pairs or config:
        what = f"the pair '{pairs[0]}'" if pairs else "--config"
        raise click.UsageError(f"{given[0]} states a pair of its own; leave out {what}.")
    return pipeline.from_options(
        values["--tensorflow"],
        values["--torch"],
        values["--input"],
        real_inputs=values.get("--inputs") is not None,
        target=values["--target"],
        loss=values["--loss"],
        optimizer=values["--optimizer"],
        accept=values["--accept"],
        call=values["--call"],
        torch_call=values["--torch-call"],
        tensorflow_args=values["--tensorflow-args"],
        interpreters=pythons,
    )


def interpreters(stated: dict[str, Any]) -> dict[str, str]:
    """Side -> Python, as far as the command line names them."""
    named = {side: stated.get(f"{side}_python") for side in ("tensorflow", "torch")}
    return {side: str(path) for side, path in named.items() if path is not None}


def parity_options(selection: Selection, stated: dict[str, Any], checks: str | None = None) -> Options:
    """How parity is to check the selection."""
    from migrator.parity.options import Options

    options = Options(
        interpreters=selection.interpreters,
        device=stated["device"],
        inputs=stated.get("inputs"),
        ad_hoc=selection.ad_hoc,
    )
    return replace(options, checks=split(checks)) if checks is not None else options


def split(text: str) -> tuple[str, ...]:
    """`build, forward` -> its names."""
    return tuple(part.strip() for part in text.split(",") if part.strip())
