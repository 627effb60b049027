"""From timed rounds to rows and deltas: how much faster, how much smaller, from which step compiling pays.

`speed` is TensorFlow's step time over PyTorch's (2.0: PyTorch takes half the time), `memory` is PyTorch's peak
over TensorFlow's (0.5: half the memory). Both are against TensorFlow in graph mode, the fastest it is usually run.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from migrator.bench.statistics import Rounds, difference, median, ratio
from migrator.facts import BenchRow


@dataclass(frozen=True)
class Measured:
    """What one variant's process reported. Times are seconds a step, memory is bytes, `warmup` the first steps."""

    side: Literal["tensorflow", "torch"]
    mode: str
    batch: int
    rounds: Rounds
    warmup: tuple[float, ...]
    memory_bytes: int
    memory_kind: Literal["vram", "rss"]
    warmup_memory_bytes: int = 0
    precision: str = "float32"

    @property
    def name(self) -> str:
        """`torch compiled`."""
        return f"{self.side} {self.mode}"

    @property
    def start_up(self) -> float:
        """Seconds that the first steps took beyond steady ones: tracing, compiling, caches filling."""
        steady = median(self.rounds).median
        return sum(max(0.0, seconds - steady) for seconds in self.warmup)


def row(measured: Measured) -> BenchRow:
    """The figures of one variant as the contract prints them."""
    step = median(measured.rounds)
    compiles = measured.mode != "eager"
    return BenchRow(
        side=measured.side,
        mode=measured.mode,
        precision=measured.precision,
        step_ms={name: value * 1e3 for name, value in step.as_dict().items()},
        samples_per_second=measured.batch / step.median,
        memory_bytes=measured.memory_bytes,
        memory_kind=measured.memory_kind,
        compile_seconds=measured.start_up if compiles else 0.0,
        warmup_seconds=0.0 if compiles else measured.start_up,
        note=_memory_note(measured),
    )


def _memory_note(measured: Measured) -> str:
    peak = f"{measured.warmup_memory_bytes / 2**20:.0f} MiB while the first steps ran"
    if measured.memory_kind == "vram":
        return f"Peak of the framework's CUDA allocator; {peak}."
    return f"Peak resident growth of a fresh process over its size after importing the framework; {peak}."


def deltas(measured: Mapping[str, Measured]) -> dict[str, Any]:
    """PyTorch against TensorFlow, by `Measured.name`. Empty where either side is missing."""
    base = measured.get("tensorflow graph")
    twins = [variant for variant in measured.values() if variant.side == "torch"]
    if base is None or not twins:
        return {}
    return {
        "against": base.name,
        "speed": {twin.mode: ratio(base.rounds, twin.rounds).as_dict() for twin in twins},
        "memory": {twin.mode: _memory_ratio(base, twin) for twin in twins},
        "break_even": break_even(measured.get("torch eager"), measured.get("torch compiled")),
    }


def over_budget(budget: Mapping[str, float], found: Mapping[str, Any]) -> list[str]:
    """Sentences about what a pair's `budget` allows and compiled PyTorch does not keep; empty where all is kept.

    `speed` is the least that compiled PyTorch must reach, `memory` the most that it may take, both against
    TensorFlow. Speed is over budget only where the whole interval is: a noisy machine alone breaks no budget.
    """
    said = []
    for what, allowed in budget.items():
        value = found.get(what, {}).get("compiled")
        if value is None:
            said.append(f"The budget for {what} cannot be checked: compiled PyTorch was not compared with TensorFlow.")
        elif what == "speed" and value["high"] < allowed:
            said.append(
                f"Compiled PyTorch runs at {value['median']:.2f} times TensorFlow's speed; {allowed:g} is asked."
            )
        elif what == "memory" and value > allowed:
            said.append(f"Compiled PyTorch takes {value:.2f} times TensorFlow's memory; {allowed:g} is allowed.")
    return said


def _memory_ratio(base: Measured, twin: Measured) -> float | None:
    if base.memory_bytes <= 0 or base.memory_kind != twin.memory_kind:
        return None
    return twin.memory_bytes / base.memory_bytes


def break_even(eager: Measured | None, compiled: Measured | None) -> dict[str, Any]:
    """The number of steps after which compiling has paid for itself. `steps` is None where it never surely does."""
    if eager is None or compiled is None:
        return {"steps": None, "reason": "Needs both eager and compiled PyTorch."}
    gain = difference(eager.rounds, compiled.rounds)  # seconds saved a step
    if gain.low <= 0:
        slower = "is slower" if gain.high < 0 else "is not measurably faster"
        return {"steps": None, "reason": f"Compiled {slower} than eager here, so compiling does not pay."}
    cost = max(0.0, compiled.start_up - eager.start_up)
    return {"steps": {"median": cost / gain.median, "low": cost / gain.high, "high": cost / gain.low}, "reason": ""}
