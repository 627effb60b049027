"""`migrate run`: every stage after the other, each result kept as soon as it is there, one page at the end.

A stage that fails ends neither the run nor the page: its reason is kept in its own file, the stages that need it
say why they were not done, and the exit code is 1.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Any

from migrator import __version__
from migrator.errors import ExitCode, MigrateError
from migrator.facts import BenchResult, PairResult, Profile, Rewritten
from migrator.pipeline import stages
from migrator.pipeline.selection import Selection, from_config
from migrator.report import folder as kept

if TYPE_CHECKING:
    from migrator.facts import TrainingResult

PACKAGES = ("torch", "tensorflow", "tensorflow-cpu", "keras", "onnx", "onnxruntime", "numpy")
Progress = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """What can be chosen about a whole run; `seeds` are those of the real trainings, `rate` is money per hour."""

    exclude: Sequence[str] = ()
    keras: int | None = None
    rate: float | None = None
    profile: Profile = "idiomatic"
    device: str = "auto"
    seeds: Sequence[int] = (0, 1, 2)
    rounds: int = 15
    interpreters: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Whole:
    """What a run left behind: the page, and one line about each stage."""

    page: Path
    lines: tuple[str, ...]


@dataclass
class _Run:
    """One run under way: where results go, what each stage said, how long it took, and whether work remains."""

    out: Path
    progress: Progress
    lines: list[str] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)
    work: bool = False

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Names the stage for progress and keeps the seconds it took."""
        self.progress(name)
        start = time.monotonic()
        try:
            yield
        finally:
            self.seconds[name] = round(time.monotonic() - start, 2)

    def say(self, name: str, text: str, *, work: bool = False) -> None:
        """One line of the summary; `work` where it makes the exit code 1."""
        self.lines.append(f"{name}: {text}")
        self.work = self.work or work


def run(path: Path, out: Path, options: Options, progress: Progress = stages.quiet) -> stages.Outcome[Whole]:
    """Everything for the tree at `path`, into the new folder `out`.

    Raises MigrateError (exit 2) where `out` is not empty or `path` holds nothing to read; then nothing was written.
    """
    stages.require_empty(out)
    started = datetime.now(UTC)
    this = _Run(out, progress)
    assessment = _assess(this, path, options)
    try:
        rewritten = _rewrite(this, path, options)
    finally:  # kept afterwards: where `out` lies inside `path`, the rewritten copy must not contain it
        out.mkdir(parents=True, exist_ok=True)
        kept.write_json(out / "assess.json", assessment)
    selection, results = _parity(this, rewritten, options)
    _train(this, selection, options)
    _bench(this, selection, results, options)
    kept.write_json(out / "run.json", _facts(this, path, started))
    page = stages.report(out).value
    return stages.Outcome(Whole(page, tuple(this.lines)), stages.code_of(work_remains=this.work))


def _assess(this: _Run, path: Path, options: Options) -> dict[str, Any]:
    from migrator.report import assess_json

    with this.stage("assess"):
        found = stages.assess(path, exclude=options.exclude, keras=options.keras, rate=options.rate).value
    hours = found.effort
    this.say("assess", f"{found.advice.verdict}; {hours.likely:.1f} hours ({hours.low:.1f} to {hours.high:.1f})")
    return assess_json.to_json(found)


def _rewrite(this: _Run, path: Path, options: Options) -> Rewritten:
    from migrator.report import diff, rewrite_json

    with this.stage("rewrite"):
        outcome = stages.rewrite(
            path,
            mode="out",
            out=this.out / kept.PROJECT,
            profile=options.profile,
            exclude=options.exclude,
            keras=options.keras,
        )
        this.out.mkdir(parents=True, exist_ok=True)
        kept.write_json(this.out / "rewrite.json", rewrite_json.to_json(outcome.value))
        kept.write_text(this.out / kept.DIFF, diff.unified(outcome.value))
    changed = sum(result.before != result.after for result in outcome.value.files)
    left = len(outcome.value.left)
    this.say("rewrite", f"{changed} files rewritten, {left} constructs left", work=outcome.code != ExitCode.CLEAN)
    return outcome.value


