"""One variant's process, seen from outside: started like every worker, asked for steps, always ended."""

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

START = Path(__file__).resolve().parent.parent / "worker" / "start.py"
START_SECONDS = 900.0  # importing a framework, building a model and compiling it, on a slow machine
ROUND_SECONDS = 300.0


class VariantMissing(Exception):
    """The variant says that it cannot run here: no compiler, no such device."""


class VariantProcess:
    """Speaks the protocol of `worker/bench_loop.py`. Use as a context manager: the process never outlives it."""

    def __init__(self, name: str, python: str, request: Mapping[str, Any], folder: Path, start: Path = START) -> None:
        """Starts `start` with `request` (JSON values, with `module` and `threads`); its messages stay in `folder`.

        Raises MigrateError where there is no such interpreter.
        """
        self.name = name
        self._out = folder / name.replace(" ", "-")
        self._out.mkdir(parents=True)
        file = self._out / "request.json"
        file.write_text(json.dumps({**request, "out": str(self._out)}))
        with (self._out / "log.txt").open("w") as log:
            self._process = _popen(
                [python, str(start), str(file)], log, _environment(int(request["threads"]), self._out)
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
            line = self._next(seconds)
        except queue.Empty:
            self._process.kill()
            message = f"bench: {self.name} gave no answer for {seconds:.0f} s and was stopped. Try a smaller batch."
            raise MigrateError(message, ExitCode.WORK) from None
        if not line:
            raise self._died()
        answer: dict[str, Any] = json.loads(line)
        if "missing" in answer:
            raise VariantMissing(answer["missing"])
        return answer

    def _next(self, seconds: float) -> str:
        """The next line that is an answer; a framework may greet on standard output before we can redirect it."""
        line = self._lines.get(timeout=seconds)
        while line and not line.startswith("{"):
            line = self._lines.get(timeout=seconds)
        return line

    def _died(self) -> MigrateError:
        """What a process left behind that ended without an answer: its result file, else its last words."""
        self._process.wait()
        with contextlib.suppress(OSError, ValueError):
            result = json.loads((self._out / "result.json").read_text())
            if result["status"] == "framework":
                message = f"bench: {result['package']} is not installed where {self.name} runs."
                return MigrateError(f"{message} Install tf2torch-migrator[cpu] or [gpu] there.")
            where = f" ({result['file']}, line {result['line']})" if "file" in result else ""
            return MigrateError(f"bench: {self.name} failed. {result['message']}{where}", ExitCode.WORK)
        said = [line for line in (self._out / "log.txt").read_text(errors="replace").splitlines() if line.strip()]
        last = said[-1] if said else "It said nothing."
        return MigrateError(f"bench: {self.name} ended early (exit {self._process.returncode}). {last}", ExitCode.WORK)


def _popen(command: list[str], log: IO[str], environment: Mapping[str, str]) -> subprocess.Popen[str]:
    pipe = subprocess.PIPE
    try:
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=log, text=True, env=environment)
    except OSError as error:
        raise MigrateError(f"{command[0]} cannot be started ({error.strerror}). Name a Python interpreter.") from None


def _environment(threads: int, out: Path) -> dict[str, str]:
    """Ours, without what would lead a foreign interpreter to our modules, the same threads for all, and a compiler
    cache of its own: compiling is measured, so nothing may have been compiled before."""
    base = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    base |= dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS"), str(threads))
    base |= {"TORCHINDUCTOR_CACHE_DIR": str(out / "compiled"), "TRITON_CACHE_DIR": str(out / "triton")}
    return base | {"TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": "tensorflow", "PYTHONUTF8": "1"}


def _pump(stream: IO[str], lines: queue.Queue[str]) -> None:
    """Moves lines into a queue, so that waiting for one can time out; an empty string marks the end."""
    with stream:
        for line in stream:
            lines.put(line)
    lines.put("")
