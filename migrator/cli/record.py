"""`migrate record`: what TensorFlow computes, kept so that it need not be asked again."""

from __future__ import annotations

from pathlib import Path

import click

from migrator.cli.output import say
from migrator.cli.pairs import config_option, interpreters, tensorflow_python
from migrator.cli.progress import progress


@click.command("record", short_help="Keep what the TensorFlow side computes.")
@click.argument("pairs", nargs=-1, metavar="[PAIR]...")
@config_option
@tensorflow_python
@click.option("--full", is_flag=True, help="Keep whole arrays instead of norms and projections; large.")
def command(pairs: tuple[str, ...], config: Path | None, tensorflow_python: Path | None, full: bool) -> int:
    """Run the TensorFlow side of each PAIR once and keep what it computed.

    From then on parity needs no TensorFlow. Without a name, all pairs of migrate.toml are recorded.
    """
    from migrator import pipeline
    from migrator.parity.options import Options

    selection = pipeline.from_config(config, pairs)
    pythons = {**selection.interpreters, **interpreters({"tensorflow_python": tensorflow_python})}
    with progress("recording the TensorFlow side") as tell:
        outcome = pipeline.record(selection, Options(interpreters=pythons, full=full), tell)
    for folder in outcome.value:
        say(f"Recorded in {folder}.")
    return int(outcome.code)
