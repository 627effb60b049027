"""Support layers against Keras's own: padding, batch statistics, starting values, penalties, activations by name."""

from __future__ import annotations

import itertools

import keras
import numpy as np
import pytest
import torch
from torch import nn

from migrator.support import initialization as init
from migrator.support.activate import activate
from migrator.support.frozen_parameter import frozen
from migrator.support.population_batch_norm import PopulationBatchNorm1d, PopulationBatchNorm2d
from migrator.support.regularization_terms import l1_l2_penalty, l1_penalty, l2_penalty, regularization, regularized
from migrator.support.same_padding import AvgPool2dSame, Conv2dSame, MaxPool2dSame

SHAPES = [(7, 10), (8, 5), (3, 3)]


def images(shape: tuple[int, int], channels: int = 3) -> np.ndarray:
    return np.random.default_rng(0).normal(size=(2, *shape, channels)).astype("float32")


def first(x: np.ndarray) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(np.moveaxis(x, -1, 1)))


def last(x: torch.Tensor) -> np.ndarray:
    return np.moveaxis(x.detach().numpy(), 1, -1)


@pytest.mark.parametrize(
    ("kernel", "stride", "dilation"),
    [(3, 2, 1), (2, 2, 1), (5, 3, 1), ((3, 2), (1, 2), 1), (3, 1, 2), (1, 2, 1), (4, 3, 1)],
    ids=lambda value: f"{value}",
)
def test_a_same_convolution_pads_as_keras_does(kernel: object, stride: object, dilation: int) -> None:
    for shape in SHAPES:
        x = images(shape)
        layer = keras.layers.Conv2D(4, kernel, strides=stride, dilation_rate=dilation, padding="same")
        expected = np.asarray(layer(x))
        module = Conv2dSame(3, 4, kernel, stride=stride, dilation=dilation)
        weight, bias = layer.get_weights()
        with torch.no_grad():
            module.weight.copy_(torch.from_numpy(np.moveaxis(weight, (-1, -2), (0, 1)).copy()))
            module.bias.copy_(torch.from_numpy(bias))
        np.testing.assert_allclose(last(module(first(x))), expected, atol=2e-5)


@pytest.mark.parametrize("padding", ["same", "valid", "SAME"])
@pytest.mark.parametrize(("size", "stride"), [(2, None), (3, 2), (3, 1), ((2, 3), (2, 1))])
def test_pooling_leaves_padded_cells_out(padding: str, size: object, stride: object) -> None:
    for shape in SHAPES:
        x = images(shape) - 5  # all negative: a padded zero would win
        keyword = {"strides": stride, "padding": padding.lower()}
        largest = np.asarray(keras.layers.MaxPooling2D(size, **keyword)(x))
        mean = np.asarray(keras.layers.AveragePooling2D(size, **keyword)(x))
        np.testing.assert_allclose(last(MaxPool2dSame(size, stride, padding)(first(x))), largest, atol=1e-6)
        np.testing.assert_allclose(last(AvgPool2dSame(size, stride, padding)(first(x))), mean, atol=1e-5)


