"""Losses and optimizers on the PyTorch side compute what Keras computes, and so does removing a known difference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from migrator.worker import torch_differences, torch_losses, torch_optimizers

keras = pytest.importorskip("keras")
RNG = np.random.default_rng(5)
LOGITS = RNG.standard_normal((6, 4)).astype(np.float32) * 3
SHARES = (np.exp(LOGITS) / np.exp(LOGITS).sum(-1, keepdims=True)).astype(np.float32)
CLASSES = np.array([0, 3, 1, 2, 2, 0])
ONE_HOT = np.eye(4, dtype=np.float32)[CLASSES]
CERTAIN = np.eye(4, dtype=np.float32)[CLASSES[::-1]]  # wrong and sure of it: only clipping keeps the loss finite
BITS = (RNG.random((6, 4)) < 0.5).astype(np.float32)

LOSSES = [
    ("SparseCategoricalCrossentropy", {}, CLASSES, SHARES),
    ("SparseCategoricalCrossentropy", {}, CLASSES, CERTAIN),
    ("SparseCategoricalCrossentropy", {"from_logits": True}, CLASSES, LOGITS),
    ("SparseCategoricalCrossentropy", {"from_logits": True, "ignore_class": 2}, CLASSES, LOGITS),
    ("CategoricalCrossentropy", {}, ONE_HOT, SHARES * 2),
    ("CategoricalCrossentropy", {}, ONE_HOT, CERTAIN),
    ("CategoricalCrossentropy", {"from_logits": True, "label_smoothing": 0.1}, ONE_HOT, LOGITS),
    ("BinaryCrossentropy", {}, BITS, CERTAIN),
    ("BinaryCrossentropy", {"label_smoothing": 0.2}, BITS, SHARES),
    ("BinaryCrossentropy", {"from_logits": True}, BITS, LOGITS),
    ("MeanSquaredError", {}, BITS, LOGITS),
    ("MeanAbsoluteError", {}, BITS, LOGITS),
    ("Huber", {"delta": 0.5}, BITS, LOGITS),
]


@pytest.mark.parametrize(("name", "arguments", "target", "output"), LOSSES)
def test_a_loss_is_what_keras_computes(name: str, arguments: dict[str, Any], target: Any, output: Any) -> None:
    expected = float(getattr(keras.losses, name)(**arguments)(target, output))
    loss = torch_losses.loss_function({"name": name, "arguments": arguments})
    found = float(loss([("output", torch.tensor(output))], [torch.tensor(target)]))
    assert found == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize(
    ("named", "said"),
    [
        ({"name": "Dice"}, "'Dice' is not known"),
        ({"name": "MeanSquaredError", "arguments": {"delta": 1}}, "unexpected keyword"),
        ({"name": "MeanSquaredError", "arguments": {"reduction": "sum"}}, "only the reduction"),
    ],
)
def test_a_loss_that_is_not_known_is_refused_not_guessed(named: dict[str, Any], said: str) -> None:
    with pytest.raises(ValueError, match=said):
        torch_losses.loss_function(named)


OPTIMIZERS = [
    ("SGD", {}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9}),
    ("SGD", {"learning_rate": 0.1, "momentum": 0.9, "nesterov": True}),
    ("SGD", {"learning_rate": 0.1, "clipnorm": 0.5}),
    ("SGD", {"learning_rate": 0.1, "global_clipnorm": 0.5}),
    ("SGD", {"learning_rate": 0.1, "clipvalue": 0.1}),
    ("Adam", {}),
    ("Adam", {"learning_rate": 0.01, "beta_1": 0.8, "epsilon": 1e-3}),
    ("Adam", {"amsgrad": True}),
    ("AdamW", {"learning_rate": 0.01}),
    ("RMSprop", {}),
    ("RMSprop", {"rho": 0.5, "learning_rate": 0.01}),
]


@pytest.mark.parametrize("scale", [1.0, 1e-5])
@pytest.mark.parametrize(("name", "arguments"), OPTIMIZERS)
def test_an_optimizer_takes_the_steps_that_keras_takes(name: str, arguments: dict[str, Any], scale: float) -> None:
    start = [np.array([1.0, -2.0, 3.0], np.float32), np.array([[0.5]], np.float32)]
    steps = [[scale * RNG.standard_normal(each.shape).astype(np.float32) for each in start] for _ in range(10)]
    theirs = [keras.Variable(each) for each in start]
    optimizer = getattr(keras.optimizers, name)(**arguments)
    ours = [torch.nn.Parameter(torch.tensor(each)) for each in start]
    stepper = torch_optimizers.optimizer_named({"name": name, "arguments": arguments}, ours)
    for gradients in steps:
        optimizer.apply([keras.ops.convert_to_tensor(each) for each in gradients], theirs)
        for parameter, gradient in zip(ours, gradients, strict=True):
            parameter.grad = torch.tensor(gradient)
        stepper.step()
    for one, other, first in zip(theirs, ours, start, strict=True):
        moved = np.max(np.abs(np.asarray(one.numpy()) - first))
        assert np.max(np.abs(np.asarray(one.numpy()) - other.detach().numpy())) <= 1e-3 * moved + 3e-7


@pytest.mark.parametrize("arguments", [{"weight_decay": 0.1}, {"learning_rate_schedule": 1}])
def test_an_argument_that_is_not_known_is_refused_not_dropped(arguments: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="unexpected keyword"):
        torch_optimizers.optimizer_named({"name": "SGD", "arguments": arguments}, [torch.nn.Parameter(torch.zeros(1))])


@pytest.mark.parametrize("momentum", [0.1, 0.01])
def test_batch_normalisation_keeps_kerass_variance_once_the_difference_is_removed(momentum: float) -> None:
    values = RNG.standard_normal((4, 3, 2, 2)).astype(np.float32)
    layer = keras.layers.BatchNormalization(momentum=1 - momentum)
    module = torch.nn.BatchNorm2d(3, eps=1e-3, momentum=momentum)
    assert torch_differences.biased_batch_variance(torch.nn.Sequential(module)) == 1
    for _ in range(3):
        layer(values.transpose(0, 2, 3, 1), training=True)
        module(torch.tensor(values))
    assert np.allclose(layer.moving_variance.numpy(), module.running_var.numpy(), atol=1e-6)
    assert np.allclose(layer.moving_mean.numpy(), module.running_mean.numpy(), atol=1e-6)


def test_without_batch_normalisation_there_is_nothing_to_remove() -> None:
    assert torch_differences.biased_batch_variance(torch.nn.Linear(2, 2)) == 0
