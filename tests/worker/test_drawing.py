"""The seeded generator of inputs and weights."""

import math

import numpy as np
import pytest

from migrator.worker import drawing, loading


def test_normal_numbers_have_the_moments_of_a_standard_normal() -> None:
    drawn = drawing.normal(1, "x", (50_000,)).astype(np.float64)
    assert abs(drawn.mean()) < 5 / math.sqrt(50_000)
    assert abs(drawn.std() - 1) < 5 / math.sqrt(100_000)
    assert abs((drawn**4).mean() - 3) < 0.25


def test_the_stream_is_pinned_so_that_records_made_elsewhere_stay_valid() -> None:
    assert [hex(word) for word in drawing.words(1, "x", 2)] == ["0x379257e0d714162", "0x9d7c0587a48b8a7c"]


def test_a_longer_array_of_one_stream_starts_with_the_shorter_one() -> None:
    assert np.array_equal(drawing.uniform(1, "x", (5,)), drawing.uniform(1, "x", (9,))[:5])


def test_other_names_and_seeds_give_other_arrays() -> None:
    assert not np.array_equal(drawing.uniform(1, "x", (5,)), drawing.uniform(1, "y", (5,)))
    assert not np.array_equal(drawing.uniform(1, "x", (5,)), drawing.uniform(2, "x", (5,)))


def test_a_permutation_holds_every_index_once() -> None:
    assert sorted(drawing.permutation(1, "x", 100)) == list(range(100))


def test_specs_become_arrays_with_batch_filled_in() -> None:
    specs = [
        {"dtype": "float32", "dims": ["batch", 3], "distribution": "uniform", "low": 2, "high": 3},
        {"dtype": "int64", "dims": ["batch"], "distribution": "int", "low": 0, "high": 10},
        {"dtype": "bool", "dims": [1000], "distribution": "bernoulli", "p": 0.8},
    ]
    floats, ints, flags = loading.arrays(specs, {"batch": 400}, 1, "inputs")
    assert floats.shape == (400, 3)
    assert floats.dtype == np.float32
    assert floats.min() >= 2
    assert floats.max() < 3
    assert set(ints.tolist()) == set(range(10))
    assert ints.dtype == np.int64
    assert 0.75 < flags.mean() < 0.85
    assert flags.dtype == bool


def test_integers_without_a_distribution_are_refused_with_an_example() -> None:
    with pytest.raises(ValueError, match=r"int\(0,10\)"):
        loading.arrays([{"dtype": "int32", "dims": [4]}], {}, 1, "inputs")


def test_a_named_dimension_without_a_size_is_refused() -> None:
    with pytest.raises(ValueError, match="'time' has no size"):
        loading.arrays([{"dtype": "float32", "dims": ["time"]}], {"batch": 2}, 1, "inputs")
