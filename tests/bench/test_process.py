"""The protocol between bench and its workers, with a worker that has no framework: fast, and every end is reached."""

import subprocess
import sys

import pytest

from migrator.bench.measure import MODES, rotations
from migrator.bench.process import START as REAL_START
from migrator.bench.process import VariantMissing, VariantProcess
from migrator.errors import ExitCode, MigrateError

WORKERS = REAL_START.parent
START = f"""
import sys, types
sys.path.insert(0, {str(WORKERS)!r})
import start
start._load_package()
from migrate_worker import bench_loop

def prepare(request):
    {{body}}
    return step, bench_loop.ResidentMemory(), {{{{"device": "cpu"}}}}

fake = types.ModuleType("migrate_worker.fake")
fake.main = lambda request: bench_loop.serve(request, prepare)
sys.modules["migrate_worker.fake"] = fake
start.main()
"""
CALM = "step = lambda: sum(range(1000))"


@pytest.fixture
def variant(tmp_path):
    """Starts a worker whose `prepare` has the given body; ended after the test."""
    started = []

    def start(body=CALM):
        script = tmp_path / "start.py"
        script.write_text(START.format(body=body))
        request = {"module": "fake", "threads": 1, "frameworks": ["torch"]}
        process = VariantProcess("torch eager", sys.executable, request, tmp_path, start=script)
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
    code = "import sys, worker.bench_loop; print(sorted({'torch', 'tensorflow'} & set(sys.modules)))"
    loaded = subprocess.run(
        [sys.executable, "-c", code],
        cwd=WORKERS.parent,
        capture_output=True,
        text=True,
        check=True,
    )
    assert loaded.stdout.strip() == "[]"


def test_the_variant_that_goes_first_rotates():
    orders = list(rotations(3, 6))
    assert [order[0] for order in orders] == [0, 1, 2, 0, 1, 2]
    assert all(sorted(order) == [0, 1, 2] for order in orders)


def test_a_framework_that_is_not_installed_is_named(variant):
    with pytest.raises(MigrateError, match="torch is not installed where torch eager runs") as caught:
        variant("raise ModuleNotFoundError('No module named torch', name='torch')").ready()
    assert caught.value.code == ExitCode.UNABLE


def test_an_interpreter_that_does_not_exist_is_named(tmp_path):
    with pytest.raises(MigrateError, match="no-such-python cannot be started"):
        VariantProcess("tensorflow graph", "no-such-python", {"module": "x", "threads": 1}, tmp_path)


def test_every_side_has_its_worker():
    assert {f"bench_{side}.py" for side in MODES.values()} <= {path.name for path in WORKERS.iterdir()}
