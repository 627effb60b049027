"""Optimizers against Keras's own: the same gradients, the same path."""

import os

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
import numpy as np
import pytest
import torch

from migrator.support.adam_epsilon_hat import AdamEpsilonHat
from migrator.support.clip_grad_norm_each_ import clip_grad_norm_each_
from migrator.support.momentum_sgd import MomentumSGD
from migrator.support.rmsprop_epsilon_inside import RMSpropEpsilonInside

START = np.array([1.0, -2.0, 3.0], dtype="float32")
# from ordinary gradients to ones as small as the square root of epsilon and below
GRADIENTS = np.random.default_rng(3).normal(size=(40, 3)).astype("float32") * np.array([1.0, 1e-3, 1e-6], "float32")
RATES = np.repeat([1.0, 0.1], 20)


def keras_path(optimizer, gradients=GRADIENTS, change_rate=False):
    variable = keras.Variable(START)
    rate = float(optimizer.learning_rate)
    path = []
    for gradient, factor in zip(gradients, RATES, strict=True):
        if change_rate:
            optimizer.learning_rate = rate * factor
        optimizer.apply([keras.ops.convert_to_tensor(gradient)], [variable])
        path.append(variable.numpy().copy())
    return np.array(path)


def torch_path(make, gradients=GRADIENTS, change_rate=False):
    parameter = torch.nn.Parameter(torch.tensor(START))
    optimizer = make([parameter])
    rate = optimizer.param_groups[0]["lr"]
    path = []
    for gradient, factor in zip(gradients, RATES, strict=True):
        if change_rate:
            optimizer.param_groups[0]["lr"] = rate * factor
        parameter.grad = torch.tensor(gradient)
        optimizer.step()
        path.append(parameter.detach().numpy().copy())
    return np.array(path)


CASES = [
    pytest.param(keras.optimizers.RMSprop(), RMSpropEpsilonInside, id="RMSprop with its defaults"),
    pytest.param(
        keras.optimizers.RMSprop(0.01, rho=0.8, momentum=0.5, epsilon=1e-5),
        lambda p: RMSpropEpsilonInside(p, lr=0.01, rho=0.8, momentum=0.5, eps=1e-5),
        id="RMSprop with momentum",
    ),
    pytest.param(
        keras.optimizers.RMSprop(centered=True),
        lambda p: RMSpropEpsilonInside(p, centered=True),
        id="RMSprop, centered",
    ),
    pytest.param(
        keras.optimizers.SGD(0.1, momentum=0.9), lambda p: MomentumSGD(p, lr=0.1, momentum=0.9), id="SGD with momentum"
    ),
    pytest.param(
        keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
        lambda p: MomentumSGD(p, lr=0.1, momentum=0.9, nesterov=True),
        id="SGD with Nesterov momentum",
    ),
    pytest.param(keras.optimizers.Adam(), AdamEpsilonHat, id="Adam with its defaults"),
    pytest.param(
        keras.optimizers.Adam(0.01, beta_1=0.8, beta_2=0.95, amsgrad=True),
        lambda p: AdamEpsilonHat(p, lr=0.01, betas=(0.8, 0.95), amsgrad=True),
        id="Adam, AMSGrad",
    ),
    pytest.param(
        keras.optimizers.AdamW(0.01), lambda p: AdamEpsilonHat(p, lr=0.01, weight_decay=0.004), id="AdamW by default"
    ),
]


@pytest.mark.parametrize("change_rate", [False, True], ids=["constant rate", "rate lowered halfway"])
@pytest.mark.parametrize(("theirs", "ours"), CASES)
def test_the_support_optimizers_walk_the_path_of_keras(theirs, ours, change_rate):
    expected = keras_path(theirs.__class__.from_config(theirs.get_config()), change_rate=change_rate)
    np.testing.assert_allclose(torch_path(ours, change_rate=change_rate), expected, rtol=2e-5, atol=2e-7)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        pytest.param(keras.optimizers.SGD(), lambda p: torch.optim.SGD(p, lr=0.01), id="SGD with its defaults"),
        pytest.param(
            keras.optimizers.SGD(0.1, momentum=0.9, nesterov=True),
            lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9, nesterov=True),
            id="SGD with Nesterov momentum",
        ),
        pytest.param(
            keras.optimizers.SGD(0.1, weight_decay=0.01),
            lambda p: torch.optim.SGD(p, lr=0.1, weight_decay=0.01),
            id="SGD with decay and no momentum",
        ),
        pytest.param(
            keras.optimizers.RMSprop(0.01),
            lambda p: RMSpropEpsilonInside(p, lr=0.01),
            id="RMSprop, which has no twin in torch",
        ),
    ],
)
def test_the_idiomatic_optimizers_walk_the_path_of_keras(theirs, ours):
    np.testing.assert_allclose(torch_path(ours), keras_path(theirs), rtol=2e-5, atol=2e-7)


def test_torch_adam_differs_for_small_gradients_only():
    path = torch_path(lambda p: torch.optim.Adam(p, lr=1e-3, eps=1e-7))
    expected = keras_path(keras.optimizers.Adam())
    np.testing.assert_allclose(path[:, :2], expected[:, :2], atol=3e-5)
    assert np.abs(path[0, 2] - expected[0, 2]) > 1e-4


def test_torch_rmsprop_is_another_optimizer_for_small_gradients():
    path = torch_path(lambda p: torch.optim.RMSprop(p, lr=1e-3, alpha=0.9, eps=1e-7))
    expected = keras_path(keras.optimizers.RMSprop())
    assert np.abs(expected[:, 2] - START[2]).max() < 2e-5
    assert np.abs(path[:, 2] - START[2]).max() > 1e-3


def test_clipnorm_clips_each_parameter_on_its_own():
    parameters = [torch.nn.Parameter(torch.zeros(2)), torch.nn.Parameter(torch.zeros(1))]
    gradients = [np.array([3.0, 4.0], "float32"), np.array([0.5], "float32")]
    for parameter, gradient in zip(parameters, gradients, strict=True):
        parameter.grad = torch.tensor(gradient)
    clip_grad_norm_each_(parameters, 1.0)
    variables = [keras.Variable(np.zeros(2, "float32")), keras.Variable(np.zeros(1, "float32"))]
    keras.optimizers.SGD(1.0, clipnorm=1.0).apply([keras.ops.convert_to_tensor(g) for g in gradients], variables)
    for parameter, variable in zip(parameters, variables, strict=True):
        np.testing.assert_allclose(-parameter.grad.numpy(), variable.numpy().copy(), rtol=1e-5)
