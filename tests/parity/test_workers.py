"""Workers side by side: answers, failures, and nothing that runs on after its block."""

from __future__ import annotations

import os
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from migrator.parity import workers
from migrator.worker import launch


def test_everyone_answers_in_the_order_of_asking() -> None:
    with workers.Answer(lambda stop: {"n": 1}) as one, workers.Answer(lambda stop: {"n": 2}) as two:
        assert workers.everyone([one, two]) == [{"n": 1}, {"n": 2}]


def test_the_first_failure_ends_the_waiting_and_the_other_worker(tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("import time\ntime.sleep(300)\n")

    def hang(stop: threading.Event) -> workers.Facts:
        request = {"ref": "m.py:build", "folder": str(tmp_path)}
        return launch.run("calling", request, tmp_path / "out", timeout=300, stop=stop)

    def fail(stop: threading.Event) -> workers.Facts:
        while not (tmp_path / "out" / "request.json").exists():
            time.sleep(0.01)
        raise RuntimeError("no luck")

    started = time.monotonic()
    with ExitStack() as stack:
        answers = [stack.enter_context(workers.Answer(ask)) for ask in (hang, fail)]
        with pytest.raises(RuntimeError, match="no luck"):
            workers.everyone(answers)
    assert time.monotonic() - started < 60, "the hanging worker was waited for"


def test_a_share_divides_the_cores_and_leaves_what_the_user_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(6)), raising=False)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "TF_NUM_INTRAOP_THREADS", "TF_NUM_INTEROP_THREADS"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MKL_NUM_THREADS", "5")
    found = workers.share(4)
    assert found["OMP_NUM_THREADS"] == "1"
    assert workers.share(2)["OMP_NUM_THREADS"] == "3"
    assert "MKL_NUM_THREADS" not in found
