"""Batches, evaluation and prediction, history, early stopping and the plateau schedule against Keras."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import itertools
import random
from types import SimpleNamespace

import keras
import numpy as np
import pytest
import torch
from torch import nn

from migrator.support.absolute_error import absolute_error
from migrator.support.early_stopper import EarlyStopper
from migrator.support.evaluate_in_batches import evaluate_in_batches
from migrator.support.mini_batches import mini_batches
from migrator.support.predict_in_batches import predict_in_batches
from migrator.support.running_means import RunningMeans
from migrator.support.seed_all import seed_all
from migrator.support.split_validation import split_validation
from migrator.support.squared_error import squared_error
from migrator.support.training_history import TrainingHistory

RNG = np.random.default_rng(11)
X = RNG.normal(size=(10, 3))
Y = RNG.normal(size=10)


def test_batches_keep_the_smaller_last_one():
    assert [len(targets) for _, targets in mini_batches(X, Y, batch_size=4)] == [4, 4, 2]


def test_batches_of_inputs_and_targets_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="differ in length"):
        next(mini_batches(X, Y[:-1]))


def test_batches_come_in_order_unless_shuffled():
    together = torch.cat([inputs for inputs, _ in mini_batches(X, Y, batch_size=4)])
    np.testing.assert_array_equal(together.numpy(), X.astype("float32"))


def test_shuffled_batches_hold_every_sample_once_and_keep_pairs_together():
    torch.manual_seed(0)
    first, second = (list(mini_batches(X, X[:, 0], batch_size=4, shuffle=True)) for _ in range(2))
    targets = torch.cat([targets for _, targets in first])
    assert sorted(targets.tolist()) == sorted(X[:, 0].astype("float32").tolist())
    assert targets.tolist() != torch.cat([targets for _, targets in second]).tolist()
    assert all(torch.equal(inputs[:, 0], targets) for inputs, targets in first)


def test_batches_leave_labels_and_turn_inputs_to_single_precision():
    for x in (X, np.arange(10), np.arange(10, dtype="uint8")):
        inputs, targets = next(mini_batches(x, np.arange(10)))
        assert (inputs.dtype, targets.dtype) == (torch.float32, torch.int64)


def test_batches_keep_integer_inputs_where_the_model_wants_them():
    inputs, targets = next(mini_batches(np.arange(10), Y, integer_inputs=True))
    assert (inputs.dtype, targets.dtype) == (torch.int64, torch.float32)
    words = nn.Embedding(10, 2)
    assert predict_in_batches(words, np.arange(10), integer_inputs=True).shape == (10, 2)


def test_batches_and_predictions_take_what_numpy_takes():
    columns = [[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]

    class Table:  # as a data frame: an array when asked, indexed by column otherwise
        def __array__(self, dtype=None, copy=None):
            return np.array(columns, dtype)

    inputs, _ = next(mini_batches(Table(), Y[:3]))
    np.testing.assert_array_equal(inputs.numpy(), columns)
    np.testing.assert_array_equal(predict_in_batches(nn.Identity(), Table()), columns)


def test_batches_of_several_inputs_are_tuples():
    inputs, _ = next(mini_batches([X, X[:, :1]], Y, batch_size=4))
    assert [tuple(one.shape) for one in inputs] == [(4, 3), (4, 1)]


@pytest.mark.parametrize(("samples", "fraction"), [(10, 0.25), (10, 0.2), (7, 0.3), (100, 0.1), (9, 1 / 3), (57, 0.29)])
def test_the_validation_split_is_where_keras_puts_it(samples, fraction):
    from keras.src.trainers.data_adapters.array_slicing import train_validation_split

    (theirs, _), (their_rest, _) = train_validation_split((np.arange(samples), np.arange(samples)), fraction)
    (ours, _), (rest, _) = split_validation(np.arange(samples), np.arange(samples), fraction)
    np.testing.assert_array_equal(ours, np.array(theirs))
    np.testing.assert_array_equal(rest, np.array(their_rest))


def test_the_validation_split_reaches_every_input():
    (training, _), (validation, _) = split_validation([X, X[:, :1]], Y, 0.3)
    assert [part.shape for part in training + validation] == [(7, 3), (7, 1), (3, 3), (3, 1)]


@pytest.fixture
def twins():
    theirs = keras.Sequential([keras.Input((3,)), keras.layers.Dense(1), keras.layers.Dropout(0.5)])
    ours = nn.Sequential(nn.Linear(3, 1), nn.Dropout(0.5))
    with torch.no_grad():
        ours[0].weight.copy_(torch.tensor(theirs.get_weights()[0].T))
        ours[0].bias.zero_()
    return theirs, ours


def test_evaluate_gives_the_means_of_keras_over_uneven_batches(twins):
    theirs, ours = twins
    theirs.compile(loss="mse", metrics=["mae"])
    expected = theirs.evaluate(X, Y, batch_size=4, verbose=0, return_dict=True)
    got = evaluate_in_batches(ours, mini_batches(X, Y, batch_size=4), squared_error, {"mae": absolute_error})
    assert list(got) == ["loss", "mae"]
    assert got == pytest.approx({"loss": expected["loss"], "mae": expected["mae"]}, rel=1e-5)


def test_evaluate_adds_the_penalty_once(twins):
    _, ours = twins
    plain = evaluate_in_batches(ours, mini_batches(X, Y, batch_size=4), squared_error, {})
    more = evaluate_in_batches(
        ours, mini_batches(X, Y, batch_size=4), squared_error, {}, penalty=lambda: torch.tensor(2.5)
    )
    assert more["loss"] == pytest.approx(plain["loss"] + 2.5)


def test_predict_gives_the_array_of_keras_with_dropout_off(twins):
    theirs, ours = twins
    got = predict_in_batches(ours.train(), X, batch_size=4)
    assert isinstance(got, np.ndarray)
    np.testing.assert_allclose(got, theirs.predict(X, batch_size=4, verbose=0), rtol=1e-5, atol=1e-6)


def test_predict_of_several_outputs_is_a_list():
    class Two(nn.Module):
        def forward(self, a, b):
            return a + b, a * b

    total, product = predict_in_batches(Two(), [X, X * 2], batch_size=4)
    np.testing.assert_allclose(total, X * 3, rtol=1e-6)
    np.testing.assert_allclose(product, X * X * 2, rtol=1e-6)


def test_running_means_weigh_batches_by_their_samples_and_need_no_gradient():
    means = RunningMeans({"mae": absolute_error})
    outputs = torch.tensor([1.0, 2.0, 3.0, 4.0], requires_grad=True)
    means.update(outputs.mean() * 0 + 1, outputs, torch.zeros(4))
    means.update(torch.tensor(6.0), torch.tensor([5.0]), torch.zeros(1))
    assert means.compute() == {"loss": 2.0, "mae": 3.0}
    assert not any(total.requires_grad for total in means.totals.values())


def test_one_seed_repeats_what_all_generators_draw():
    draws = []
    for _ in range(2):
        seed_all(3)
        draws.append((random.random(), float(np.random.rand()), float(torch.rand(()))))
    assert draws[0] == draws[1]


def test_history_keeps_a_list_for_every_name():
    history = TrainingHistory()
    history.append(0, {"loss": 2.0})
    history.append(1, {"loss": 1.0})
    assert (history.epoch, history.history) == ([0, 1], {"loss": [2.0, 1.0]})


# ------------------------------------------------------------------ callbacks over random series

SERIES = [np.random.default_rng(seed).normal(size=30).cumsum() * 0.05 + 1 for seed in range(12)]


class KerasStandIn:
    """What a Keras callback needs of a model: a name for the epoch as its weights, a learning rate."""

    metrics = ()

    def __init__(self):
        self.stop_training = False
        self.weights = None
        self.optimizer = SimpleNamespace(learning_rate=1.0)

    def get_weights(self):
        return self.weights

    def set_weights(self, weights):
        self.weights = weights


def keras_early_stopping(series, **arguments):
    model, callback = KerasStandIn(), keras.callbacks.EarlyStopping(**arguments)
    callback.set_model(model)
    callback.on_train_begin()
    for epoch, value in enumerate(series):
        model.weights = epoch
        callback.on_epoch_end(epoch, {"val_loss": value})
        if model.stop_training:
            break
    callback.on_train_end()
    return epoch, model.weights


def torch_early_stopping(series, **arguments):
    model, callback = nn.Linear(1, 1), EarlyStopper(**arguments)
    for epoch, value in enumerate(series):
        nn.init.constant_(model.weight, epoch)
        if callback.step(epoch, {"val_loss": value}, model):
            break
    callback.restore(model)
    return epoch, int(model.weight)


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(dict(zip(("patience", "mode", "min_delta", "restore_best_weights"), values, strict=True), **more))
        for values in itertools.product((0, 1, 3), ("min", "max"), (0.0, 0.05), (False, True))
        for more in ({}, {"baseline": 0.9}, {"start_from_epoch": 4})
    ],
    ids=str,
)
def test_early_stopping_ends_and_restores_where_keras_does(arguments):
    for series in SERIES:
        assert torch_early_stopping(series, **arguments) == keras_early_stopping(series, **arguments)


def keras_plateau(series, **arguments):
    model, callback = KerasStandIn(), keras.callbacks.ReduceLROnPlateau(**arguments)
    callback.set_model(model)
    callback.on_train_begin()
    rates = []
    for epoch, value in enumerate(series):
        callback.on_epoch_end(epoch, {"val_loss": value})
        rates.append(model.optimizer.learning_rate)
    return rates


def torch_plateau(series, mode="min", factor=0.1, patience=10, min_delta=1e-4, cooldown=0, min_lr=0.0):
    optimizer = torch.optim.SGD(nn.Linear(1, 1).parameters(), lr=1.0)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(
        optimizer,
        mode=mode,
        factor=factor,
        patience=max(patience - 1, 0),
        threshold=min_delta,
        threshold_mode="abs",
        cooldown=max(cooldown - 1, 0),
        min_lr=min_lr,
        eps=0,
    )
    rates = []
    for value in series:
        scheduler.step(value)
        rates.append(optimizer.param_groups[0]["lr"])
    return rates


@pytest.mark.parametrize(
    "arguments",
    [
        pytest.param(
            dict(zip(("patience", "cooldown", "mode", "min_delta", "min_lr"), values, strict=True), factor=0.5)
        )
        for values in itertools.product((0, 1, 2, 4), (0, 1, 3), ("min", "max"), (1e-4, 0.05), (0.0, 0.2))
    ],
    ids=str,
)
def test_the_plateau_schedule_of_torch_lowers_the_rate_where_keras_does(arguments):
    for series in SERIES:
        assert torch_plateau(series, **arguments) == pytest.approx(keras_plateau(series, **arguments))
