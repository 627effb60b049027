"""`migrate report`: one page from the results a run left."""

from __future__ import annotations

from pathlib import Path

import click

from migrator.cli.options import PLACE
from migrator.cli.output import emit
from migrator.cli.progress import progress


@click.command("report", short_help="One HTML page from the results of a run.")
@click.argument("folder", type=PLACE)
@click.option("--open", "show", is_flag=True, help="Open the page in a browser.")
def command(folder: Path, show: bool) -> int:
    """Write one self-contained HTML page from the results found in FOLDER, and print where it is."""
    from migrator import pipeline

    with progress("drawing the page"):
        page = pipeline.report(folder).value
    emit(str(page))
    if show:
        click.launch(str(page))
    return 0
