"""Keras losses by their class names, in PyTorch, on probabilities or logits exactly as Keras computes them.

Each entry takes the loss's Keras arguments and returns `loss(target, output)`, a scalar tensor: the mean over the
batch (and over what is left of the other axes), Keras's `sum_over_batch_size`.
"""

from __future__ import annotations

from typing import Any, Callable, Mapping, Sequence

import torch
import torch.nn.functional as F

EPSILON = 1e-7  # Keras's `backend.epsilon()`
Loss = Callable[[Any, Any], Any]


def sparse_categorical_crossentropy(from_logits: bool = False, ignore_class: int | None = None) -> Loss:
    """Targets are class numbers, with or without a last axis of one."""

    def loss(target: Any, output: Any) -> Any:
        classes = target.long()
        if classes.dim() == output.dim() and classes.shape[-1] == 1:
            classes = classes.squeeze(-1)
        logs = F.log_softmax(output, dim=-1) if from_logits else _log_of_clipped(output)
        kept = torch.ones_like(classes, dtype=torch.bool) if ignore_class is None else classes != ignore_class
        picked = logs.gather(-1, classes.masked_fill(~kept, 0).unsqueeze(-1)).squeeze(-1)
        return -picked[kept].mean()

    return loss


def categorical_crossentropy(from_logits: bool = False, label_smoothing: float = 0.0, axis: int = -1) -> Loss:
    """Targets are distributions over the classes; probabilities are scaled to sum to one, then clipped, as in Keras."""

    def loss(target: Any, output: Any) -> Any:
        wanted = target.to(output.dtype)
        if label_smoothing:
            wanted = wanted * (1.0 - label_smoothing) + label_smoothing / output.shape[axis]
        if from_logits:
            logs = F.log_softmax(output, dim=axis)
        else:
            scaled = output / output.sum(dim=axis, keepdim=True)
            logs = torch.log(scaled.clamp(EPSILON, 1.0 - EPSILON))
        return -(wanted * logs).sum(dim=axis).mean()

    return loss


def binary_crossentropy(from_logits: bool = False, label_smoothing: float = 0.0) -> Loss:
    """Targets are zeros and ones, or probabilities, of the output's shape (a last axis of one may be missing)."""

    def loss(target: Any, output: Any) -> Any:
        wanted = _like(target, output)
        if label_smoothing:
            wanted = wanted * (1.0 - label_smoothing) + 0.5 * label_smoothing
        if from_logits:
            return F.binary_cross_entropy_with_logits(output, wanted)
        clipped = output.clamp(EPSILON, 1.0 - EPSILON)
        return -(wanted * torch.log(clipped) + (1.0 - wanted) * torch.log(1.0 - clipped)).mean()

    return loss


def mean_squared_error() -> Loss:
    """The mean of squared differences over everything."""
    return lambda target, output: (output - _like(target, output)).square().mean()


def mean_absolute_error() -> Loss:
    """The mean of absolute differences over everything."""
    return lambda target, output: (output - _like(target, output)).abs().mean()


def huber(delta: float = 1.0) -> Loss:
    """Quadratic up to `delta`, linear beyond."""
    return lambda target, output: F.huber_loss(output, _like(target, output), delta=delta)


LOSSES: dict[str, Callable[..., Loss]] = {
    "SparseCategoricalCrossentropy": sparse_categorical_crossentropy,
    "CategoricalCrossentropy": categorical_crossentropy,
    "BinaryCrossentropy": binary_crossentropy,
    "MeanSquaredError": mean_squared_error,
    "MeanAbsoluteError": mean_absolute_error,
    "Huber": huber,
}


def loss_function(named: Mapping[str, Any] | None) -> Callable[[list[tuple[str, Any]], Sequence[Any]], Any]:
    """The loss of an output's leaves against its targets. None: the mean squared distance of floating outputs.

    Raises ValueError for a loss or an argument that is not known here.
    """
    if named is None:
        return _squared_distance
    name, arguments = named["name"], dict(named.get("arguments", {}))
    if name not in LOSSES:
        raise ValueError("the loss {!r} is not known on the PyTorch side; known are {}".format(name, ", ".join(LOSSES)))
    if arguments.pop("reduction", "sum_over_batch_size") not in ("sum_over_batch_size", "auto"):
        raise ValueError(f"only the reduction sum_over_batch_size of {name} can be checked")
    arguments.pop("name", None)
    try:
        loss = LOSSES[name](**arguments)
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from error

    def named_loss(outputs: list[tuple[str, Any]], targets: Sequence[Any]) -> Any:
        if len(outputs) != 1:
            raise ValueError(f"the loss {name} is for one output, the model has {len(outputs)}")
        return loss(targets[0], outputs[0][1])

    return named_loss


def _squared_distance(outputs: list[tuple[str, Any]], targets: Sequence[Any]) -> Any:
    floating = [leaf for _, leaf in outputs if leaf.is_floating_point()]
    if not floating:
        raise ValueError("no output is floating, so there is nothing to differentiate; name a loss")
    return torch.stack([(leaf - target).square().mean() for leaf, target in zip(floating, targets)]).sum()


def _like(target: Any, output: Any) -> Any:
    wanted = target.to(output.dtype)
    if wanted.dim() == output.dim() - 1 and output.shape[-1] == 1:
        wanted = wanted.unsqueeze(-1)
    if wanted.shape != output.shape:
        raise ValueError(f"targets of shape {list(target.shape)} do not fit {list(output.shape)}")
    return wanted


def _log_of_clipped(output: Any) -> Any:
    """Keras clips, takes logarithms and then a softmax of those, which scales what does not sum to one."""
    return F.log_softmax(torch.log(output.clamp(EPSILON, 1.0 - EPSILON)), dim=-1)
