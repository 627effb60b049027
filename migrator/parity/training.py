"""Training both versions for real: the same starting weights, the same batches, the pair's own loss and optimizer.

Both train at the same time, each on its share of the cores, because many models are too small for more than one. On a
GPU they take turns: TensorFlow claims all of its memory.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from migrator.errors import ExitCode, MigrateError
from migrator.facts import Named, Pair, Training, TrainingResult, TrainingRun
from migrator.parity import requests, workers
from migrator.parity.options import Options, Progress
from migrator.worker import files, scores

SIDES = ("tensorflow", "torch")
_NAMES = {SIDES: "both versions", SIDES[:1]: "the TensorFlow version"}


def train_for_real(
    pair: Pair,
    folder: Path,
    seeds: Sequence[int],
    options: Options,
    progress: Progress,
    sides: Sequence[str] = SIDES,
) -> TrainingResult:
    """Train a pair, whose REFs are relative to `folder`, once for each seed; curves and the last score on test data.

    Batches are the same on both sides; only dropout draws differ. With `sides=("tensorflow",)` PyTorch is left out.
    Raises MigrateError where the pair says nothing about training, its data cannot be made, or a side fails.
    """
    stated = _stated(pair)
    with requests.temporary() as name:
        work = Path(name)
        try:
            asked = {**_request(pair, folder, stated, seeds), "data_file": _data(pair, folder, stated, work, options)}
            progress(f"{pair.name}: training {_NAMES[tuple(sides)]} ({len(seeds)} times, {stated.epochs} epochs)")
            runs = _sides(pair, asked, work, options, sides)
        except requests.SideFailed as error:
            raise MigrateError(f"Pair {pair.name} could not be trained. {error}", ExitCode.WORK) from None
    return TrainingResult(pair.name, stated.metric, stated.epochs, tuple(runs))


def _sides(
    pair: Pair, asked: Mapping[str, Any], work: Path, options: Options, sides: Sequence[str]
) -> list[TrainingRun]:
    """The runs of all sides. PyTorch begins as soon as TensorFlow has drawn the starting weights."""
    ready, environment = work / "tensorflow" / "start.json", workers.share(len(sides))
    with ExitStack() as stack:
        first = workers.Answer(
            lambda stop: requests.ask(
                "tensorflow_training", asked, work / "tensorflow", options, "tensorflow", environment, stop
            )
        )
        answers = [stack.enter_context(first)]
        while first.pending and not ready.exists():
            time.sleep(workers.TICK)
        if "torch" in sides:
            start = files.read_json(ready)
            if start.pop("gpu"):
                first.get()
            more = {**asked, **start, "ref": pair.torch, "arguments": {}, "torch_call": pair.torch_call}
            second = workers.Answer(
                lambda stop: requests.ask("torch_training", more, work / "torch", options, "torch", environment, stop)
            )
            answers.append(stack.enter_context(second))
        found = workers.everyone(answers)
    return [_run(side, run) for side, facts in zip(sides, found, strict=True) for run in facts["runs"]]


def tensorflow_spread(
    pair: Pair, folder: Path, seeds: Sequence[int], options: Options, progress: Progress
) -> tuple[float, float]:
    """The lowest and highest test score of the TensorFlow version over several seeds: what chance alone does."""
    return spread(train_for_real(pair, folder, seeds, options, progress, ("tensorflow",)))


def spread(result: TrainingResult) -> tuple[float, float]:
    """The lowest and highest test score among the TensorFlow runs of a result."""
    tests = [run.test for run in result.runs if run.side == "tensorflow"]
    return min(tests), max(tests)


def _stated(pair: Pair) -> Training:
    if pair.training is None:
        raise MigrateError(f"Pair {pair.name} has no [pair.training] table, so there is nothing to train on.")
    if pair.training.metric not in scores.SCORES:
        known = ", ".join(scores.SCORES)
        raise MigrateError(f"Pair {pair.name} names the metric '{pair.training.metric}'; known are {known}.")
    if pair.loss is None:
        raise MigrateError(f"Pair {pair.name} has no [pair.loss] table; training for real needs the loss it uses.")
    return pair.training


def _request(pair: Pair, folder: Path, stated: Training, seeds: Sequence[int]) -> dict[str, Any]:
    return {
        "ref": pair.tensorflow,
        "folder": str(folder.resolve()),
        "inputs": [requests.spec_facts(text) for text in pair.inputs],
        "call": pair.call,
        "arguments": dict(pair.tensorflow_args),
        "loss": requests.named_facts(pair.loss),
        "optimizer": requests.named_facts(pair.optimizer or Named("SGD")),
        "seeds": list(seeds),
        "epochs": stated.epochs,
        "batch": stated.batch,
        "metric": stated.metric,
    }


def _data(pair: Pair, folder: Path, stated: Training, work: Path, options: Options) -> str:
    """The file with the arrays, made once, in the environment of the side whose code makes them."""
    requests.check_ref(stated.data, folder, "training data")
    theirs = requests.root_of(pair.tensorflow, folder)
    place = (folder / stated.data.rpartition(":")[0]).resolve()
    side = "tensorflow" if theirs.resolve() in place.parents else "torch"
    asked = {"ref": stated.data, "folder": str(folder.resolve())}
    requests.ask("data_side", asked, work / "data", options, side)
    return str(work / "data" / "arrays.safetensors")


def _run(side: Any, run: Mapping[str, Any]) -> TrainingRun:
    curves = {name: tuple(values) for name, values in run["curves"].items()}
    return TrainingRun(side, int(run["seed"]), curves, float(run["test"]))
