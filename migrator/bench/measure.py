"""Measures one pair: a training step (loss, backward, optimizer) of each variant, on the same arrays.

Every variant is a process of its own that stays alive; one is active at a time. Rounds alternate between the
variants, and the one that goes first rotates, so that a machine that slows down or warms up harms all alike.
The pair's parity is the caller's business: a figure for a twin that computes something else means nothing.
"""

from __future__ import annotations

import math
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

from migrator.bench.deltas import Measured, deltas, over_budget, row
from migrator.bench.machine import Meter, available_threads, described
from migrator.bench.process import VariantMissing, VariantProcess
from migrator.errors import ExitCode, MigrateError
from migrator.facts import BenchResult, Pair
from migrator.spec import parse_spec

MODES: Mapping[str, Literal["tensorflow", "torch"]] = {"graph": "tensorflow", "eager": "torch", "compiled": "torch"}
FEWEST_STEPS, MOST_STEPS = 1, 500  # in one round

Progress = Callable[[str], None]


@dataclass(frozen=True)
class Options:
    """How to measure. `seconds` is about how long one round of one variant lasts; `device` auto, cpu or cuda."""

    modes: tuple[str, ...] = tuple(MODES)
    rounds: int = 15
    seconds: float = 0.25
    device: str = "auto"
    threads: int = 0  # 0: as many as this process may use
    seed: int = 0
    interpreters: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        unknown = [mode for mode in self.modes if mode not in MODES]
        if unknown or not self.modes:
            asked = ", ".join(unknown) or "(none given)"
            raise MigrateError(f"bench has no mode {asked}. Choose among {', '.join(MODES)}.")
        if self.rounds < 1:
            raise MigrateError(f"bench needs at least one round, not {self.rounds}.")
        if self.device not in ("auto", "cpu", "cuda"):
            raise MigrateError(f"There is no device {self.device}. Choose auto, cpu or cuda.")


@dataclass
class _Variant:
    """A running process, what it said when it was ready, and the rounds so far."""

    side: Literal["tensorflow", "torch"]
    mode: str
    process: VariantProcess
    ready: Mapping[str, Any]
    steps: int
    rounds: list[list[float]] = field(default_factory=list)

    @property
    def name(self) -> str:
        return f"{self.side} {self.mode}"


def bench(pair: Pair, folder: Path, options: Options, progress: Progress) -> BenchResult:
    """Times and memory of `pair`, whose REFs are relative to `folder`.

    A variant that cannot run here goes into `missing` with its reason. Raises MigrateError (exit 1) where none runs.
    """
    missing: dict[str, str] = {}
    meter = Meter()
    with tempfile.TemporaryDirectory(prefix="migrate-bench-") as scratch, ExitStack() as stack:
        variants = _start(pair, folder, options, Path(scratch), stack, missing, progress)
        _alternate(pair, variants, options.rounds, missing, progress)
        measured = {}
        for variant in variants:
            if variant.name not in missing:
                measured[variant.name] = _measured(variant, pair.batch)
    machine = _machine(variants, options, meter)
    if not measured:
        reasons = " ".join(f"{name}: {reason}" for name, reason in missing.items())
        raise MigrateError(f"bench: no variant of {pair.name} could be measured. {reasons}", ExitCode.WORK)
    rows = tuple(row(variant) for variant in measured.values())
    apart = len({variant.ready["facts"]["device"] for variant in variants}) > 1
    reason = (
        "The variants ran on different devices, so they are not compared. Choose one with --device." if apart else ""
    )
    found = {} if apart else deltas(measured)
    return BenchResult(pair.name, rows, found, reason, missing, machine, tuple(over_budget(pair.budget, found)))


def _start(
    pair: Pair,
    folder: Path,
    options: Options,
    scratch: Path,
    stack: ExitStack,
    missing: dict[str, str],
    progress: Progress,
) -> list[_Variant]:
    """Starts the variants one after the other; each has run its first steps before the next begins."""
    variants = []
    for mode in options.modes:
        side = MODES[mode]
        name = f"{side} {mode}"
        progress(f"bench {pair.name}: starting {name}")
        python = options.interpreters.get(side, sys.executable)
        process = stack.enter_context(VariantProcess(name, python, _request(pair, folder, mode, options), scratch))
        try:
            ready = process.ready()
        except VariantMissing as reason:
            missing[name] = str(reason)
        except MigrateError as error:
            missing[name] = error.message
        else:
            variants.append(_Variant(side, mode, process, ready, _steps(ready["warmup"], options.seconds)))
            continue
        process.close()
    return variants


def _request(pair: Pair, folder: Path, mode: str, options: Options) -> dict[str, Any]:
    """What a worker is told, in JSON values."""
    side = MODES[mode]
    return {
        "module": f"bench_{side}",
        "frameworks": [side, "keras"],
        "ref": pair.tensorflow if side == "tensorflow" else pair.torch,
        "folder": str(folder.resolve()),
        "arguments": dict(pair.tensorflow_args) if side == "tensorflow" else {},
        "call": pair.call,
        "torch_call": pair.torch_call,
        "tensorflow_form": pair.call,
        "inputs": [asdict(parse_spec(text)) for text in pair.inputs],
        "target": asdict(parse_spec(pair.target)) if pair.target else None,
        "sizes": {"batch": pair.batch},
        "loss": asdict(pair.loss) if pair.loss else None,
        "optimizer": asdict(pair.optimizer) if pair.optimizer else None,
        "seed": options.seed,
        "mode": mode,
        "device": options.device,
        "threads": options.threads or available_threads(),
    }


def _steps(warmup: Sequence[float], seconds: float) -> int:
    """How many steps make a round of about `seconds`; the fastest of the first steps is the nearest to steady."""
    return min(MOST_STEPS, max(FEWEST_STEPS, math.ceil(seconds / max(min(warmup), 1e-6))))


def rotations(count: int, rounds: int) -> Iterable[list[int]]:
    """The order of `count` variants in each round: the one that goes first rotates."""
    for turn in range(rounds):
        yield [(turn + place) % count for place in range(count)]


def _alternate(
    pair: Pair, variants: Sequence[_Variant], rounds: int, missing: dict[str, str], progress: Progress
) -> None:
    """Runs all rounds. A variant that fails on the way is left out from there on."""
    for turn, order in enumerate(rotations(len(variants), rounds), start=1):
        progress(f"bench {pair.name}: round {turn} of {rounds}")
        for variant in (variants[place] for place in order):
            if variant.name in missing:
                continue
            try:
                variant.rounds.append(variant.process.steps(variant.steps))
            except MigrateError as error:
                missing[variant.name] = error.message


def _measured(variant: _Variant, batch: int) -> Measured:
    return Measured(
        side=variant.side,
        mode=variant.mode,
        batch=batch,
        rounds=variant.rounds,
        warmup=tuple(variant.ready["warmup"]),
        memory_bytes=variant.process.peak_memory(),
        memory_kind=variant.ready["memory_kind"],
        warmup_memory_bytes=int(variant.ready["warmup_memory"]),
    )


def _machine(variants: Sequence[_Variant], options: Options, meter: Meter) -> dict[str, Any]:
    """Where and how it was measured; each worker adds its device and versions."""
    return {
        **described(),
        "threads": options.threads or available_threads(),
        "rounds": options.rounds,
        "steps_per_round": {variant.name: variant.steps for variant in variants},
        "others": meter.others(),
        **{variant.name: dict(variant.ready["facts"]) for variant in variants},
    }
