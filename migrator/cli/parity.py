"""`migrate parity`: do the two versions compute the same?"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from migrator.cli.options import FILE, text_or_json
from migrator.cli.output import emit, emit_json
from migrator.cli.pairs import pair_options, parity_options, select
from migrator.cli.progress import progress


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
        from migrator.report import parity_text

        emit(parity_text.to_text(outcome.value))
    return int(outcome.code)
