"""Intervals and deltas on injected timings: what they must say is known, so they can be wrong."""

import pytest

from migrator.bench.deltas import Measured, break_even, deltas, over_budget, row
from migrator.bench.statistics import Interval, difference, median, ratio


def measured(side, mode, rounds, *, warmup=(0.1,), memory=100, kind="rss", batch=32):
    return Measured(side, mode, batch, rounds, tuple(warmup), memory, kind)


def wobbling(base, count=15):
    """Rounds of three steps around `base` seconds that wobble by up to 6%, differently in each round."""
    return [[base * (1 + 0.01 * ((turn * 7 + step) % 11 - 5)) for step in range(3)] for turn in range(count)]


def test_the_median_of_equal_rounds_has_an_interval_without_width():
    assert median([[0.5, 0.5], [0.5, 0.5], [0.5]]) == Interval(0.5, 0.5, 0.5)


def test_an_interval_encloses_its_median():
    interval = median(wobbling(0.02))
    assert interval.low <= interval.median <= interval.high
    assert interval.low < interval.high


def test_one_slow_step_inside_a_round_does_not_move_the_median():
    calm = [[0.01] * 5 for _ in range(9)]
    hit = [[0.01, 0.01, 5.0, 0.01, 0.01] for _ in range(9)]
    assert median(hit) == median(calm)


def test_a_machine_that_gets_slower_widens_the_median_and_not_the_ratio():
    drifting = [[0.01 * (1 + 0.1 * turn)] for turn in range(15)]
    twice = [[2 * step for step in steps] for steps in drifting]
    assert ratio(twice, drifting).low == pytest.approx(2.0)
    assert ratio(twice, drifting).high == pytest.approx(2.0)
    assert median(drifting).high > 1.2 * median(drifting).low


def test_the_same_seed_gives_the_same_interval_and_another_seed_another():
    rounds = [[0.01 * (1 + 0.37 * ((turn * 11) % 7))] for turn in range(14)]
    twin = [[0.02 * (1 + 0.29 * ((turn * 5) % 9))] for turn in range(14)]
    assert ratio(rounds, twin, seed=1) == ratio(rounds, twin, seed=1)
    assert {ratio(rounds, twin, seed=seed) for seed in range(6)} != {ratio(rounds, twin, seed=1)}


def test_a_difference_of_nothing_but_noise_does_not_exclude_zero():
    left = [[0.010], [0.012], [0.011], [0.013], [0.010]]
    right = [[0.012], [0.010], [0.013], [0.011], [0.010]]
    assert not difference(left, right).excludes(0.0)


def test_a_clear_difference_excludes_zero():
    assert difference(wobbling(0.02), wobbling(0.01)).excludes(0.0)


@pytest.mark.parametrize("rounds", [[], [[0.1], []]], ids=["no rounds", "a round without steps"])
def test_nothing_timed_is_an_error_and_no_figure(rounds):
    with pytest.raises(ValueError, match="timed step"):
        median(rounds)


def test_variants_with_different_numbers_of_rounds_are_not_compared():
    with pytest.raises(ValueError, match="same number of rounds"):
        ratio([[0.1]], [[0.1], [0.1]])


def test_a_row_states_milliseconds_samples_and_what_came_before_steady_steps():
    found = row(measured("torch", "compiled", [[0.02]] * 4, warmup=(3.02, 0.02), batch=64))
    assert found.step_ms == pytest.approx({"median": 20.0, "low": 20.0, "high": 20.0})
    assert found.samples_per_second == pytest.approx(3200.0)
    assert found.compile_seconds == pytest.approx(3.0)
    assert found.warmup_seconds == 0.0


def test_eager_steps_compile_nothing_but_warm_up():
    found = row(measured("torch", "eager", [[0.02]] * 4, warmup=(0.32, 0.02)))
    assert found.compile_seconds == 0.0
    assert found.warmup_seconds == pytest.approx(0.3)


def test_the_note_says_which_memory_it_is():
    assert "resident" in row(measured("torch", "eager", [[0.1]])).note
    assert "CUDA allocator" in row(measured("torch", "eager", [[0.1]], kind="vram")).note


def three(eager=0.02, compiled=0.01, compile_seconds=10.0):
    variants = [
        measured("tensorflow", "graph", wobbling(0.03), memory=400),
        measured("torch", "eager", wobbling(eager), memory=100, warmup=(eager,)),
        measured("torch", "compiled", wobbling(compiled), memory=200, warmup=(compile_seconds + compiled,)),
    ]
    return {variant.name: variant for variant in variants}


def test_speed_is_against_tensorflow_and_above_one_where_pytorch_is_faster():
    found = deltas(three())
    assert found["against"] == "tensorflow graph"
    assert found["speed"]["eager"]["median"] == pytest.approx(1.5, rel=0.02)
    assert found["speed"]["compiled"]["median"] == pytest.approx(3.0, rel=0.02)
    assert found["speed"]["eager"]["low"] <= found["speed"]["eager"]["median"] <= found["speed"]["eager"]["high"]


def test_memory_is_against_tensorflow_and_below_one_where_pytorch_needs_less():
    assert deltas(three())["memory"] == {"eager": 0.25, "compiled": 0.5}


def test_memory_of_two_kinds_is_not_compared():
    variants = three()
    variants["torch eager"] = measured("torch", "eager", wobbling(0.02), kind="vram")
    assert deltas(variants)["memory"]["eager"] is None


def test_without_tensorflow_there_are_no_deltas():
    variants = three()
    del variants["tensorflow graph"]
    assert deltas(variants) == {}


def test_compiling_pays_after_its_cost_divided_by_the_gain_of_a_step():
    found = deltas(three(compile_seconds=10.0))["break_even"]
    assert found["reason"] == ""
    assert found["steps"]["median"] == pytest.approx(1000, rel=0.02)
    assert found["steps"]["low"] <= found["steps"]["median"] <= found["steps"]["high"]


@pytest.mark.parametrize(
    ("compiled", "words"),
    [(0.04, "is slower"), (0.02, "not measurably faster")],
    ids=["compiled is slower", "compiled is as fast"],
)
def test_compiling_that_gains_nothing_never_pays(compiled, words):
    found = deltas(three(compiled=compiled))["break_even"]
    assert found["steps"] is None
    assert words in found["reason"]


def test_break_even_needs_both_modes():
    assert break_even(None, None)["steps"] is None


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ({"speed": 2.5, "memory": 1.0}, []),
        ({"speed": 3.5}, ["3.5 is asked"]),
        ({"memory": 0.4}, ["0.4 is allowed"]),
    ],
    ids=["kept", "too slow", "too big"],
)
def test_a_budget_is_judged_on_compiled_pytorch(budget, words):
    found = over_budget(budget, deltas(three()))
    assert len(found) == len(words)
    assert all(word in sentence for word, sentence in zip(words, found, strict=True))


def test_noise_alone_breaks_no_speed_budget():
    found = {"speed": {"compiled": {"low": 0.9, "median": 0.98, "high": 1.05}}}
    assert over_budget({"speed": 1.0}, found) == []


def test_a_budget_that_cannot_be_checked_is_not_kept():
    assert "cannot be checked" in over_budget({"speed": 1.0}, {})[0]
