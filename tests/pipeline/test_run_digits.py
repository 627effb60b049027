"""The whole promise on the bundled project: assessed, rewritten, proven, trained, measured, reported. Slow, real."""

import json
import statistics
from pathlib import Path

import pytest

from migrator import pipeline
from migrator.errors import ExitCode

pytestmark = pytest.mark.proof
DIGITS = Path(__file__).resolve().parents[2] / "fixtures" / "projects" / "digits"
CHECKS = ("build", "weights", "init", "forward", "onnx", "gradient", "train", "state")


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("digits") / "out"
    return pipeline.run(DIGITS, out, pipeline.RunOptions()), out


def result(whole, name):
    return json.loads((whole[1] / f"{name}.json").read_text())


def test_nothing_is_left_and_nothing_fails(whole):
    outcome, _ = whole
    assert outcome.code == ExitCode.CLEAN, "\n".join(outcome.value.lines)


def test_every_file_is_rewritten_in_full(whole):
    status = {file["path"]: file["status"] for file in result(whole, "rewrite")["files"]}
    assert status["models.py"] == status["train.py"] == "full"
    assert result(whole, "rewrite")["left"] == []


def test_every_check_passes_and_all_four_onnx_edges_are_there(whole):
    [pair] = result(whole, "parity")["pairs"]
    assert {check["id"]: check["verdict"] for check in pair["checks"]} == dict.fromkeys(CHECKS, "pass")
    [onnx] = [check for check in pair["checks"] if check["id"] == "onnx"]
    assert len(onnx["details"]["edges"]) == 4


def test_both_versions_learn_and_agree(whole):
    [pair] = result(whole, "training")["pairs"]
    tests = {side: [run["test"] for run in pair["runs"] if run["side"] == side] for side in ("tensorflow", "torch")}
    assert len(tests["tensorflow"]) == len(tests["torch"]) >= 3
    assert all(statistics.median(values) >= 0.965 for values in tests.values()), tests


def test_all_three_variants_are_measured(whole):
    [pair] = result(whole, "bench")["pairs"]
    assert pair["missing"] == {}
    assert {row["mode"] for row in pair["rows"]} == {"graph", "eager", "compiled"}
    assert set(pair["deltas"]["speed"]) == {"eager", "compiled"}


def test_the_page_has_every_section_filled(whole):
    page = whole[0].value.page.read_text(encoding="utf-8")
    assert "was not found" not in page
    assert page.count("<svg") >= 2
    assert 'class="none"' not in page.split('id="parity"')[1].split('id="setting"')[0].replace(
        '<p class="none">None: everything was judged as it is.</p>', ""
    )


def test_the_original_is_untouched(whole):
    assert sorted(path.name for path in DIGITS.iterdir() if path.name != "__pycache__") == [
        "models.py",
        "requirements.txt",
        "train.py",
    ]
    assert "tensorflow" in (DIGITS / "models.py").read_text()
