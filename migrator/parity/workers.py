"""Workers that run side by side: each is asked in a thread of its own, and none outlives the block that asked it."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any, Self

Facts = dict[str, Any]
TICK = 0.05  # seconds between looks


class Answer:
    """What a worker will say. Use as a context manager: left early, its process is ended.

    `ask` runs the worker, watches the event that it is given, and returns the worker's facts or raises.
    """

    def __init__(self, ask: Callable[[threading.Event], Facts]) -> None:
        self._ask = ask
        self._stop = threading.Event()
        self._facts: Facts = {}
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        try:
            self._facts = self._ask(self._stop)
        except BaseException as error:  # raised again where the answer is wanted
            self._error = error

    @property
    def pending(self) -> bool:
        """Whether the worker still runs. Raises what it raised."""
        if self._thread.is_alive():
            return True
        if self._error is not None:
            raise self._error
        return False

    def get(self) -> Facts:
        """Waits for the facts. Raises what the worker raised."""
        while self.pending:
            time.sleep(TICK)
        return self._facts


def everyone(answers: Sequence[Answer]) -> list[Facts]:
    """Waits for all of them; raises for the first that fails, without waiting for the others."""
    while sum(answer.pending for answer in answers):  # looks at each, so that whichever failed is noticed
        time.sleep(TICK)
    return [answer.get() for answer in answers]


def share(parts: int) -> dict[str, str]:
    """Environment of one of `parts` workers that divide this machine's cores. What the user has set stays."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    names = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS")
    return {name: str(max(1, cores // parts)) for name in names if name not in os.environ}
