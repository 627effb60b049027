"""The half of a bench worker that knows no framework: orders come in, timed steps and memory figures go out.

A bench worker is started like every worker, by `start.py` with a request file, and stays. It answers on its standard
output, one JSON object a line; whatever the team's code prints goes to standard error instead. First it is `ready`
with the times of its first steps, or `missing` with a reason. Then a line `N` on its standard input makes it run N
steps and answer with their times in seconds, `memory` asks for the peak since it was ready, and the end of the input
ends it. What it raises is left in the result file that every worker leaves.
"""

import gc
import json
import os
import resource
import sys
import time
from typing import Any, Callable, Dict, List, Tuple

WARMUP = 5  # steps before anything counts: tracing, compiling, optimizer state, allocator and caches


Step = Callable[[], Any]
Prepared = Tuple[Step, Any, Dict[str, Any]]


class Missing(Exception):
    """This variant cannot run here, and that is nobody's mistake: no compiler, no such device."""


class ResidentMemory:
    """Peak resident bytes of this process beyond its size when the object was made."""

    kind = "rss"

    def __init__(self) -> None:
        gc.collect()
        self.resets = _reset_peak()
        self.base = _status("VmRSS") if self.resets else _peak()

    def peak(self) -> int:
        """Bytes; never negative."""
        return max(0, (_status("VmHWM") if self.resets else _peak()) - self.base)

    def restart(self) -> None:
        """Forgets peaks so far, where the system allows it."""
        if self.resets:
            _reset_peak()


def _reset_peak() -> bool:
    """Whether Linux let us set the high-water mark back to the present size."""
    try:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        return _status("VmHWM") > 0
    except OSError:
        return False


def _status(key: str) -> int:
    with open("/proc/self/status") as file:
        for line in file:
            if line.startswith(key + ":"):
                return int(line.split()[1]) * 1024
    return 0


def _peak() -> int:
    value = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return value if sys.platform == "darwin" else value * 1024


def serve(request: Dict[str, Any], prepare: Callable[[Dict[str, Any]], Prepared]) -> Dict[str, Any]:
    """Runs a worker's whole life and returns the facts for its result file.

    `prepare(request)` returns (step, memory, facts): `step()` runs one training step and returns only when its result
    is there; `memory` has `kind`, `peak()` and `restart()`. Where it raises Missing, the reason is the answer.
    """
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(**fields: Any) -> None:
        answers.write(json.dumps(fields) + "\n")
        answers.flush()

    try:
        step, memory, facts = prepare(request)
    except Missing as reason:
        answer(missing=str(reason))
        return {}
    warmup = timed(step, WARMUP)
    gc.collect()
    gc.freeze()  # what lives by now stays: collecting before each round need not look at a whole framework again
    warmup_peak = memory.peak()
    memory.restart()
    answer(ready=True, warmup=warmup, memory_kind=memory.kind, warmup_memory=warmup_peak, facts=facts)
    _obey(step, memory, answer)
    return facts


def _obey(step: Step, memory: Any, answer: Callable[..., None]) -> None:
    for line in sys.stdin:
        order = line.strip()
        if order == "memory":
            answer(memory=memory.peak())
        else:
            answer(seconds=timed(step, int(order)))


def timed(step: Step, count: int) -> List[float]:
    """Seconds of each of `count` steps. The collector is off meanwhile: its pauses belong to no single step."""
    gc.collect()
    gc.disable()
    seconds = []
    try:
        for _ in range(count):
            start = time.perf_counter()
            step()
            seconds.append(time.perf_counter() - start)
    finally:
        gc.enable()
    return seconds
