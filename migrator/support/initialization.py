"""Weights that start as Keras starts them: Glorot-uniform kernels and zero biases, unless a layer says otherwise."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import torch
from torch import nn

TRUNCATED_STD = 0.87962566103423978  # of a standard normal cut off at two standard deviations


def keras_init_(model: nn.Module) -> None:
    """Gives every layer the values that Keras would give it, except those that `initialized` has seen to.

    Layers that learn their sizes from the first input are seen to when they have.
    """
    for layer in model.modules():
        if isinstance(layer, nn.modules.lazy.LazyModuleMixin) and layer.has_uninitialized_params():
            layer.register_forward_pre_hook(keras_init_once)
        else:
            keras_init_layer_(layer)


def keras_init_once(layer: nn.Module, inputs: Any) -> None:
    """The first call of a layer that has just learned its sizes."""
    if not getattr(layer, "keras_initialized", False):
        layer.keras_initialized = True  # type: ignore[assignment]
        keras_init_layer_(layer)


def keras_init_layer_(layer: nn.Module) -> None:
    """Glorot-uniform weights, zero biases."""
    if not isinstance(layer, (nn.Linear, nn.modules.conv._ConvNd)):
        return
    own = getattr(layer, "own_initializers", {})
    own.get("weight", glorot_uniform_)(layer.weight)
    if layer.bias is not None:
        own.get("bias", nn.init.zeros_)(layer.bias)


def initialized(layer: nn.Module, **initializers: Callable[[torch.Tensor], Any]) -> Any:
    """The layer, its `weight` or `bias` filled by functions of its own."""
    layer.own_initializers = initializers  # type: ignore[assignment]
    if not (isinstance(layer, nn.modules.lazy.LazyModuleMixin) and layer.has_uninitialized_params()):
        keras_init_layer_(layer)
    return layer


def variance_scaling_(weight: torch.Tensor, scale: float, mode: str, distribution: str) -> torch.Tensor:
    """Fills a weight of shape (out, in, …): variance scale / fan, where `mode` is "fan_in" or "fan_avg"."""
    fan_in, fan_out = nn.init._calculate_fan_in_and_fan_out(weight)
    variance = scale / max(1.0, fan_in if mode == "fan_in" else (fan_in + fan_out) / 2)
    if distribution == "uniform":
        limit = math.sqrt(3 * variance)
        return nn.init.uniform_(weight, -limit, limit)
    std = math.sqrt(variance) / TRUNCATED_STD
    return nn.init.trunc_normal_(weight, 0.0, std, -2 * std, 2 * std)


def glorot_uniform_(weight: torch.Tensor) -> torch.Tensor:
    """Uniform with variance 2 / (fan_in + fan_out)."""
    return variance_scaling_(weight, 1.0, "fan_avg", "uniform")


def glorot_normal_(weight: torch.Tensor) -> torch.Tensor:
    """Truncated normal with variance 2 / (fan_in + fan_out)."""
    return variance_scaling_(weight, 1.0, "fan_avg", "truncated_normal")


def he_uniform_(weight: torch.Tensor) -> torch.Tensor:
    """Uniform with variance 2 / fan_in."""
    return variance_scaling_(weight, 2.0, "fan_in", "uniform")


def he_normal_(weight: torch.Tensor) -> torch.Tensor:
    """Truncated normal with variance 2 / fan_in."""
    return variance_scaling_(weight, 2.0, "fan_in", "truncated_normal")


def lecun_uniform_(weight: torch.Tensor) -> torch.Tensor:
    """Uniform with variance 1 / fan_in."""
    return variance_scaling_(weight, 1.0, "fan_in", "uniform")


def lecun_normal_(weight: torch.Tensor) -> torch.Tensor:
    """Truncated normal with variance 1 / fan_in."""
    return variance_scaling_(weight, 1.0, "fan_in", "truncated_normal")


def normal_weights(mean: float, std: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """An initialiser: a normal distribution."""
    return lambda weight: nn.init.normal_(weight, mean, std)


def uniform_weights(low: float, high: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """An initialiser: a uniform distribution."""
    return lambda weight: nn.init.uniform_(weight, low, high)


def truncated_normal_weights(mean: float, std: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """An initialiser: a normal distribution cut off two standard deviations from its mean."""
    return lambda weight: nn.init.trunc_normal_(weight, mean, std, mean - 2 * std, mean + 2 * std)


def constant_weights(value: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """An initialiser: one value everywhere."""
    return lambda weight: nn.init.constant_(weight, value)


def orthogonal_weights(gain: float) -> Callable[[torch.Tensor], torch.Tensor]:
    """An initialiser: an orthogonal matrix."""
    return lambda weight: nn.init.orthogonal_(weight, gain)


def initializer_named(name: Any) -> Callable[[torch.Tensor], Any]:
    """The initialiser of a Keras name that only a run can tell; a function is handed back as it is."""
    known: dict[str, Callable[[torch.Tensor], Any]] = {
        "glorot_uniform": glorot_uniform_,
        "glorot_normal": glorot_normal_,
        "he_uniform": he_uniform_,
        "he_normal": he_normal_,
        "lecun_uniform": lecun_uniform_,
        "lecun_normal": lecun_normal_,
        "zeros": nn.init.zeros_,
        "ones": nn.init.ones_,
        "random_normal": normal_weights(0.0, 0.05),
        "random_uniform": uniform_weights(-0.05, 0.05),
        "truncated_normal": truncated_normal_weights(0.0, 0.05),
    }
    return known[name] if isinstance(name, str) else glorot_uniform_ if name is None else name
