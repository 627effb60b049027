"""`migrate rewrite`: PyTorch in the team's own files, or what it would be."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from migrator.cli.options import FOLDER, keras_number, source_tree, text_or_json
from migrator.cli.output import emit, emit_json, say
from migrator.cli.progress import progress

if TYPE_CHECKING:
    from migrator.facts import Profile, Rewritten
    from migrator.pipeline import Mode


@click.command("rewrite", short_help="TensorFlow code to PyTorch code, or what would change.")
@source_tree
@click.option("--out", type=FOLDER, help="Write a complete, rewritten copy into this new folder.")
@click.option("--in-place", is_flag=True, help="Rewrite the files where they are.")
@click.option("--diff", "show_diff", is_flag=True, help="Print what would change, as a unified diff.")
@click.option("--check", is_flag=True, help="Write nothing; exit 1 where something would change or is left.")
@click.option("--select", multiple=True, metavar="RULE", help="Apply these rules only; may be repeated.")
@click.option("--ignore", multiple=True, metavar="RULE", help="Leave these rules out; may be repeated.")
@click.option(
    "--profile",
    type=click.Choice(["idiomatic", "faithful"]),
    default="idiomatic",
    show_default=True,
    help="What PyTorch programmers write, or Keras to the last rounding.",
)
@text_or_json
def command(
    path: Path,
    exclude: tuple[str, ...],
    keras: str | None,
    out: Path | None,
    in_place: bool,
    show_diff: bool,
    check: bool,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    profile: Profile,
    form: str,
) -> int:
    """Rewrite the code under PATH. What is not understood stays as it was, with a reason.

    Exit 1 where work is left for a person. Nothing of the code is imported or run.
    """
    mode = _mode(out, in_place, show_diff, check)
    from migrator import pipeline

    with progress(f"rewriting {path}"):
        outcome = pipeline.rewrite(
            path,
            mode=mode,
            out=out,
            profile=profile,
            select=select,
            ignore=ignore,
            exclude=exclude,
            keras=keras_number(keras),
        )
    if form == "json":
        from migrator.report import rewrite_json

        emit_json(rewrite_json.to_json(outcome.value))
    else:
        _tell(outcome.value, mode, out)
    return int(outcome.code)


def _mode(out: Path | None, in_place: bool, show_diff: bool, check: bool) -> Mode:
    given = {"out": out is not None, "in-place": in_place, "diff": show_diff, "check": check}
    chosen: list[Mode] = [mode for mode, on in given.items() if on]  # type: ignore[misc]  # the keys are the modes
    if len(chosen) != 1:
        raise click.UsageError("Say exactly one of --out DIR, --in-place, --diff and --check.")
    return chosen[0]


def _tell(rewritten: Rewritten, mode: Mode, out: Path | None) -> None:
    """The text form: the diff where one was asked for; what was left and why; one line of counts."""
    if mode == "diff":
        from migrator.report.diff import unified

        text = unified(rewritten)
        if text:
            emit(text)
    for left in rewritten.left:
        rule = f" ({left.rule})" if left.rule else ""
        say(f"{left.file}:{left.line}: left as it was{rule}: {left.reason}")
    for result in rewritten.files:
        if result.status == "skipped":
            say(f"{result.path}: skipped: {result.reason}")
    changed = sum(result.before != result.after for result in rewritten.files)
    verb = "would change" if mode in ("diff", "check") else "rewritten"
    place = f" into {out}" if out else ""
    say(f"{_count(changed, 'file')} {verb}{place}, {_count(len(rewritten.left), 'construct')} left for a person.")


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"
