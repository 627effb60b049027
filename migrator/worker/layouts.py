"""How a variable of each Keras layer is laid out in PyTorch: a closed list, so that nothing is ever reshaped to fit.

A layout is a named pair of functions on arrays, to PyTorch and back; both are views or permutations of the values.
"""

from __future__ import annotations

from typing import Callable, Sequence

import numpy as np

Turn = Callable[[np.ndarray], np.ndarray]


class Layout:
    """`forward` brings a Keras array into PyTorch's layout, `backward` the other way."""

    def __init__(self, name: str, forward: Turn, backward: Callable[[np.ndarray, Sequence[int]], np.ndarray]) -> None:
        self.name = name
        self.forward = forward
        self.backward = backward

    def shape(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The PyTorch shape of a Keras shape; empty tuple where the rank does not fit the layout."""
        try:
            turned = self.forward(np.broadcast_to(np.zeros(()), tuple(shape)))
        except ValueError:
            return (-1,)
        return tuple(int(size) for size in turned.shape)


def _permuted(name: str, order: Sequence[int]) -> Layout:
    inverse = [int(place) for place in np.argsort(order)]
    return Layout(name, lambda a: np.transpose(a, order), lambda a, shape: np.transpose(a, inverse))


def _depthwise(name: str, spatial: int) -> Layout:
    """Keras (spatial…, channels, multiplier) -> PyTorch (channels * multiplier, 1, spatial…)."""

    def forward(array: np.ndarray) -> np.ndarray:
        moved = np.transpose(array, [spatial, spatial + 1, *range(spatial)])
        return moved.reshape((moved.shape[0] * moved.shape[1], 1, *moved.shape[2:]))

    def backward(array: np.ndarray, shape: Sequence[int]) -> np.ndarray:
        split = array.reshape((shape[spatial], shape[spatial + 1], *array.shape[2:]))
        return np.transpose(split, [*range(2, 2 + spatial), 0, 1])

    return Layout(name, forward, backward)


def _channels(array: np.ndarray) -> np.ndarray:
    if any(size != 1 for size in array.shape[:-1]):
        raise ValueError("only the last axis may be longer than one")
    return array.reshape(array.shape[-1:])


AS_IS = Layout("as is", lambda a: a, lambda a, shape: a)
_ALL: list[Layout] = [
    AS_IS,
    _permuted("io->oi", [1, 0]),
    _permuted("lio->oil", [2, 1, 0]),
    _permuted("hwio->oihw", [3, 2, 0, 1]),
    _permuted("dhwio->oidhw", [4, 3, 0, 1, 2]),
    _permuted("loi->iol", [2, 1, 0]),
    _permuted("hwoi->iohw", [3, 2, 0, 1]),
    _permuted("dhwoi->iodhw", [4, 3, 0, 1, 2]),
    Layout("11c->c", _channels, lambda a, shape: a.reshape(tuple(shape))),
    _depthwise("lcm->(cm)1l", 1),
    _depthwise("hwcm->(cm)1hw", 2),
]
LAYOUTS: dict[str, Layout] = {layout.name: layout for layout in _ALL}

# Keras class -> role -> (the tensor's usual name in torch.nn, layout)
_NORM = {"gamma": ("weight", "as is"), "beta": ("bias", "as is")}
_BIAS = {"bias": ("bias", "as is")}
ROLES: dict[str, dict[str, tuple[str, str]]] = {
    "Dense": {"kernel": ("weight", "io->oi"), **_BIAS},
    "Conv1D": {"kernel": ("weight", "lio->oil"), **_BIAS},
    "Conv2D": {"kernel": ("weight", "hwio->oihw"), **_BIAS},
    "Conv3D": {"kernel": ("weight", "dhwio->oidhw"), **_BIAS},
    "Conv1DTranspose": {"kernel": ("weight", "loi->iol"), **_BIAS},
    "Conv2DTranspose": {"kernel": ("weight", "hwoi->iohw"), **_BIAS},
    "Conv3DTranspose": {"kernel": ("weight", "dhwoi->iodhw"), **_BIAS},
    "DepthwiseConv1D": {
        "kernel": ("weight", "lcm->(cm)1l"),
        "depthwise_kernel": ("weight", "lcm->(cm)1l"),
        **_BIAS,
    },
    "DepthwiseConv2D": {
        "kernel": ("weight", "hwcm->(cm)1hw"),
        "depthwise_kernel": ("weight", "hwcm->(cm)1hw"),
        **_BIAS,
    },
    "SeparableConv1D": {
        "depthwise_kernel": ("weight", "lcm->(cm)1l"),
        "pointwise_kernel": ("weight", "lio->oil"),
        **_BIAS,
    },
    "SeparableConv2D": {
        "depthwise_kernel": ("weight", "hwcm->(cm)1hw"),
        "pointwise_kernel": ("weight", "hwio->oihw"),
        **_BIAS,
    },
    "BatchNormalization": {
        **_NORM,
        "moving_mean": ("running_mean", "as is"),
        "moving_variance": ("running_var", "as is"),
    },
    "LayerNormalization": _NORM,
    "GroupNormalization": _NORM,
    "RMSNormalization": {"scale": ("weight", "as is"), "gamma": ("weight", "as is")},
    "Embedding": {"embeddings": ("weight", "as is")},
    "PReLU": {"alpha": ("weight", "11c->c")},
    "LSTMCell": {
        "kernel": ("weight_ih_l0", "io->oi"),
        "recurrent_kernel": ("weight_hh_l0", "io->oi"),
        "bias": ("bias_ih_l0", "as is"),
    },
    "SimpleRNNCell": {
        "kernel": ("weight_ih_l0", "io->oi"),
        "recurrent_kernel": ("weight_hh_l0", "io->oi"),
        "bias": ("bias_ih_l0", "as is"),
    },
}


def usual(kind: str, role: str) -> tuple[str, str]:
    """The torch.nn name and the layout of one variable; its own name, as is, where the layer is not known."""
    return ROLES.get(kind, {}).get(role, (role, "as is"))


def possible(kind: str, role: str) -> list[str]:
    """The layouts that code written by hand may have chosen: the usual one first, then as it is."""
    _, layout = usual(kind, role)
    return [layout] if layout == "as is" else [layout, "as is"]
