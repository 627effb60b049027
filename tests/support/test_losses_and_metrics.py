"""Losses and metrics against Keras's own, values and gradients, on the same arrays."""

import itertools
import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import pytest
import tensorflow as tf
import torch

from migrator.support.absolute_error import absolute_error
from migrator.support.batch_accuracy import batch_accuracy
from migrator.support.binary_cross_entropy import binary_cross_entropy
from migrator.support.categorical_cross_entropy import categorical_cross_entropy
from migrator.support.huber_error import huber_error
from migrator.support.one_hot_accuracy import one_hot_accuracy
from migrator.support.sparse_accuracy import sparse_accuracy
from migrator.support.sparse_cross_entropy import sparse_cross_entropy
from migrator.support.squared_error import squared_error
from migrator.support.threshold_accuracy import threshold_accuracy

RNG = np.random.default_rng(5)
LOGITS = RNG.normal(size=(6, 4)).astype("float32") * 3
LABELS = RNG.integers(0, 4, size=6)
ONE_HOT = np.eye(4, dtype="float32")[LABELS]
SINGLE = RNG.normal(size=(6, 1)).astype("float32") * 3
YES_NO = RNG.integers(0, 2, size=(6, 1))
SEQUENCE = RNG.normal(size=(6, 5, 4)).astype("float32")
SEQUENCE_LABELS = RNG.integers(0, 4, size=(6, 5))
ACTIVATION = {
    "softmax": (tf.nn.softmax, lambda z: torch.softmax(z, dim=-1)),
    "sigmoid": (tf.sigmoid, torch.sigmoid),
    "logits": (tf.identity, lambda z: z),
    # not the output of a softmax or sigmoid, and not summing to one
    "probabilities": (lambda z: tf.abs(tf.sin(z)), lambda z: z.sin().abs()),
}


def keras_loss_and_gradient(loss, logits, targets, outputs_are):
    """What Keras computes inside a graph, as in fit."""
    logits = tf.constant(logits)

    @tf.function
    def run(z):
        with tf.GradientTape() as tape:
            tape.watch(z)
            value = loss(targets, ACTIVATION[outputs_are][0](z))
        return value, tape.gradient(value, z)

    value, gradient = run(logits)
    return float(value), gradient.numpy()


def torch_loss_and_gradient(loss, logits, targets, outputs_are):
    z = torch.tensor(logits, requires_grad=True)
    value = loss(ACTIVATION[outputs_are][1](z), torch.tensor(targets))
    value.backward()
    return float(value.detach()), z.grad.numpy()


CASES = {
    "sparse labels": (keras.losses.SparseCategoricalCrossentropy, sparse_cross_entropy, LOGITS, LABELS, {}),
    "sparse labels in a column": (
        keras.losses.SparseCategoricalCrossentropy,
        sparse_cross_entropy,
        LOGITS,
        LABELS[:, None].astype("uint8"),
        {},
    ),
    "sparse labels of a sequence": (
        keras.losses.SparseCategoricalCrossentropy,
        sparse_cross_entropy,
        SEQUENCE,
        SEQUENCE_LABELS,
        {},
    ),
    "one hot": (keras.losses.CategoricalCrossentropy, categorical_cross_entropy, LOGITS, ONE_HOT, {}),
    "one hot, smoothed": (
        keras.losses.CategoricalCrossentropy,
        categorical_cross_entropy,
        LOGITS,
        ONE_HOT,
        {"label_smoothing": 0.2},
    ),
    "yes or no": (keras.losses.BinaryCrossentropy, binary_cross_entropy, SINGLE, YES_NO, {}),
    "yes or no in a flat array": (keras.losses.BinaryCrossentropy, binary_cross_entropy, SINGLE, YES_NO[:, 0], {}),
    "many labels, smoothed": (
        keras.losses.BinaryCrossentropy,
        binary_cross_entropy,
        LOGITS,
        ONE_HOT,
        {"label_smoothing": 0.1},
    ),
}


@pytest.mark.parametrize(
    ("case", "outputs_are"),
    [
        pytest.param(case, kind, id=f"{case} with {kind}")
        for case, kind in itertools.product(CASES, ACTIVATION)
        if kind != ("softmax" if CASES[case][0] is keras.losses.BinaryCrossentropy else "sigmoid")
    ],
)
def test_crossentropies_have_the_value_and_gradient_of_keras(case, outputs_are):
    keras_class, ours, logits, targets, arguments = CASES[case]
    theirs = keras_class(from_logits=outputs_are == "logits", **arguments)
    value, gradient = keras_loss_and_gradient(theirs, logits, targets, outputs_are)
    our_value, our_gradient = torch_loss_and_gradient(
        lambda outputs, labels: ours(outputs, labels, outputs_are=outputs_are, **arguments),
        logits,
        targets,
        outputs_are,
    )
    assert our_value == pytest.approx(value, rel=2e-6)
    np.testing.assert_allclose(our_gradient, gradient, rtol=2e-5, atol=1e-6)


