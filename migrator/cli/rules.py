"""`migrate rules`: the catalogue, to read and to prove."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from migrator.cli.options import text_or_json
from migrator.cli.output import emit, emit_json
from migrator.cli.progress import progress
from migrator.errors import ExitCode

if TYPE_CHECKING:
    from migrator.catalogue import Catalogue
    from migrator.catalogue.proof_file import Proof


@click.group("rules", short_help="What is known of TensorFlow, and what takes its place.")
def command() -> None:
    """The catalogue: every TensorFlow API that is known, what takes its place, and whether that is proven.

    A team's own rules are part of it where the migrate.toml in the current folder names them.
    """


@command.command("list", short_help="All rules with grade and proof.")
@text_or_json
def list_rules(form: str) -> int:
    """List all rules with their grades, and whether their examples were executed in both frameworks."""
    from migrator.catalogue import listing

    catalogue, proofs = _catalogue(), _proofs()
    if form == "json":
        emit_json(listing.to_json(catalogue, proofs))
    else:
        emit(listing.to_text(catalogue, proofs))
    return 0


@command.command("show", short_help="One rule in full.")
@click.argument("name", metavar="RULE")
def show_rule(name: str) -> int:
    """Show a rule in full. RULE is its id, or the name of a TensorFlow API."""
    from migrator.catalogue import listing

    emit(listing.show(_catalogue(), name, _proofs()))
    return 0


@command.command("check", short_help="Execute the rules' examples in both frameworks.")
@click.argument("names", nargs=-1, metavar="[RULE]...")
@text_or_json
def check_rules(names: tuple[str, ...], form: str) -> int:
    """Execute the examples of each RULE in TensorFlow and in PyTorch and compare; all rules without a name.

    In a checkout the result is kept beside the rules; an installed package is never written to.
    """
    from migrator.data import PACKAGE, rules_folder
    from migrator.proofs.check import check_rules as check

    folder = rules_folder()
    keep = None if folder.is_relative_to(PACKAGE) else folder
    with progress("planning the examples") as tell:
        checked = check(_catalogue(), keep, tell, names)
    if form == "json":
        emit_json({"schema": "migrate.rules-check/1", **asdict(checked)})
    else:
        emit(checked.to_text())
    return int(ExitCode.WORK if checked.failed else ExitCode.CLEAN)


def _catalogue() -> Catalogue:
    """The shipped rules and those that the configuration in the current folder names."""
    from migrator.pipeline import stages

    return stages.catalogue(Path.cwd())


def _proofs() -> tuple[Proof, ...]:
    from migrator.catalogue.proof_file import read_proofs
    from migrator.data import rules_folder

    return read_proofs(rules_folder())
