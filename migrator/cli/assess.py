"""`migrate assess`: the cost, before anyone commits to it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from migrator.cli.options import FILE, keras_number, source_tree, text_or_json
from migrator.cli.output import emit, emit_json
from migrator.cli.progress import progress

if TYPE_CHECKING:
    from migrator.facts import Grade


@click.command("assess", short_help="What a migration would take: uses, grades, hours, hazards.")
@source_tree
@text_or_json
@click.option("--output", type=FILE, help="Write the result to this file instead of standard output.")
@click.option(
    "--fail-on",
    type=click.Choice(["exact", "review", "manual", "blocked"]),
    help="Exit 1 where a call has this grade or a worse one.",
)
@click.option("--no-cache", is_flag=True, help="Read every file anew; nothing is cached yet, so this is always so.")
@click.option("--rate", type=click.FloatRange(min=0), help="What an hour of work costs; turns hours into money.")
def command(
    path: Path,
    exclude: tuple[str, ...],
    keras: str | None,
    form: str,
    output: Path | None,
    fail_on: Grade | None,
    no_cache: bool,
    rate: float | None,
) -> int:
    """Audit the code under PATH: what it uses, what moves by itself, hours, hazards.

    Reads only; nothing of the code is imported or run.
    """
    from migrator import pipeline
    from migrator.report import assess_json, terminal

    with progress(f"reading {path}"):
        outcome = pipeline.assess(path, exclude=exclude, keras=keras_number(keras), rate=rate, fail_on=fail_on)
    if form == "json":
        emit_json(assess_json.to_json(outcome.value), output)
    else:
        colour = output is None and sys.stdout.isatty()
        emit(terminal.render(outcome.value, colour=colour), output)
    return int(outcome.code)
