"""A whole run with the stages replaced: the order, the files, what a failure does to the rest, and the exit code."""

import importlib.util
import json
from pathlib import Path

import pytest

from migrator import pipeline
from migrator.errors import ExitCode, MigrateError
from migrator.facts import Pair, Training
from migrator.pipeline import Outcome, RunOptions, stages, whole

_spec = importlib.util.spec_from_file_location("sample", Path(__file__).parent.parent / "report" / "sample.py")
sample = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(sample)

FILES = {"assess.json", "rewrite.json", "rewrite.diff", "parity.json", "training.json", "bench.json", "run.json"}
PAIR = Pair("net", "a.py:f", "b.py:f", ("float32[1]",), training=Training("t.py:load", 2, "accuracy"))


@pytest.fixture
def run(monkeypatch, tmp_path):
    """Runs with replaced stages; `seen` lists them in order. An answer that is an exception is raised."""

    def start(*, left=(), verdict="pass", parity=None, training=None, bench=None, pairs=(PAIR,)):
        from dataclasses import replace

        seen = []
        rewritten = replace(sample.rewritten(), left=left, pairs=pairs)
        answers = {
            "assess": Outcome(sample.assessment(), ExitCode.CLEAN),
            "rewrite": Outcome(rewritten, stages.code_of(work_remains=bool(left))),
            "parity": parity or Outcome(sample.parity(verdict=verdict), stages.code_of(work_remains=verdict != "pass")),
            "train": training or Outcome(sample.training(), ExitCode.CLEAN),
        }
        for name, answer in answers.items():

            def stage(*args, name=name, answer=answer, **more):
                seen.append(name)
                if isinstance(answer, Exception):
                    raise answer
                return answer

            monkeypatch.setattr(stages, name, stage)

        def measuring(pair, folder, options, progress):
            seen.append("bench")
            if bench:
                raise bench
            return sample.bench()[0]

        monkeypatch.setattr("migrator.bench.measure.bench", measuring)
        monkeypatch.setattr(whole, "from_config", lambda folder: pipeline.Selection(pairs, folder))
        outcome = pipeline.run(tmp_path, tmp_path / "out", RunOptions())
        return outcome, seen, tmp_path / "out"

    return start


def result(out, name):
    return json.loads((out / f"{name}.json").read_text())


def test_everything_in_order_and_every_file_in_its_place(run):
    outcome, seen, out = run()
    assert seen == ["assess", "rewrite", "parity", "train", "bench"]
    assert {path.name for path in out.iterdir()} == FILES | {"report.html"}
    assert outcome.code == ExitCode.CLEAN
    assert outcome.value.page == out / "report.html"


def test_each_stage_has_a_line_of_its_own(run):
    lines = run()[0].value.lines
    assert [line.partition(":")[0] for line in lines] == ["assess", "rewrite", "parity", "training", "bench"]


def test_something_left_leaves_work_and_the_rest_is_done(run):
    outcome, seen, _ = run(left=sample.rewritten().left)
    assert outcome.code == ExitCode.WORK
    assert seen[-1] == "bench"


def test_where_parity_fails_bench_says_why_it_was_not_run_and_the_page_is_made(run):
    outcome, seen, out = run(verdict="fail")
    assert outcome.code == ExitCode.WORK
    assert "bench" not in seen
    assert "train" in seen
    [pair] = result(out, "bench")["pairs"]
    assert "parity" in pair["reason"]
    assert pair["reason"] in (out / "report.html").read_text()


def test_where_parity_cannot_run_its_reason_is_kept_for_the_pair(run):
    outcome, _, out = run(parity=MigrateError("torch is not installed."))
    assert outcome.code == ExitCode.WORK
    assert result(out, "parity")["pairs"][0] | {"checks": None} == {
        "name": "net",
        "verdict": "error",
        "reason": "torch is not installed.",
        "checks": None,
        "first_divergence": None,
        "differences": [],
    }


def test_a_training_that_fails_is_told_and_bench_goes_on(run):
    outcome, seen, out = run(training=MigrateError("train.py:load raised ValueError."))
    assert outcome.code == ExitCode.WORK
    assert seen[-1] == "bench"
    assert "train.py:load raised ValueError." in result(out, "training")["reason"]
    assert "train.py:load raised ValueError." in (out / "report.html").read_text()


def test_a_bench_that_fails_leaves_work(run):
    outcome, _, out = run(bench=MigrateError("no variant could be measured", ExitCode.WORK))
    assert outcome.code == ExitCode.WORK
    assert result(out, "bench")["pairs"][0]["reason"] == "no variant could be measured"


def test_without_a_pair_nothing_is_compared_and_the_page_says_so(run):
    outcome, seen, out = run(pairs=())
    assert seen == ["assess", "rewrite"]
    assert outcome.code == ExitCode.WORK
    assert result(out, "parity")["reason"] in (out / "report.html").read_text()


def test_a_folder_inside_the_tree_is_not_copied_into_itself(tmp_path, monkeypatch):
    (tmp_path / "models.py").write_text("from tensorflow import keras\n\nmodel = keras.layers.Dense(3)\n")
    monkeypatch.setattr(stages, "parity", lambda *a, **k: Outcome([], ExitCode.CLEAN))
    pipeline.run(tmp_path, tmp_path / "out", RunOptions())
    assert (tmp_path / "out" / "assess.json").is_file()
    assert not list((tmp_path / "out" / "torch").rglob("*.json"))


def test_a_folder_that_is_not_empty_is_refused_before_anything_is_read(tmp_path, monkeypatch):
    (tmp_path / "mine.txt").write_text("mine")
    monkeypatch.setattr(stages, "assess", lambda *a, **k: pytest.fail("assess was run"))
    with pytest.raises(MigrateError, match="not an empty folder") as caught:
        pipeline.run(tmp_path, tmp_path, RunOptions())
    assert caught.value.code == ExitCode.UNABLE
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]


def test_a_path_that_cannot_be_read_leaves_no_folder_behind(tmp_path):
    with pytest.raises(MigrateError):
        pipeline.run(tmp_path / "no-such-folder", tmp_path / "out", RunOptions())
    assert not (tmp_path / "out").exists()
