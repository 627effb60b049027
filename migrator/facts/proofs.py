"""What was proven of a pair: parity, real training, speed and memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from migrator.facts.words import Verdict


@dataclass(frozen=True)
class Check:
    """One check's verdict. `needed` is the tolerance that would have passed; numbers are relative."""

    id: str
    verdict: Verdict
    error: float | None = None
    floor: float | None = None
    needed: float | None = None
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PairResult:
    """What parity says about one pair."""

    name: str
    verdict: Literal["pass", "fail", "error"]
    reason: str
    checks: tuple[Check, ...]
    first_divergence: Mapping[str, Any] | None = None
    differences: tuple[Mapping[str, Any], ...] = ()


@dataclass(frozen=True)
class TrainingRun:
    """One version trained once. `test` is the metric on held-out data after training."""

    side: Literal["tensorflow", "torch"]
    seed: int
    curves: Mapping[str, tuple[float, ...]]  # "loss", "val_loss", a metric's name … -> one value an epoch
    test: float


@dataclass(frozen=True)
class TrainingResult:
    """Both versions of a pair trained from the same initial weights on the same batches, once for each seed."""

    name: str
    metric: str
    epochs: int
    runs: tuple[TrainingRun, ...]


@dataclass(frozen=True)
class BenchRow:
    """One variant's figures; times in milliseconds per step as the name says, memory in bytes."""

    side: Literal["tensorflow", "torch"]
    mode: str
    precision: str
    step_ms: Mapping[str, float]  # median, low, high
    samples_per_second: float
    memory_bytes: int
    memory_kind: Literal["vram", "rss"]
    compile_seconds: float
    data_wait_share: float | None = None
    note: str = ""
    warmup_seconds: float = 0.0  # what the first steps took beyond steady ones, compilation not counted


@dataclass(frozen=True)
class BenchResult:
    """The rows of one pair and the deltas between them. `reason` says why there are none, where there are none."""

    name: str
    rows: tuple[BenchRow, ...]
    deltas: Mapping[str, Any]
    reason: str = ""
    missing: Mapping[str, str] = field(default_factory=dict)  # "torch compiled" -> why it could not be measured
    machine: Mapping[str, Any] = field(default_factory=dict)  # device, threads, versions, rounds, steps
    over_budget: tuple[str, ...] = ()  # what the pair's budget allows and was not kept, a sentence each