def test_a_confident_wrong_softmax_costs_what_its_logits_say():
    logits = np.array([[60.0, 0.0]], dtype="float32")
    value, gradient = torch_loss_and_gradient(sparse_cross_entropy, logits, np.array([1]), "softmax")
    assert value == pytest.approx(60.0)
    np.testing.assert_allclose(gradient, [[1.0, -1.0]], rtol=1e-6)


def test_clipped_probabilities_cost_at_most_what_keras_says():
    certain = np.array([[1.0, 0.0]], dtype="float32")
    theirs = float(keras.losses.SparseCategoricalCrossentropy()(np.array([1]), certain))
    ours = sparse_cross_entropy(torch.tensor(certain), torch.tensor([1]), outputs_are="probabilities")
    assert float(ours) == pytest.approx(theirs, rel=1e-6)


@pytest.mark.parametrize("targets", [SINGLE * 2 + 1, (SINGLE * 2 + 1)[:, 0]], ids=["same shape", "flat targets"])
@pytest.mark.parametrize(
    ("keras_class", "ours"),
    [
        pytest.param(keras.losses.MeanSquaredError, squared_error, id="mean squared error"),
        pytest.param(keras.losses.MeanAbsoluteError, absolute_error, id="mean absolute error"),
        pytest.param(keras.losses.Huber, huber_error, id="huber"),
    ],
)
def test_distances_have_the_value_and_gradient_of_keras(keras_class, ours, targets):
    value, gradient = keras_loss_and_gradient(keras_class(), SINGLE, targets, "logits")
    our_value, our_gradient = torch_loss_and_gradient(ours, SINGLE, targets, "logits")
    assert our_value == pytest.approx(value, rel=2e-6)
    np.testing.assert_allclose(our_gradient, gradient, rtol=2e-5, atol=1e-7)


@pytest.mark.parametrize(
    "ours", [squared_error, absolute_error, huber_error, binary_cross_entropy], ids=lambda ours: ours.__name__
)
def test_targets_of_another_size_are_refused_instead_of_spread(ours):
    with pytest.raises(RuntimeError, match="invalid for input of size"):
        ours(torch.rand(4, 2), torch.rand(4))


@pytest.mark.parametrize(
    ("keras_class", "ours", "outputs", "targets"),
    [
        pytest.param(keras.metrics.SparseCategoricalAccuracy, sparse_accuracy, LOGITS, LABELS, id="sparse labels"),
        pytest.param(
            keras.metrics.SparseCategoricalAccuracy,
            sparse_accuracy,
            SEQUENCE,
            SEQUENCE_LABELS,
            id="labels of a sequence",
        ),
        pytest.param(keras.metrics.CategoricalAccuracy, one_hot_accuracy, LOGITS, ONE_HOT, id="one hot"),
        pytest.param(keras.metrics.BinaryAccuracy, threshold_accuracy, SINGLE, YES_NO, id="yes or no"),
        pytest.param(keras.metrics.BinaryAccuracy, threshold_accuracy, SINGLE, YES_NO[:, 0], id="yes or no, flat"),
        pytest.param(keras.metrics.BinaryAccuracy, threshold_accuracy, LOGITS, ONE_HOT, id="many labels"),
    ],
)
def test_accuracies_are_those_of_keras(keras_class, ours, outputs, targets):
    metric = keras_class()
    metric.update_state(targets, outputs)
    assert float(ours(torch.tensor(outputs), torch.tensor(targets))) == pytest.approx(float(metric.result()))


@pytest.mark.parametrize(
    ("outputs", "targets", "loss"),
    [
        pytest.param(LOGITS, LABELS, "sparse_categorical_crossentropy", id="labels beside many outputs"),
        pytest.param(LOGITS, LABELS[:, None], "sparse_categorical_crossentropy", id="labels in a column"),
        pytest.param(LOGITS, ONE_HOT, "mse", id="one hot"),
        pytest.param(LOGITS, (ONE_HOT + ONE_HOT[::-1]).clip(0, 1), "binary_crossentropy", id="many labels"),
        pytest.param(SINGLE, YES_NO, "mse", id="one output"),
        pytest.param(SINGLE, YES_NO[:, 0], "mse", id="one output, flat targets"),
        pytest.param(SEQUENCE, SEQUENCE_LABELS, "sparse_categorical_crossentropy", id="labels of a sequence"),
    ],
)
def test_the_string_accuracy_means_what_keras_picks_by_shape(outputs, targets, loss):
    identity = keras.Sequential([keras.Input(outputs.shape[1:]), keras.layers.Rescaling(1.0)])
    identity.compile(loss=loss, metrics=["accuracy"])
    theirs = identity.evaluate(outputs, targets, verbose=0, return_dict=True)["accuracy"]
    assert float(batch_accuracy(torch.tensor(outputs), torch.tensor(targets))) == pytest.approx(theirs)
