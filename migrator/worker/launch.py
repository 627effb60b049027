"""Start a worker from our side: its own process, a time limit, output captured, a result whatever happens.

Runs in our interpreter, beside the code it starts, because parity, bench and proofs all start workers.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any, Mapping

from . import files

START = Path(__file__).resolve().parent / "start.py"


def run(
    module: str,
    request: Mapping[str, Any],
    out: Path,
    python: str | None = None,
    timeout: float = 600.0,
    environment: Mapping[str, str] | None = None,
    stop: threading.Event | None = None,
) -> dict[str, Any]:
    """Run one module of this folder in `python` (default: our own interpreter); its arrays land in `out`.

    Returns the worker's result: `status` is `ok`, `missing`, `framework`, `raised`, or, where the process left no
    result, `timeout` or `crashed` (with `message` and `last_lines`); `seconds` is the wall time. Once `stop` is set,
    the process is ended as if its time were over.
    Raises FileNotFoundError where the interpreter does not exist.
    """
    out.mkdir(parents=True, exist_ok=True)
    asked = dict(request, module=module, out=str(out), watched=True)
    files.write_json(out / "request.json", asked)
    (out / "result.json").unlink(missing_ok=True)
    command = [python or sys.executable, str(START), str(out / "request.json")]
    started = time.monotonic()
    with tempfile.TemporaryFile() as log:
        code = _wait(command, log, timeout, environment, stop)
        result = _result(out, code, timeout, _tail(log))
    result["seconds"] = time.monotonic() - started
    return result


def _wait(
    command: list[str],
    log: Any,
    timeout: float,
    environment: Mapping[str, str] | None,
    stop: threading.Event | None,
) -> int | None:
    """Exit code of the command, None where it had to be ended. No process of its group survives us."""
    process = subprocess.Popen(
        command,
        stdin=subprocess.PIPE,  # the worker ends when this end closes, however we end
        stdout=log,
        stderr=subprocess.STDOUT,
        env=_environment(environment),
        start_new_session=True,
    )
    try:
        return process.wait(timeout) if stop is None else _unless_stopped(process, timeout, stop)
    except subprocess.TimeoutExpired:
        return None
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if process.stdin is not None:
            process.stdin.close()


def _unless_stopped(process: subprocess.Popen[bytes], timeout: float, stop: threading.Event) -> int | None:
    end = time.monotonic() + timeout
    while process.poll() is None and time.monotonic() < end and not stop.wait(0.05):
        pass
    return process.poll()


def _environment(extra: Mapping[str, str] | None) -> dict[str, str]:
    # Our own modules must not leak into an interpreter that is not ours.
    base = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    base.update(TF_CPP_MIN_LOG_LEVEL="3", KERAS_BACKEND="tensorflow", PYTHONDONTWRITEBYTECODE="1", PYTHONUTF8="1")
    # Threads that spin while they wait slow a machine down a hundredfold once anybody else needs its cores.
    base.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    base.update(extra or {})
    return base


def _tail(log: Any) -> list[str]:
    log.seek(0)
    return [line for line in log.read().decode("utf-8", "replace").splitlines() if line.strip()][-8:]


def _result(out: Path, code: int | None, timeout: float, lines: list[str]) -> dict[str, Any]:
    try:
        result: dict[str, Any] = files.read_json(out / "result.json")
        return result
    except (OSError, ValueError):
        pass
    if code is None:
        message = f"no answer within {timeout:.0f} s"
        return {"status": "timeout", "message": message, "last_lines": lines}
    how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit status {code}"
    return {"status": "crashed", "message": "the process died with " + how, "last_lines": lines}
