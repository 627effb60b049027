"""Exit codes and what is refused, with the stages replaced: what they find is given, what follows from it is tested."""

from pathlib import Path

import pytest

from migrator import parity as parity_stage
from migrator import pipeline
from migrator.bench import measure
from migrator.errors import ExitCode, MigrateError
from migrator.facts import BenchResult, BenchRow, Check, Pair, PairResult
from migrator.parity import Options
from migrator.pipeline import Selection

ROW = BenchRow("torch", "eager", "float32", {"median": 1.0, "low": 1.0, "high": 1.0}, 1e3, 1, "rss", 0.0)


def pairs(*names):
    return Selection(tuple(Pair(name, "a.py:f", "b.py:f", ("float32[1]",)) for name in names), Path())


@pytest.fixture
def checked(monkeypatch):
    """Replaces parity's check: a verdict by pair, or an error to raise; remembers which pairs were asked for."""
    asked = []

    def set_up(**answers):
        def check(pair, folder, options, progress):
            asked.append(pair.name)
            answer = answers[pair.name]
            if isinstance(answer, Exception):
                raise answer
            return PairResult(pair.name, answer, "", (Check("forward", answer),))

        monkeypatch.setattr(parity_stage, "check", check)
        return asked

    return set_up


@pytest.fixture
def measured(monkeypatch):
    """Replaces bench's measuring; remembers what was measured."""
    asked = []

    def bench(pair, folder, options, progress):
        asked.append(pair.name)
        if pair.name == "breaks":
            raise MigrateError("no variant could be measured", ExitCode.WORK)
        return BenchResult(pair.name, (ROW,), {})

    monkeypatch.setattr(measure, "bench", bench)
    return asked


def test_parity_is_clean_where_every_pair_passes(checked):
    checked(a="pass", b="pass")
    assert pipeline.parity(pairs("a", "b"), Options()).code == ExitCode.CLEAN


@pytest.mark.parametrize("verdict", ["fail", "error"])
def test_one_pair_that_does_not_pass_leaves_work(checked, verdict):
    checked(a="pass", b=verdict)
    assert pipeline.parity(pairs("a", "b"), Options()).code == ExitCode.WORK


def test_a_pair_that_cannot_run_does_not_stop_the_others(checked):
    asked = checked(a=MigrateError("There is no file a.py."), b="pass")
    outcome = pipeline.parity(pairs("a", "b"), Options())
    assert asked == ["a", "b"]
    assert [(result.verdict, result.reason) for result in outcome.value] == [
        ("error", "There is no file a.py."),
        ("pass", ""),
    ]
    assert outcome.code == ExitCode.WORK


def test_where_no_pair_can_run_the_first_reason_is_the_error(checked):
    checked(a=MigrateError("torch is not installed."), b=MigrateError("something else"))
    with pytest.raises(MigrateError, match="torch is not installed") as caught:
        pipeline.parity(pairs("a", "b"), Options())
    assert caught.value.code == ExitCode.UNABLE


def test_only_pairs_whose_parity_passed_are_measured(measured):
    proof = [PairResult("a", "pass", "", ()), PairResult("b", "fail", "forward", ())]
    outcome = pipeline.bench(pairs("a", "b", "c"), proof, measure.Options())
    assert measured == ["a"]
    reasons = {result.name: result.reason for result in outcome.value}
    assert reasons["a"] == ""
    assert "parity" in reasons["b"]
    assert "fail" in reasons["b"]
    assert "was not checked" in reasons["c"]
    assert outcome.code == ExitCode.WORK


def test_bench_is_clean_where_every_pair_was_measured(measured):
    proof = [PairResult(name, "pass", "", ()) for name in "ab"]
    assert pipeline.bench(pairs("a", "b"), proof, measure.Options()).code == ExitCode.CLEAN


def test_a_pair_that_cannot_be_measured_does_not_stop_the_others(measured):
    proof = [PairResult(name, "pass", "", ()) for name in ("breaks", "b")]
    outcome = pipeline.bench(pairs("breaks", "b"), proof, measure.Options())
    assert measured == ["breaks", "b"]
    assert outcome.value[0].reason == "no variant could be measured"
    assert outcome.code == ExitCode.WORK


def test_an_empty_or_missing_folder_may_be_written_into(tmp_path):
    pipeline.require_empty(tmp_path)
    pipeline.require_empty(tmp_path / "new")


@pytest.mark.parametrize("kind", ["a folder with a file", "a file", "a link to nowhere"])
def test_what_exists_is_never_written_over(tmp_path, kind):
    out = tmp_path / "out"
    if kind == "a file":
        out.write_text("mine")
    elif kind == "a link to nowhere":
        out.symlink_to(tmp_path / "gone")
    else:
        out.mkdir()
        (out / "mine.txt").write_text("mine")
    with pytest.raises(MigrateError, match="not an empty folder") as caught:
        pipeline.require_empty(out)
    assert caught.value.code == ExitCode.UNABLE


@pytest.mark.parametrize(("mode", "out"), [("out", None), ("check", Path("x"))], ids=["no folder", "a folder too many"])
def test_a_rewrite_has_a_folder_exactly_where_it_writes_into_one(tmp_path, mode, out):
    with pytest.raises(MigrateError, match="--out"):
        pipeline.rewrite(tmp_path, mode=mode, out=out)
