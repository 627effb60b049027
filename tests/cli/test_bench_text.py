"""The text of a benchmark: every variant with its figures, and why the others have none."""

from __future__ import annotations

import pytest

from migrator.cli.bench import text
from migrator.facts import BenchResult, BenchRow


def row(side: str, mode: str, median: float) -> BenchRow:
    step = {"median": median, "low": median - 1, "high": median + 1}
    return BenchRow(side, mode, "float32", step, 32e3 / median, 3 * 2**20, "rss", 0.0)  # type: ignore[arg-type]


def test_each_variant_has_a_line_and_each_missing_one_its_reason() -> None:
    result = BenchResult(
        name="net",
        rows=(row("tensorflow", "graph", 8.0), row("torch", "eager", 4.0)),
        deltas={"against": "tensorflow graph", "speed": {"eager": {"median": 2.0, "low": 1.9, "high": 2.1}}},
        missing={"torch compiled": "there is no C++ compiler"},
    )
    first, graph, eager, missing, speed = text(result)
    assert first.startswith("net: ")
    assert " ".join(graph.split()) == "tensorflow graph 8.00 ms (7.00 to 9.00) 4000 samples/s 3 MiB rss"
    assert eager.split()[:4] == ["torch", "eager", "4.00", "ms"]
    assert missing.split(maxsplit=2) == ["torch", "compiled", "not measured: there is no C++ compiler"]
    assert speed.strip() == "PyTorch eager: 2.00 times the speed of tensorflow graph"


def test_a_pair_that_was_not_measured_says_why_and_nothing_else() -> None:
    assert list(text(BenchResult("net", (), {}, "parity says fail"))) == ["net: parity says fail"]


@pytest.mark.parametrize(("others", "warned"), [(None, False), (0.05, False), (0.54, True)])
def test_a_busy_machine_is_told_beside_the_figures(others: float | None, warned: bool) -> None:
    result = BenchResult("net", (), {}, machine={"others": others})
    assert any("54% of the machine" in line for line in text(result)) is warned
