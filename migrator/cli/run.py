"""`migrate run`: everything in order, and one report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from migrator.cli.options import FILE, FOLDER, keras_number, source_tree
from migrator.cli.output import emit, say
from migrator.cli.pairs import interpreters, tensorflow_python
from migrator.cli.progress import progress

if TYPE_CHECKING:
    from migrator.facts import Profile


@click.command("run", short_help="All of the above in order, and one report.")
@source_tree
@click.option("--out", type=FOLDER, required=True, help="A new folder for the rewritten project and all results.")
@click.option("--profile", type=click.Choice(["idiomatic", "faithful"]), default="idiomatic", show_default=True)
@click.option("--rate", type=click.FloatRange(min=0), help="What an hour of work costs; turns hours into money.")
@click.option("--device", type=click.Choice(["auto", "cpu", "cuda"]), default="auto", show_default=True)
@tensorflow_python
@click.option("--torch-python", type=FILE, help="The Python that has PyTorch; migrate's own by default.")
def command(
    path: Path,
    exclude: tuple[str, ...],
    keras: str | None,
    out: Path,
    profile: Profile,
    rate: float | None,
    device: str,
    tensorflow_python: Path | None,
    torch_python: Path | None,
) -> int:
    """Assess, rewrite, record, check, train, measure and report the project under PATH."""
    from migrator import pipeline

    options = pipeline.RunOptions(
        exclude=exclude,
        keras=keras_number(keras),
        rate=rate,
        profile=profile,
        device=device,
        interpreters=interpreters({"tensorflow_python": tensorflow_python, "torch_python": torch_python}),
    )
    with progress(f"reading {path}") as tell:
        outcome = pipeline.run(path, out, options, tell)
    for line in outcome.value.lines:
        say(line)
    emit(f"{outcome.value.page}")
    return int(outcome.code)
