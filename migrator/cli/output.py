"""What commands print: results on standard output, everything for people's eyes alone on standard error."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from migrator.errors import MigrateError


def say(text: str) -> None:
    """A sentence to the person at the terminal."""
    click.echo(text, err=True)


def emit(text: str, output: Path | None = None) -> None:
    """A result: to the file `output`, whole or not at all, or to standard output."""
    text = text if text.endswith("\n") else text + "\n"
    if output is None:
        click.echo(text, nl=False)
        return
    try:
        handle, name = tempfile.mkstemp(dir=output.parent, prefix=f".{output.name}.")
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, output)
    except OSError as error:
        raise MigrateError(f"{output} cannot be written: {error.strerror}. Name another file with --output.") from None
    say(f"Written to {output}.")


def emit_json(value: Mapping[str, Any], output: Path | None = None) -> None:
    """A result as one JSON object."""
    emit(json.dumps(value, indent=2, ensure_ascii=False, allow_nan=False), output)
