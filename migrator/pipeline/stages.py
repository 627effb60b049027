"""One function a stage: what it needs from the stages before it is handed over here, and its exit code decided.

Each returns an `Outcome`: what the stage found, and the exit code that follows from it. Every rule of the kind
"this makes the exit code 1" ends in `code_of`; what makes it 2 is a `MigrateError`. Stages are imported inside
the functions, because the command line must start in a blink and assess must work without any framework.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Generic, Literal, TypeVar

from migrator.errors import ExitCode, MigrateError
from migrator.facts import GRADES, Assessment, BenchResult, Grade, PairResult, Profile, Rewritten

if TYPE_CHECKING:
    from migrator.bench import measure as bench_options
    from migrator.catalogue import Catalogue
    from migrator.facts import TrainingResult
    from migrator.parity import options as parity_options
    from migrator.pipeline.selection import Selection

Progress = Callable[[str], None]
Mode = Literal["out", "in-place", "diff", "check"]
T = TypeVar("T")


@dataclass(frozen=True)
class Outcome(Generic[T]):
    """What a command found, and the exit code that follows from it."""

    value: T
    code: ExitCode


def quiet(text: str) -> None:
    """The progress callable of a caller that wants none."""


def _unproven(result: PairResult | None) -> str:
    """Why a pair is not measured."""
    said = "it was not checked" if result is None else f"it says {result.verdict}"
    more = f" ({result.reason})" if result is not None and result.reason else ""
    return f"Not measured: bench needs parity to pass, and {said}{more}."


# ---------------------------------------------------------------- exit codes


def code_of(*, work_remains: bool) -> ExitCode:
    return ExitCode.WORK if work_remains else ExitCode.CLEAN


def _trips(assessment: Assessment, fail_on: Grade | None) -> bool:
    """Whether a finding is as bad as `fail_on` or worse; a call without a rule counts as `manual`."""
    if fail_on is None:
        return False
    worst = GRADES.index(fail_on)
    return any(GRADES.index(finding.grade or "manual") >= worst for finding in assessment.findings)


def _changes(rewritten: Rewritten) -> bool:
    return any(result.before != result.after for result in rewritten.files)


# ---------------------------------------------------------------- stages that only read source


def assess(
    path: Path,
    *,
    exclude: Sequence[str] = (),
    keras: int | None = None,
    rate: float | None = None,
    fail_on: Grade | None = None,
    rules: Sequence[Path] = (),
) -> Outcome[Assessment]:
    """Audits the tree at `path`. `rate` is money per hour.

    Raises MigrateError where `path` does not exist or holds no Python.
    """
    from migrator.assess import assess as stage
    from migrator.resolve import resolve
    from migrator.scan import read

    inventory = read(path, exclude, keras)
    assessment = stage(resolve(inventory), catalogue(inventory.root, rules), rate)
    return Outcome(assessment, code_of(work_remains=_trips(assessment, fail_on)))


def rewrite(
    path: Path,
    *,
    mode: Mode,
    out: Path | None = None,
    profile: Profile = "idiomatic",
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    exclude: Sequence[str] = (),
    keras: int | None = None,
    rules: Sequence[Path] = (),
) -> Outcome[Rewritten]:
    """Rewrites the tree at `path`: into `out`, over itself, or (`diff`, `check`) without writing anything.

    Raises MigrateError where `path` holds nothing to read or `out` is not an empty folder.
    """
    if (out is None) == (mode == "out"):
        raise MigrateError("Name a folder with --out to write into, and only then.")
    if out is not None:
        require_empty(out)
    from migrator.resolve import resolve
    from migrator.rewrite import rewrite as stage
    from migrator.rewrite.writing import write_in_place, write_out
    from migrator.scan import read

    inventory = read(path, exclude, keras)
    rewritten = stage(resolve(inventory), catalogue(inventory.root, rules), profile, select, ignore)
    if out is not None:
        write_out(inventory.root, rewritten, out)
    elif mode == "in-place":
        write_in_place(inventory.root, rewritten)
    pending = mode in ("diff", "check") and _changes(rewritten)
    return Outcome(rewritten, code_of(work_remains=pending or bool(rewritten.left)))


def catalogue(root: Path, rules: Sequence[Path] = ()) -> Catalogue:
    """The shipped rules, those the configuration at `root` names, and the folders in `rules`."""
    from migrator import config
    from migrator.catalogue import load_rules
    from migrator.data import rules_folder

    file = config.find(root)
    own = config.load(file).rules if file else ()
    return load_rules([rules_folder(), *(root / folder for folder in own), *rules])


# ---------------------------------------------------------------- stages that run both frameworks


def record(selection: Selection, options: parity_options.Options, progress: Progress = quiet) -> Outcome[list[Path]]:
    """Runs the TensorFlow side of each pair and keeps what it computed; gives the folders of the records.

    Raises MigrateError where a pair cannot be recorded; the pairs before it are kept.
    """
    from migrator.parity import record as stage

    folders = [stage(pair, selection.folder, options, progress) for pair in selection.pairs]
    return Outcome(folders, ExitCode.CLEAN)


def parity(
    selection: Selection, options: parity_options.Options, progress: Progress = quiet
) -> Outcome[list[PairResult]]:
    """Checks each pair; one that fails does not stop the others.

    Raises MigrateError where no pair at all could be checked, for the first one's reason.
    """
    from migrator.parity import check

    results, errors = [], []
    for pair in selection.pairs:
        try:
            results.append(check(pair, selection.folder, options, progress))
        except MigrateError as error:
            errors.append(error)
            results.append(PairResult(pair.name, "error", error.message, ()))
    if errors and len(errors) == len(results):
        raise errors[0]
    return Outcome(results, code_of(work_remains=any(result.verdict != "pass" for result in results)))


def bench(
    selection: Selection,
    proof: Sequence[PairResult],
    options: bench_options.Options,
    progress: Progress = quiet,
) -> Outcome[list[BenchResult]]:
    """Measures the pairs whose parity passed, by `proof`; the others get a result that says why they were not."""
    from migrator.bench.measure import bench as stage

    verdicts = {result.name: result for result in proof}
    results = []
    for pair in selection.pairs:
        verdict = verdicts.get(pair.name)
        if verdict is None or verdict.verdict != "pass":
            results.append(BenchResult(pair.name, (), {}, _unproven(verdict)))
            continue
        try:
            results.append(stage(pair, selection.folder, options, progress))
        except MigrateError as error:
            results.append(BenchResult(pair.name, (), {}, error.message))
    return Outcome(results, code_of(work_remains=any(not result.rows or result.over_budget for result in results)))


def train(
    selection: Selection,
    seeds: Sequence[int],
    options: parity_options.Options,
    progress: Progress = quiet,
) -> Outcome[list[TrainingResult]]:
    """Trains both versions of each pair that has a `training` table, once for each seed.

    Raises MigrateError where a pair cannot be trained.
    """
    from migrator.parity import train_for_real

    pairs = [pair for pair in selection.pairs if pair.training is not None]
    results = [train_for_real(pair, selection.folder, seeds, options, progress) for pair in pairs]
    return Outcome(results, ExitCode.CLEAN)


def report(folder: Path) -> Outcome[Path]:
    """Renders the page from the results found in `folder`; raises MigrateError where there are none."""
    from migrator.report.html import write

    return Outcome(write(folder), ExitCode.CLEAN)


def require_empty(out: Path) -> None:
    """Raises MigrateError unless `out` is missing or an empty folder: nothing that exists is ever overwritten."""
    if out.is_dir() and not any(out.iterdir()):
        return
    if out.exists() or out.is_symlink():
        raise MigrateError(f"{out} exists and is not an empty folder. Name a new folder, or empty this one first.")
