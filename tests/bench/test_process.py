"""The protocol between bench and its workers, with a worker that has no framework: fast, and every end is reached."""

import subprocess
import sys
from pathlib import Path

import pytest

from migrator.bench.measure import WORKERS, rotations
from migrator.bench.process import VariantMissing, VariantProcess
from migrator.errors import ExitCode, MigrateError

WORKER = f"""
import sys
sys.path.insert(0, {str(WORKERS)!r})
import bench_loop

def prepare(job):
    {{body}}
    return step, bench_loop.ResidentMemory(), {{{{"device": "cpu"}}}}

bench_loop.serve(prepare)
"""
CALM = "step = lambda: sum(range(1000))"


@pytest.fixture
def variant(tmp_path):
    """Starts a worker whose `prepare` has the given body; ended after the test."""
    started = []

    def start(body=CALM):
        script = tmp_path / "worker.py"
        script.write_text(WORKER.format(body=body))
        process = VariantProcess("torch eager", sys.executable, script, {"threads": 1}, tmp_path)
        started.append(process)
        return process

    yield start
    for process in started:
        process.close()


def test_a_worker_is_ready_with_its_first_steps_and_what_it_runs_on(variant):
    ready = variant().ready()
    assert len(ready["warmup"]) > 0
    assert all(seconds > 0 for seconds in ready["warmup"])
    assert ready["memory_kind"] == "rss"
    assert ready["facts"] == {"device": "cpu"}


def test_it_runs_as_many_steps_as_asked_for(variant):
    process = variant()
    process.ready()
    assert [len(process.steps(count)) for count in (3, 1, 7)] == [3, 1, 7]


def test_what_the_teams_code_prints_does_not_disturb_the_answers(variant):
    process = variant("step = lambda: print('{\"seconds\": []}')")
    process.ready()
    assert len(process.steps(2)) == 2


def test_memory_that_a_step_takes_and_gives_back_is_in_the_peak(variant):
    process = variant("step = lambda: len(bytearray(b'1' * 60_000_000))")
    process.ready()
    process.steps(1)
    assert process.peak_memory() > 50_000_000


def test_a_variant_that_cannot_run_here_says_why(variant):
    with pytest.raises(VariantMissing, match="no compiler"):
        variant("raise bench_loop.Missing('There is no compiler.')").ready()


def test_a_model_that_raises_becomes_one_sentence(variant):
    with pytest.raises(MigrateError, match=r"torch eager failed\. ValueError: bad shape") as caught:
        variant("raise ValueError('bad shape')").ready()
    assert caught.value.code == ExitCode.WORK


def test_a_worker_that_dies_is_told_by_its_last_words(variant):
    body = "import os; print('out of memory', file=sys.stderr, flush=True); os._exit(9)"
    with pytest.raises(MigrateError, match=r"ended early \(exit 9\)\. out of memory"):
        variant(body).ready()


def test_a_closed_variant_leaves_no_process_behind(variant):
    process = variant()
    process.ready()
    process.close()
    assert process._process.poll() is not None


def test_the_worker_half_knows_no_framework():
    code = "import sys, bench_loop; print(sorted({'torch', 'tensorflow', 'numpy'} & set(sys.modules)))"
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        cwd=WORKERS,
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout.strip() == "[]"


def test_the_variant_that_goes_first_rotates():
    orders = list(rotations(3, 6))
    assert [order[0] for order in orders] == [0, 1, 2, 0, 1, 2]
    assert all(sorted(order) == [0, 1, 2] for order in orders)


def test_workers_are_where_bench_looks_for_them():
    assert (Path(WORKERS) / "bench_loop.py").is_file()
