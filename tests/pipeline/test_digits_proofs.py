"""The rewritten digits project, by the product's own code: real training against chance, and planted faults."""

import shutil
import statistics
from dataclasses import replace
from pathlib import Path

import pytest

from migrator import parity, pipeline

pytestmark = pytest.mark.proof
DIGITS = Path(__file__).resolve().parents[2] / "fixtures" / "projects" / "digits"


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """The rewritten project beside its original, recorded."""
    base = tmp_path_factory.mktemp("digits")
    shutil.copytree(DIGITS, base / "legacy", ignore=shutil.ignore_patterns("__pycache__"))
    pipeline.rewrite(base / "legacy", mode="out", out=base / "torch")
    pipeline.record(pipeline.from_config(base / "torch"), parity.Options())
    return base


def test_both_versions_learn_the_digits_and_differ_by_no_more_than_seeds_do(project):
    selection = pipeline.from_config(project / "torch")
    [pair] = selection.pairs
    options = parity.Options()
    result = parity.train_for_real(pair, selection.folder, [0, 1, 2], options, pipeline.quiet)
    low, high = parity.tensorflow_spread(pair, selection.folder, [0, 1, 2, 3, 4], options, pipeline.quiet)
    medians = {
        side: statistics.median(run.test for run in result.runs if run.side == side) for side in ("tensorflow", "torch")
    }
    assert all(value >= 0.965 for value in medians.values()), medians
    assert abs(medians["tensorflow"] - medians["torch"]) <= high - low, (medians, low, high)


def planted(project, folder, old, new):
    """A copy of the project in which a fault replaces a piece of the model's text; its parity."""
    shutil.copytree(project, folder)
    file = folder / "torch" / "models.py"
    text = file.read_text(encoding="utf-8")
    assert old in text, f"{old!r} is not in the rewritten model:\n{text}"
    file.write_text(text.replace(old, new, 1), encoding="utf-8")
    selection = pipeline.from_config(folder / "torch")
    pairs = tuple(replace(pair, training=None) for pair in selection.pairs)
    checks = parity.Options(checks=("build", "weights", "forward"))
    return pipeline.parity(replace(selection, pairs=pairs), checks).value[0], text[: text.index(old)].count("\n") + 1


def test_without_a_fault_the_same_checks_pass(project, tmp_path):
    result, _ = planted(project, tmp_path / "sound", "Convolution and batch norm", "Convolution, then batch norm")
    assert result.verdict == "pass", result.reason


FAULTS = {
    "the default epsilon of PyTorch": ("eps=0.001", "eps=1e-5", "bn", "epsilon"),
    "padding on both sides before a stride": (
        "Conv2dSame(in_channels, filters, kernel_size, stride=strides, bias=False)",
        "nn.Conv2d(in_channels, filters, kernel_size, stride=strides, padding=kernel_size // 2, bias=False)",
        "conv",
        "padding",
    ),
}


@pytest.mark.parametrize(("old", "new", "module", "cause"), FAULTS.values(), ids=FAULTS)
def test_a_planted_fault_fails_and_the_page_would_name_its_line(project, tmp_path, old, new, module, cause):
    result, line = planted(project, tmp_path / "faulty", old, new)
    place = dict(result.first_divergence or {})
    assert (result.verdict, place["check"]) == ("fail", "forward")
    assert (place["file"], place["line"]) == ("models.py", line)
    assert place["torch"].rpartition(".")[2] == module
    assert cause in place["cause"]
