"""Training both versions for real, on data that can be learnt."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from migrator import parity
from migrator.errors import ExitCode, MigrateError
from migrator.facts import Named, Pair, Training
from migrator.worker import schedule, scores

from .conftest import HERE, silent

DATA = """
import numpy as np


def load():
    generator = np.random.default_rng(0)
    x = generator.standard_normal((260, 5)).astype("float32")
    y = (x @ generator.standard_normal((5, 5))).argmax(axis=1)
    return (x[:200], y[:200]), (x[200:], y[200:])


def broken():
    return np.zeros(3)
"""
PAIR = Pair(
    "dense",
    "source.py:build",
    "twin.py:build",
    ("float32[batch,5]",),
    loss=Named("SparseCategoricalCrossentropy", {"from_logits": True}),
    optimizer=Named("Adam", {"learning_rate": 0.02}),
    training=Training("data.py:load", 8, "accuracy", 20),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "dense"
    shutil.copytree(HERE / "dense", place)
    (place / "data.py").write_text(DATA)
    return place


@pytest.mark.proof
def test_both_versions_learn_alike_from_the_same_start(folder: Path) -> None:
    result = parity.train_for_real(PAIR, folder, [1, 2], parity.Options(), silent)
    assert [(run.side, run.seed) for run in result.runs] == [
        ("tensorflow", 1),
        ("tensorflow", 2),
        ("torch", 1),
        ("torch", 2),
    ]
    for theirs, ours in zip(result.runs[:2], result.runs[2:], strict=True):
        assert theirs.test > 0.6, "nothing was learnt"
        assert theirs.curves["loss"][-1] < 0.5 * theirs.curves["loss"][0]
        assert len(ours.curves["test_accuracy"]) == 8
        # no dropout: the same start, batches and rules give the same curve but for rounding
        assert np.allclose(theirs.curves["loss"], ours.curves["loss"], rtol=1e-3)
    assert result.runs[0].curves["loss"] != result.runs[1].curves["loss"]
    low, high = parity.spread(result)
    assert low <= high


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (replace(PAIR, training=None), r"no \[pair.training\] table"),
        (replace(PAIR, training=Training("data.py:load", 1, "perplexity")), "metric 'perplexity'"),
        (replace(PAIR, training=Training("no.py:load", 1, "accuracy")), "There is no file .*no.py"),
        (replace(PAIR, loss=None), r"no \[pair.loss\] table"),
    ],
)
def test_a_pair_that_says_too_little_cannot_be_trained(folder: Path, pair: Pair, said: str) -> None:
    with pytest.raises(MigrateError, match=said):
        parity.train_for_real(pair, folder, [1], parity.Options(), silent)


def test_data_of_another_form_is_told_with_the_form_that_is_wanted(folder: Path) -> None:
    pair = replace(PAIR, training=Training("data.py:broken", 1, "accuracy"))
    with pytest.raises(MigrateError, match=r"should return \(x_train, y_train\), \(x_test, y_test\)") as caught:
        parity.train_for_real(pair, folder, [1], parity.Options(), silent)
    assert caught.value.code is ExitCode.WORK


def test_every_sample_is_seen_once_an_epoch_in_an_order_of_its_own(tmp_path: Path) -> None:
    from migrator.worker import files

    x, y = np.arange(10.0).reshape(10, 1).astype(np.float32), np.arange(10)
    arrays = {"train/x/0": x, "train/y": y, "test/x/0": x, "test/y": y}
    files.write_arrays(tmp_path / "a.safetensors", arrays)
    data = schedule.Data(str(tmp_path / "a.safetensors"))
    orders = [np.concatenate([target for _, target in data.batches(1, epoch, 4)]).tolist() for epoch in (0, 0, 1)]
    assert sorted(orders[0]) == list(range(10))
    assert orders[0] == orders[1] != orders[2]
    assert all(np.array_equal(inputs[0].ravel(), target) for inputs, target in data.batches(1, 0, 4))


def test_scores_read_classes_shares_and_single_outputs() -> None:
    three = np.array([[0.1, 0.9, 0.0], [0.8, 0.1, 0.1]])
    assert scores.accuracy(three, np.array([1, 2])) == 0.5
    assert scores.accuracy(three, np.array([[1], [0]])) == 1.0
    assert scores.accuracy(three, np.eye(3)[[1, 2]]) == 0.5
    assert scores.accuracy(np.array([[0.7], [0.2]]), np.array([1, 1])) == 0.5
    assert scores.mean_squared_error(np.array([[1.0], [3.0]]), np.array([1.0, 1.0])) == 2.0
