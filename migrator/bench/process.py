"""One variant's process, seen from outside: started by path, asked for steps, always ended."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from migrator.errors import ExitCode, MigrateError

START_SECONDS = 900.0  # importing a framework, building a model and compiling it, on a slow machine
ROUND_SECONDS = 300.0


class VariantMissing(Exception):
    """The variant says that it cannot run here: no compiler, no such device."""


class VariantProcess:
    """Speaks the protocol of `worker/bench_loop.py`. Use as a context manager: the process never outlives it."""

    def __init__(self, name: str, python: str, script: Path, job: Mapping[str, Any], folder: Path) -> None:
        """Starts the process with `job` (JSON values) in `folder`; its messages are kept there too."""
        self.name = name
        stem = name.replace(" ", "-")
        job_file, self._log = folder / f"{stem}.json", folder / f"{stem}.log"
        job_file.write_text(json.dumps(job))
        threads = str(job["threads"])
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": threads,
            "MKL_NUM_THREADS": threads,
            "TF_CPP_MIN_LOG_LEVEL": "2",
        }
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [python, str(script), str(job_file)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                env=environment,
            )
        self._lines: queue.Queue[str] = queue.Queue()
        self._pump = threading.Thread(target=_pump, args=(self._process.stdout, self._lines), daemon=True)
        self._pump.start()

    def __enter__(self) -> VariantProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def ready(self) -> dict[str, Any]:
        """Waits for the first steps. Raises VariantMissing, or MigrateError with the worker's own words."""
        return self._answer(START_SECONDS)

    def steps(self, count: int) -> list[float]:
        """Runs `count` training steps now; seconds of each."""
        self._order(str(count))
        seconds: list[float] = self._answer(ROUND_SECONDS)["seconds"]
        return seconds

    def peak_memory(self) -> int:
        """Bytes since it was ready, as the worker measures them."""
        self._order("memory")
        return int(self._answer(ROUND_SECONDS)["memory"])

    def close(self) -> None:
        """Ends the process: politely, then not."""
        with contextlib.suppress(OSError, ValueError):
            assert self._process.stdin is not None
            self._process.stdin.close()
        try:
            self._process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._pump.join(timeout=10)

    def _order(self, text: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(text + "\n")
            self._process.stdin.flush()
        except OSError:
            raise self._died() from None

    def _answer(self, seconds: float) -> dict[str, Any]:
        try:
            line = self._lines.get(timeout=seconds)
        except queue.Empty:
            self._process.kill()
            message = f"bench: {self.name} gave no answer for {seconds:.0f} s and was stopped. Try a smaller batch."
            raise MigrateError(message, ExitCode.WORK) from None
        if not line:
            raise self._died()
        answer: dict[str, Any] = json.loads(line)
        if "missing" in answer:
            raise VariantMissing(answer["missing"])
        if "error" in answer:
            raise MigrateError(f"bench: {self.name} failed. {answer['error']}", ExitCode.WORK)
        return answer

    def _died(self) -> MigrateError:
        """The last thing a process said before it ended without an answer."""
        self._process.wait()
        said = [line for line in self._log.read_text(errors="replace").splitlines() if line.strip()]
        last = said[-1] if said else "It said nothing."
        return MigrateError(f"bench: {self.name} ended early (exit {self._process.returncode}). {last}", ExitCode.WORK)


def _pump(stream: IO[str], lines: queue.Queue[str]) -> None:
    """Moves lines into a queue, so that waiting for one can time out; an empty string marks the end."""
    with stream:
        for line in stream:
            lines.put(line)
    lines.put("")
