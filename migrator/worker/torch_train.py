"""Loss, gradients and plain training steps on the PyTorch side, written in Keras's layout for comparison."""

from __future__ import annotations

from typing import Any, Callable, List, Mapping, Sequence, Tuple

import numpy as np
import torch

from .layouts import LAYOUTS
from .torch_model import Model

Entries = Sequence[Mapping[str, Any]]
Loss = Callable[[List[Tuple[str, Any]], Sequence[Any]], Any]


def assign(model: Model, mapping: Entries, values: Mapping[int, np.ndarray]) -> None:
    """Set every mapped tensor from the Keras array of its variable; nothing is broadcast or reshaped."""
    with torch.no_grad():
        for entry in mapping:
            tensor = model.get(entry["tensor"])
            array = LAYOUTS[entry["layout"]].forward(values[int(entry["variable"])])
            if tuple(array.shape) != tuple(tensor.shape):
                raise ValueError("{}: shape {} for {}".format(entry["tensor"], array.shape, tuple(tensor.shape)))
            tensor.copy_(torch.as_tensor(np.ascontiguousarray(array)))


def in_keras_layout(array: np.ndarray, entry: Mapping[str, Any], shape: Sequence[int]) -> np.ndarray:
    """An array laid out as the entry's tensor, in the layout of its variable."""
    return np.ascontiguousarray(LAYOUTS[entry["layout"]].backward(array, shape))


def values(model: Model, mapping: Entries, shapes: Sequence[Sequence[int]]) -> dict[str, np.ndarray]:
    """Every mapped tensor now, as `variable/<n>`."""
    found = {}
    for entry in mapping:
        index = int(entry["variable"])
        array = model.get(entry["tensor"]).detach().cpu().numpy()
        found[f"variable/{index}"] = in_keras_layout(array, entry, shapes[index]).copy()
    return found


def total_loss(model: Model, loss: Loss, inputs: Sequence[Any], targets: Sequence[Any], training: bool) -> Any:
    """The loss and the model's `penalty()`, a scalar tensor."""
    value = loss(model(inputs, training=training), targets)
    extra = model.penalty()
    return value if extra is None else value + extra


def gradients(
    model: Model, loss: Loss, inputs: Sequence[Any], targets: Sequence[Any], mapping: Entries, shapes: Sequence[Any]
) -> dict[str, np.ndarray]:
    """In inference mode: `loss`, `variable/<n>` of every trained parameter, `input/<n>` of every floating input."""
    tensors = [model.tensor(array).clone() for array in inputs]
    floating = [index for index, tensor in enumerate(tensors) if tensor.is_floating_point()]
    for index in floating:
        tensors[index].requires_grad_(True)
    value = total_loss(model, loss, tensors, targets, training=False)
    trained = [entry for entry in mapping if model.get(entry["tensor"]).requires_grad]
    sources = [model.get(entry["tensor"]) for entry in trained] + [tensors[index] for index in floating]
    found = torch.autograd.grad(value, sources, allow_unused=True)
    arrays = [_array(gradient, source) for gradient, source in zip(found, sources)]
    named = {"loss": value.detach().cpu().numpy()}
    for entry, array in zip(trained, arrays):
        index = int(entry["variable"])
        named[f"variable/{index}"] = in_keras_layout(array, entry, shapes[index])
    for index, array in zip(floating, arrays[len(trained) :]):
        named[f"input/{index}"] = array
    return named


def _array(gradient: Any, source: Any) -> np.ndarray:
    found: np.ndarray = (torch.zeros_like(source) if gradient is None else gradient).detach().cpu().numpy()
    return found


def train(
    model: Model, loss: Loss, batches: Sequence[tuple[Sequence[Any], Sequence[Any]]], steps: int, rate: float
) -> np.ndarray:
    """Plain gradient descent in training mode on every parameter that wants a gradient; the losses, one a step."""
    held = model.module.parameters() if model.module is not None else ()
    parameters = [parameter for parameter in held if parameter.requires_grad]
    optimizer = torch.optim.SGD(parameters, lr=rate) if parameters else None
    tensors = [([model.tensor(a) for a in inputs], [model.tensor(t) for t in targets]) for inputs, targets in batches]
    losses = []
    for number in range(steps):
        inputs, targets = tensors[number % len(tensors)]
        value = total_loss(model, loss, inputs, targets, training=True)
        if optimizer is not None:
            optimizer.zero_grad()
            value.backward()
            optimizer.step()
        losses.append(value.detach().item())
    return np.asarray(losses, dtype=np.float64)
