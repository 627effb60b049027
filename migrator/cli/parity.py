"""`migrate parity`: do the two versions compute the same?"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from migrator.cli.options import FILE, text_or_json
from migrator.cli.output import emit, emit_json
from migrator.cli.pairs import pair_options, parity_options, select
from migrator.cli.progress import progress

if TYPE_CHECKING:
    from migrator.facts import Check, PairResult


@click.command("parity", short_help="Check that both versions compute the same.")
@pair_options
@click.option("--inputs", type=FILE, help="Real inputs instead of --input, .npz or .safetensors.")
@click.option("--checks", metavar="LIST", help="Only these checks, separated by commas: build,weights,forward.")
@text_or_json
def command(pairs: tuple[str, ...], config: Path | None, checks: str | None, form: str, **stated: Any) -> int:
    """Check the PyTorch side of each PAIR against its TensorFlow record, recording first where there is none.

    Without a name, all pairs of migrate.toml are checked. --tensorflow, --torch and --input state a pair ad hoc.
    """
    from migrator import pipeline

    selection = select(pairs, config, stated)
    options = parity_options(selection, stated, checks)
    with progress("starting both sides") as tell:
        outcome = pipeline.parity(selection, options, tell)
    if form == "json":
        from migrator.report import parity_json

        emit_json(parity_json.to_json(outcome.value))
    else:
        emit("\n".join(line for result in outcome.value for line in text(result)))
    return int(outcome.code)


def text(result: PairResult) -> Iterator[str]:
    """One pair, a line for each check."""
    yield f"{result.name}: {result.verdict}" + (f" ({result.reason})" if result.reason else "")
    for check in result.checks:
        yield _line(check)
    if result.first_divergence:
        told = ", ".join(f"{key.replace('_', ' ')} {value}" for key, value in result.first_divergence.items())
        yield f"  first divergence: {told}"
    for difference in result.differences:
        told = ", ".join(str(value) for value in difference.values())
        yield f"  known difference: {told}"


def _line(check: Check) -> str:
    figures = {"error": check.error, "floor": check.floor, "would pass at": check.needed}
    told = [f"{name} {value:.2g}" for name, value in figures.items() if value is not None]
    if check.reason:
        told.append(check.reason)
    return f"  {check.id:<9} {check.verdict:<12} {', '.join(told)}".rstrip()
