"""Where a benchmark runs, and how much of the machine other programs took meanwhile.

Threads wait as the frameworks let them wait by default: a busy machine then slows some variants far more than others
(a thread that spins for a peer that another program keeps from running), so how busy it was belongs to the result.
"""

from __future__ import annotations

import os
import platform
from pathlib import Path
from typing import Any


def available_threads() -> int:
    """Cores this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def described() -> dict[str, Any]:
    """System and processor, as the system names them."""
    return {"system": f"{platform.system()} {platform.machine()}", "processor": _processor()}


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass
    return platform.processor()


class Meter:
    """Measures, from its making on, what share of all cores' time other programs than ours used."""

    def __init__(self) -> None:
        self._before = (_all_cores(), _ours())

    def others(self) -> float | None:
        """A fraction of the machine, 0 to 1; None where the system does not tell. Ended children count as ours."""
        before, now = self._before[0], _all_cores()
        if before is None or now is None or now[1] <= before[1]:
            return None
        busy, whole = now[0] - before[0], now[1] - before[1]
        return min(1.0, max(0.0, (busy - (_ours() - self._before[1])) / whole))


def _all_cores() -> tuple[float, float] | None:
    """Seconds that all cores together have been busy, and have been there, since the machine started."""
    try:
        fields = Path("/proc/stat").read_text().splitlines()[0].split()[1:9]
        ticks = [int(field) / os.sysconf("SC_CLK_TCK") for field in fields]
    except (OSError, ValueError, IndexError):
        return None
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)  # without idle and waiting for the disk


def _ours() -> float:
    """Seconds of processor time of this process and its ended children."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system