def _parity(this: _Run, rewritten: Rewritten, options: Options) -> tuple[Selection, list[PairResult]]:
    from migrator.parity.options import Options as ParityOptions
    from migrator.report import parity_json

    selection, reason = Selection((), this.out), "No model was rewritten, so there is no pair to compare."
    results: list[PairResult] = []
    with this.stage("parity"):
        if rewritten.pairs:
            selection = from_config(this.out / kept.PROJECT)
            checks = ParityOptions(interpreters=_interpreters(selection, options), device=options.device)
            try:
                results = stages.parity(selection, checks, this.progress).value
            except MigrateError as error:
                reason = error.message
                results = [PairResult(pair.name, "error", reason, ()) for pair in selection.pairs]
        kept.write_json(this.out / "parity.json", {**parity_json.to_json(results), "reason": "" if results else reason})
    for result in results:
        said = f"{result.name} {result.verdict}" + (f" ({result.reason})" if result.reason else "")
        this.say("parity", said, work=result.verdict != "pass")
    if not results:
        this.say("parity", reason, work=True)
    return selection, results


def _train(this: _Run, selection: Selection, options: Options) -> None:
    """Real training of both versions; whether parity passed does not matter, curves help to see why it did not."""
    from migrator.parity.options import Options as ParityOptions
    from migrator.report import training_json

    wanted = [pair for pair in selection.pairs if pair.training]
    reason = "" if wanted else "No pair says how it is trained: [pair.training] in migrate.toml names data and epochs."
    results: list[TrainingResult] = []
    with this.stage("training"):
        for pair in wanted:
            alone = replace(selection, pairs=(pair,))
            checks = ParityOptions(interpreters=_interpreters(selection, options), device=options.device)
            try:
                results += stages.train(alone, options.seeds, checks, this.progress).value
            except MigrateError as error:
                reason = f"{pair.name}: {error.message}"
                this.say("training", reason, work=True)
        kept.write_json(this.out / "training.json", {**training_json.to_json(results), "reason": reason})
    for result in results:
        this.say("training", f"{result.name} test {result.metric}, median of all seeds: {_medians(result)}")
    if not wanted:
        this.say("training", reason)


def _medians(result: TrainingResult) -> str:
    """`TensorFlow 0.9710, PyTorch 0.9722`."""
    names = {"tensorflow": "TensorFlow", "torch": "PyTorch"}
    tests = {side: [run.test for run in result.runs if run.side == side] for side in names}
    return ", ".join(f"{names[side]} {median(values):.4f}" for side, values in tests.items() if values)


def _bench(this: _Run, selection: Selection, proof: Sequence[PairResult], options: Options) -> None:
    from migrator.bench.measure import Options as BenchOptions
    from migrator.report import bench_json

    results: list[BenchResult] = []
    with this.stage("bench"):
        interpreters = _interpreters(selection, options)
        measure = BenchOptions(rounds=options.rounds, device=options.device, interpreters=interpreters)
        results = stages.bench(selection, proof, measure, this.progress).value
        kept.write_json(this.out / "bench.json", bench_json.to_json(results))
    for result in results:
        this.say("bench", f"{result.name} {_fastest(result)}", work=not result.rows)
        for sentence in result.over_budget:
            this.say("bench", f"{result.name} {sentence}", work=True)


def _fastest(result: BenchResult) -> str:
    """`compiled 1.84 times as fast as tensorflow graph`, or why there is no such figure; a warning where it is due."""
    from migrator.report import views

    speed: Mapping[str, Mapping[str, float]] = result.deltas.get("speed", {})
    if not speed:
        return result.reason or " ".join(f"{name}: {reason}" for name, reason in result.missing.items())
    mode = max(speed, key=lambda name: speed[name]["median"])
    return f"{mode} PyTorch runs at {speed[mode]['median']:.2f} times the speed of {result.deltas['against']}" + (
        f"; other programs took {result.machine['others']:.0%} of the machine meanwhile: measure again when it is idle"
        if views.disturbed(result.machine)
        else ""
    )


def _interpreters(selection: Selection, options: Options) -> dict[str, str]:
    return {**selection.interpreters, **options.interpreters}


def _facts(this: _Run, path: Path, started: datetime) -> dict[str, Any]:
    """When, where and with what this was run, for the page."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "schema": "migrate.run/1",
        "project": path.resolve().name,
        "started": started.isoformat(timespec="seconds"),
        "seconds": this.seconds,
        "summary": this.lines,
        "versions": {"migrate": __version__, "python": platform.python_version(), **dict(_installed())},
        "machine": f"{platform.system()} {platform.machine()}, {cores} cores",
    }


def _installed() -> Iterator[tuple[str, str]]:
    """The packages that matter, as far as they are installed beside us."""
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            yield name, metadata.version(name)