@pytest.mark.parametrize(("module", "shape"), [(PopulationBatchNorm2d, (4, 3, 5, 2)), (PopulationBatchNorm1d, (6, 2))])
def test_batch_statistics_are_remembered_as_keras_3_does(module: type[nn.Module], shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    layer = keras.layers.BatchNormalization(momentum=0.8)
    twin = module(shape[-1], eps=1e-3, momentum=0.2)
    for _ in range(3):
        x = rng.normal(2.0, 3.0, size=shape).astype("float32")
        expected = np.asarray(layer(x, training=True))
        given = first(x).requires_grad_()
        got = twin(given)
        got.square().sum().backward()  # the statistics must not be in the way of the gradient
        np.testing.assert_allclose(last(got), expected, atol=1e-5)
        assert torch.isfinite(given.grad).all()
    np.testing.assert_allclose(twin.running_mean.numpy(), np.asarray(layer.moving_mean), rtol=1e-5)
    np.testing.assert_allclose(twin.running_var.numpy(), np.asarray(layer.moving_variance), rtol=1e-5)
    np.testing.assert_allclose(last(twin.eval()(first(x))), np.asarray(layer(x, training=False)), atol=1e-5)


DRAWS = {
    "glorot_uniform": init.glorot_uniform_,
    "glorot_normal": init.glorot_normal_,
    "he_uniform": init.he_uniform_,
    "he_normal": init.he_normal_,
    "lecun_uniform": init.lecun_uniform_,
    "lecun_normal": init.lecun_normal_,
    "random_normal": init.normal_weights(0.0, 0.05),
    "random_uniform": init.uniform_weights(-0.05, 0.05),
    "truncated_normal": init.truncated_normal_weights(0.0, 0.05),
}


@pytest.mark.parametrize("name", DRAWS)
def test_an_initialiser_draws_from_keras_s_distribution(name: str) -> None:
    """Spread and bounds of 51,200 draws; the standard error of a spread is below 0.5%."""
    torch.manual_seed(0)
    expected = np.asarray(keras.initializers.get(name)((3, 3, 64, 100))).ravel()[: 9 * 6400]
    got = DRAWS[name](torch.empty(100, 64, 3, 3)).detach().numpy().ravel()
    assert got.std() == pytest.approx(expected.std(), rel=0.02)
    assert abs(got.mean()) < 5 * expected.std() / np.sqrt(got.size)
    if "normal" not in name or name in ("glorot_normal", "he_normal", "lecun_normal", "truncated_normal"):
        assert np.abs(got).max() == pytest.approx(np.abs(expected).max(), rel=0.02)


def test_every_layer_starts_as_keras_starts_it_unless_told_otherwise() -> None:
    layers = [nn.Linear(30, 20), nn.Conv2d(3, 8, 3), init.initialized(nn.Linear(20, 10), bias=nn.init.ones_)]
    model = nn.Sequential(*layers)
    init.keras_init_(model)
    bound = np.sqrt(6 / 50)
    assert layers[0].weight.abs().max() <= bound
    assert layers[0].weight.abs().max() > 0.9 * bound
    assert not layers[0].bias.any()
    assert not layers[1].bias.any()
    assert (layers[2].bias == 1).all()


def test_a_layer_that_learns_its_size_at_the_first_call_starts_as_keras_s_too() -> None:
    layer = nn.LazyLinear(50)
    init.keras_init_(layer)
    layer(torch.zeros(2, 70))
    assert not layer.bias.any()
    assert 0.9 * np.sqrt(6 / 120) < layer.weight.abs().max() <= np.sqrt(6 / 120)
    with torch.no_grad():
        layer.weight.fill_(3.0)
    layer(torch.zeros(2, 70))
    assert (layer.weight == 3).all()


def test_penalties_add_up_as_keras_s_losses_do() -> None:
    pairs = [(keras.regularizers.L2(0.1), l2_penalty(0.1)), (keras.regularizers.L1(0.2), l1_penalty(0.2))]
    pairs.append((keras.regularizers.L1L2(0.3, 0.4), l1_l2_penalty(0.3, 0.4)))
    weight = np.random.default_rng(0).normal(size=(4, 5)).astype("float32")
    expected, layers = 0.0, []
    for theirs, ours in pairs:
        expected += float(theirs(weight))
        layer = regularized(nn.Linear(4, 5), weight=ours, bias=None)
        with torch.no_grad():
            layer.weight.copy_(torch.from_numpy(weight.T))
        layers.append(layer)
    assert regularization(nn.Sequential(*layers)).item() == pytest.approx(expected, rel=1e-6)


ACTIVATIONS = [
    *("relu", "relu6", "sigmoid", "tanh", "elu", "selu", "softplus", "softsign"),
    *("silu", "gelu", "exponential", "mish", "softmax", "log_softmax", "linear"),
]


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_an_activation_named_at_run_time_is_keras_s(name: str) -> None:
    x = np.linspace(-4, 4, 24, dtype="float32").reshape(2, 3, 4)
    expected = np.asarray(keras.activations.get(name)(x))
    np.testing.assert_allclose(activate(torch.from_numpy(x), name).numpy(), expected, atol=2e-6)
    np.testing.assert_allclose(last(activate(first(x), name, dim=1)), expected, atol=2e-6)


def test_an_activation_may_be_a_function_or_nothing() -> None:
    x = torch.randn(3)
    assert activate(x, None) is x
    assert torch.equal(activate(x, torch.abs), x.abs())


def test_a_parameter_that_keras_lacks_is_not_trained() -> None:
    layer = frozen(nn.BatchNorm2d(3), "weight")
    trained = [name for name, parameter in layer.named_parameters() if parameter.requires_grad]
    assert trained == ["bias"]


def test_no_two_pieces_share_a_name_and_all_can_be_emitted() -> None:
    from migrator.rewrite.support import emit, public_names

    text = emit(public_names())
    compile(text, "torch_support", "exec")
    for one, other in itertools.combinations(sorted(public_names()), 2):
        assert one != other
    assert "migrator" not in text
