"""Parity of one pair: the record is made or read, the PyTorch side is run, and every check is judged."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from migrator import config
from migrator.errors import ExitCode, MigrateError
from migrator.facts import Check, Pair, PairResult
from migrator.parity import checks, differences, edges, initial, locate, recording, requests
from migrator.parity.options import CHECKS, Options, Progress
from migrator.worker import files, recorded

JUDGES: Mapping[str, Callable[[checks.Both], Check]] = {
    "build": checks.build,
    "weights": checks.weights,
    "init": initial.judge,
    "forward": checks.forward,
    "gradient": checks.gradient,
    "train": checks.train,
    "state": checks.state,
}
_NEED_WEIGHTS = ("forward", "onnx", "gradient", "train", "state", "init")


def check(pair: Pair, folder: Path, options: Options, progress: Progress) -> PairResult:
    """Check the PyTorch side of a pair, whose REFs are relative to `folder`, against its record.

    A pair without a record is recorded first. Raises MigrateError for what must be mended before anything can run
    (a missing file, callable, framework or interpreter, an unknown difference); code that raises, crashes or hangs
    and a stale or damaged record are the verdict `error`.
    """
    requests.check_ref(pair.torch, folder, "PyTorch")
    if options.ad_hoc:
        pair = with_accepted(pair, folder)
    requests.rules_known([accept.id for accept in pair.accept], list(differences.load()))
    with ExitStack() as stack:
        work = Path(stack.enter_context(requests.temporary()))
        try:
            kept = _record(pair, folder, options, progress, work)
            return _judged(pair, folder, options, progress, work, kept)
        except requests.SideFailed as error:
            return PairResult(pair.name, "error", str(error), ())
        except MigrateError as error:
            if error.code is ExitCode.WORK:
                return PairResult(pair.name, "error", error.message, ())
            raise


def with_accepted(pair: Pair, folder: Path) -> Pair:
    """The pair with what a migrate.toml beside or above its PyTorch file says about the same PyTorch callable."""
    target, _, attribute = pair.torch.rpartition(":")
    file = (folder / target).resolve()
    for parent in file.parents:
        if config.find(parent) is None:
            continue
        found = config.load(parent)
        for other in found.pairs:
            place, _, name = other.torch.rpartition(":")
            if name == attribute and (found.folder / place).resolve() == file:
                known = {accept.id for accept in pair.accept}
                return replace(pair, accept=(*pair.accept, *(a for a in other.accept if a.id not in known)))
        break
    return pair


def _record(pair: Pair, folder: Path, options: Options, progress: Progress, work: Path) -> recorded.Record:
    place = recording.place(pair, folder)
    if options.ad_hoc:
        place = recording.write(pair, folder, options, progress, work / "record", options.ordered())
    elif not (place / "record.json").exists():
        place = recording.write(pair, folder, options, progress, place, CHECKS)
    return recording.read(pair, folder, options, place)


def _judged(
    pair: Pair, folder: Path, options: Options, progress: Progress, work: Path, kept: recorded.Record
) -> PairResult:
    accepted = [accept.id for accept in pair.accept]
    asked: dict[str, Any] = {
        "ref": pair.torch,
        "folder": str(folder.resolve()),
        "record": str(kept.folder),
        "checks": list(options.ordered()),
        "accept": accepted,
        "torch_call": pair.torch_call,
        "arguments": {},
    }
    progress(f"{pair.name}: running the PyTorch side")
    out = work / "torch"
    facts = requests.ask("torch_side", asked, out, options, "torch")
    both = checks.Both(kept, facts, files.read_arrays(out / "arrays.safetensors"), accepted)
    made = [_one(id_, both, options, progress, work) for id_ in options.ordered()]
    first = None
    if any(each.verdict == "fail" for each in made):
        progress(f"{pair.name}: looking for the place")
        first = locate.locate(both, made, asked, work, options)
    verdict, reason = _verdict(made)
    return PairResult(pair.name, verdict, reason, tuple(made), first, differences.found(pair, both, made))


def _one(id_: str, both: checks.Both, options: Options, progress: Progress, work: Path) -> Check:
    if id_ in _NEED_WEIGHTS and "mapping" not in both.torch:
        return Check(id_, "skipped", reason="the weights have no mapping")
    if id_ == "onnx":
        return edges.judge_edges(both, options, work)
    if id_ == "compile":
        return Check(id_, "unsupported", reason="this version does not check torch.compile")
    return JUDGES[id_](both)


def _verdict(made: list[Check]) -> tuple[Literal["pass", "fail", "error"], str]:
    """The pair's verdict and the first reason against it; a check that was not made does not make a pass."""
    for each in made:
        if each.verdict == "error":
            return "error", f"{each.id}: {each.reason}"
    for each in made:
        if each.verdict != "pass":
            return "fail", f"{each.id}: {each.reason}"
    return "pass", ""
