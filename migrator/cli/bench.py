"""`migrate bench`: speed and memory of both versions, where they compute the same."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from migrator.cli.options import text_or_json
from migrator.cli.output import emit, emit_json
from migrator.cli.pairs import pair_options, parity_options, select, split
from migrator.cli.progress import progress

if TYPE_CHECKING:
    from migrator.facts import BenchResult, BenchRow


@click.command("bench", short_help="Speed and memory of both versions.")
@pair_options
@click.option("--modes", metavar="LIST", help="Only these variants, separated by commas: graph,eager,compiled.")
@click.option(
    "--rounds", type=click.IntRange(min=1), help="How often each variant is measured, in turn with the others."
)
@text_or_json
def command(
    pairs: tuple[str, ...], config: Path | None, modes: str | None, rounds: int | None, form: str, **stated: Any
) -> int:
    """Measure step time and memory of both sides of each PAIR, after parity has passed.

    Without a name, all pairs of migrate.toml are measured.
    """
    from migrator import pipeline
    from migrator.bench.measure import Options

    selection = select(pairs, config, stated)
    chosen: dict[str, Any] = {"modes": split(modes) if modes is not None else None, "rounds": rounds}
    measure = Options(
        device=stated["device"],
        interpreters=selection.interpreters,
        **{name: value for name, value in chosen.items() if value is not None},
    )
    with progress("checking parity first") as tell:
        proof = pipeline.parity(selection, parity_options(selection, stated), tell)
        outcome = pipeline.bench(selection, proof.value, measure, tell)
    if form == "json":
        from migrator.report import bench_json

        emit_json(bench_json.to_json(outcome.value))
    else:
        emit("\n".join(line for result in outcome.value for line in text(result)))
    return int(outcome.code)


def text(result: BenchResult) -> Iterator[str]:
    """One pair, a line for each variant, and why others are missing."""
    from migrator.report import views

    yield f"{result.name}: {result.reason or 'one training step, median of all rounds'}"
    for row in result.rows:
        yield _line(row)
    for name, reason in result.missing.items():
        yield f"  {name:<20} not measured: {reason}"
    for sentence in result.over_budget:
        yield f"  over budget: {sentence}"
    speed = result.deltas.get("speed", {})
    for mode, ratio in speed.items():
        yield f"  PyTorch {mode}: {ratio['median']:.2f} times the speed of {result.deltas['against']}"
    if views.disturbed(result.machine):
        others = f"{result.machine['others']:.0%}"
        yield f"  other programs took {others} of the machine meanwhile: measure again when it is idle"


def _line(row: BenchRow) -> str:
    return (
        f"  {f'{row.side} {row.mode}':<20} {row.step_ms['median']:9.2f} ms "
        f"({row.step_ms['low']:.2f} to {row.step_ms['high']:.2f})  {row.samples_per_second:10.0f} samples/s  "
        f"{row.memory_bytes / 2**20:8.0f} MiB {row.memory_kind}"
    )
