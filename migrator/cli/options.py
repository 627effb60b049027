"""Options that several commands share, each defined once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
PLACE = click.Path(path_type=Path)


def source_tree(function: F) -> F:
    """The tree to read, what to leave out of it, and which Keras it was written for."""
    for decorate in (
        click.option(
            "--keras",
            type=click.Choice(["2", "3"]),
            help="Which Keras the code was written for; read from it by default.",
        ),
        click.option("--exclude", multiple=True, metavar="GLOB", help="Leave these files out; may be repeated."),
        click.argument("path", type=PLACE),
    ):
        function = decorate(function)
    return function


def keras_number(text: str | None) -> int | None:
    """`--keras` as the stages take it."""
    return None if text is None else int(text)


def text_or_json(function: F) -> F:
    """Text for people or one JSON object for programs."""
    option = click.option(
        "--format", "form", type=click.Choice(["text", "json"]), default="text", help="Text, or one JSON object."
    )
    return option(function)
