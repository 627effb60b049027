"""Verdicts on numbers, without any framework."""

from __future__ import annotations

import numpy as np
import pytest

from migrator.parity import edges, initial, judge
from migrator.worker import compare

RNG = np.random.default_rng(1)
ONE = {"output": np.array([1.0, -2.0, 4.0])}


def nudge(by: float) -> dict[str, np.ndarray]:
    return {"output": ONE["output"] + np.array([0.0, by, 0.0])}


def test_an_error_is_relative_to_the_largest_reference() -> None:
    assert judge.tally(ONE, nudge(0.4)).error == pytest.approx(0.1)


@pytest.mark.parametrize(("by", "verdict"), [(0.0, "pass"), (3e-9, "pass"), (5e-9, "fail"), (1.0, "fail")])
def test_float64_passes_up_to_1e_9(by: float, verdict: str) -> None:
    assert judge.exact("forward", judge.tally(ONE, nudge(by)), []).verdict == verdict


def test_up_to_1e_6_passes_only_where_a_constant_is_named() -> None:
    found = judge.tally(ONE, nudge(2e-7))
    assert judge.exact("forward", found, []).verdict == "fail"
    named = judge.exact("forward", found, ["act (GELU: its constant)"])
    assert named.verdict == "pass"
    assert "GELU" in named.reason
    assert judge.exact("forward", judge.tally(ONE, nudge(2e-5)), ["act (GELU: its constant)"]).verdict == "fail"


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_what_is_not_finite_never_passes_even_on_both_sides(value: float) -> None:
    bad = {"output": np.array([1.0, value])}
    assert judge.exact("forward", judge.tally(bad, bad), ["act"]).verdict == "fail"
    assert judge.floating("forward", bad, bad, bad).verdict == "fail"


@pytest.mark.parametrize(
    ("theirs", "ours", "said"),
    [
        ({"a": np.zeros(2)}, {"a": np.zeros((2, 1))}, "a: shape"),
        ({"a": np.zeros(2)}, {}, "a is there only on the TensorFlow side"),
        ({}, {"b": np.zeros(2)}, "b is there only on the PyTorch side"),
    ],
)
def test_shapes_and_lengths_that_differ_fail(theirs: judge.Arrays, ours: judge.Arrays, said: str) -> None:
    check = judge.exact("forward", judge.tally(theirs, ours), [])
    assert check.verdict == "fail"
    assert said in check.reason


def test_another_dtype_fails_where_dtypes_count() -> None:
    found = judge.tally({"a": np.zeros(2, np.int32)}, {"a": np.zeros(2, np.int64)}, kinds=True)
    assert found.mismatches == ["a: dtype int64 against int32"]


@pytest.mark.parametrize(("factor", "verdict"), [(7.0, "pass"), (9.0, "fail")])
def test_float32_passes_within_eight_noise_floors(factor: float, verdict: str) -> None:
    theirs = nudge(4e-5)
    check = judge.floating("forward", ONE, theirs, nudge(4e-5 * factor))
    assert check.verdict == verdict
    assert check.floor == pytest.approx(1e-5)


@pytest.mark.parametrize("size", [10, 1000, 100_000])
def test_the_error_from_a_sketch_bounds_the_true_one_and_is_zero_for_equal_arrays(size: int) -> None:
    whole = RNG.standard_normal(size)
    other = whole.copy()
    other[size // 2] += 1e-3
    sketch = compare.sketch(whole)
    assert compare.difference(sketch, whole) <= 1e-12
    assert 0.6 * 1e-3 <= compare.difference(sketch, other) <= 2e-3


def test_a_sketch_sees_a_permutation_that_keeps_norm_and_largest_value() -> None:
    whole = RNG.standard_normal((20, 30))
    assert compare.error(compare.sketch(whole), np.ascontiguousarray(whole[:, ::-1])) > 0.1


def test_a_sketch_survives_being_packed() -> None:
    made = compare.sketch(RNG.standard_normal((7, 80)).astype(np.float32))
    again = compare.Sketch.unpacked(made.facts(), made.packed())
    assert compare.difference(made, again) == 0.0
    assert (again.shape, again.dtype) == ((7, 80), np.float32)


def sides(**changed: float) -> dict[str, dict[str, np.ndarray]]:
    found = {}
    for name in ("tensorflow", "torch", "tensorflow-onnx", "torch-onnx", "floor"):
        found[name] = nudge(changed.get(name.replace("-", "_"), 0.0))
    return found


def test_an_exporters_fault_is_told_from_a_rewrites() -> None:
    assert edges.judge_sides(ONE, sides()).verdict == "pass"
    exporter = edges.judge_sides(ONE, sides(torch_onnx=0.1))
    assert exporter.verdict == "fail"
    assert "torch - torch-onnx" in exporter.reason
    assert "the rewrite" not in exporter.reason
    rewrite = edges.judge_sides(ONE, sides(torch=0.1, torch_onnx=0.1))
    assert "tensorflow - torch is off" in rewrite.reason
    assert "the export by" not in rewrite.reason


def quantiles(values: np.ndarray) -> np.ndarray:
    return np.quantile(values, np.linspace(0, 1, 257))


def glorot(count: int) -> np.ndarray:
    return RNG.uniform(-0.3, 0.3, count)


def test_draws_from_one_distribution_do_not_differ_in_a_thousand_trials() -> None:
    for _ in range(1000):
        verdict = initial.compare_drawn(quantiles(glorot(2000)), 2000, glorot(900))
        assert verdict.chance >= initial.CHANCE


@pytest.mark.parametrize(
    "other",
    [
        lambda: RNG.uniform(-0.17, 0.17, 2000),
        lambda: RNG.normal(0, 0.3 / np.sqrt(3), 2000),
        lambda: np.zeros(2000),
        lambda: glorot(2000) + 0.05,
    ],
    ids=["narrower", "normal with the same spread", "all zero", "shifted"],
)
def test_another_initial_distribution_is_called_one(other: object) -> None:
    verdict = initial.compare_drawn(quantiles(glorot(20_000)), 20_000, other())  # type: ignore[operator]
    assert verdict.chance < initial.CHANCE


def test_a_tail_that_is_not_cut_off_is_seen() -> None:
    spread = RNG.standard_normal(60_000)
    cut = spread[np.abs(spread) < 2][:20_000]
    cut = cut / cut.std()
    verdict = initial.compare_drawn(quantiles(cut), 20_000, RNG.standard_normal(20_000))
    assert verdict.chance < initial.CHANCE


def test_a_fixed_start_must_be_that_very_array() -> None:
    assert initial.compare_fixed(np.zeros(3), np.zeros(3)).chance == 1.0
    verdict = initial.compare_fixed(np.zeros(3), np.array([0.0, 0.1, 0.0]))
    assert verdict.chance == 0.0
    assert "starts all 0 in Keras" in verdict.what


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_no_edge_passes_over_what_is_not_finite(value: float) -> None:
    bad = {"output": np.array([1.0, value])}
    assert edges.judge_sides(bad, dict.fromkeys(sides(), bad)).verdict == "fail"
