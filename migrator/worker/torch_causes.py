"""Causes tried by experiment on one layer alone: the change that makes the numbers agree is the cause.

Each experiment takes an `Site` and yields (id in `rules/differences.toml`, what to write instead, the output then).
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, Mapping, Tuple

import torch
import torch.nn.functional as F

from . import compare

Variant = Tuple[str, str, Any]
EPSILONS = (1e-3, 1e-5, 1e-6, 1e-7, 1e-8, 1.001e-5, 1e-12, 1e-1, 1e-2, 1e-4)
ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "linear": lambda x: x,
    "relu": F.relu,
    "softmax": lambda x: F.softmax(x, dim=-1),
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "gelu": F.gelu,
    "gelu (tanh)": lambda x: F.gelu(x, approximate="tanh"),
    "elu": F.elu,
    "selu": F.selu,
    "silu": F.silu,
    "softplus": F.softplus,
    "softsign": F.softsign,
    "relu6": F.relu6,
    "leaky_relu (slope 0.2)": lambda x: F.leaky_relu(x, 0.2),
    "leaky_relu (slope 0.3)": lambda x: F.leaky_relu(x, 0.3),
    "leaky_relu (slope 0.01)": lambda x: F.leaky_relu(x, 0.01),
    "hard_sigmoid": F.hardsigmoid,
}


class Site:
    """One layer that diverges. `before` is the tensor that went into the Keras layer, as PyTorch has it (channels
    first or last), `given` what went into the PyTorch module, if there is one; `expected` is the reference; `call` is
    the PyTorch function that was called, its arguments and keyword arguments."""

    def __init__(
        self,
        event: Mapping[str, Any],
        expected: compare.Reference,
        before: Any | None,
        module: Any | None = None,
        given: Any | None = None,
        config: Mapping[str, Any] | None = None,
        call: Any = None,
    ) -> None:
        self.event = event
        self.expected = expected
        self.before = before
        self.module = module
        self.given = given
        self.config = config or {}
        self.call = call


def cause(site: Site, tolerance: float) -> dict[str, str] | None:
    """The first experiment after which the layer's output is the reference: `id` and `write`; None where none is."""
    for experiment in (_epsilon, _padding, _transposed, _activation, _flattened):
        try:
            for id_, write, output in experiment(site):
                if compare.agrees(site.expected, output.detach().cpu().numpy(), tolerance):
                    return {"id": id_, "write": write}
        except (RuntimeError, TypeError, ValueError, IndexError):
            continue  # an experiment that does not fit this layer says nothing about it
    return None


def _epsilon(site: Site) -> Iterator[Variant]:
    module = site.module
    if module is None or site.given is None or not isinstance(getattr(module, "eps", None), float):
        return
    kept = module.eps
    wanted = site.config.get("epsilon")
    try:
        for value in [*([wanted] if wanted else []), *EPSILONS]:
            module.eps = float(value)
            yield "epsilon", f"eps={value:g} in place of {kept:g}", module(site.given)
    finally:
        module.eps = kept


def _padding(site: Site) -> Iterator[Variant]:
    module = site.module
    if site.before is None or not isinstance(module, torch.nn.modules.conv._ConvNd) or module.transposed:
        return
    images = channels_first(site.before, module.in_channels)
    for name, pads in _pads(images.shape[2:], module):
        yield "padding-side", name, _convolved(module, F.pad(images, pads), module.weight)


def _pads(sizes: Any, module: Any) -> Iterator[tuple[str, list[int]]]:
    """Amounts for `F.pad` (last axis first): as Keras's `same`, its mirror, both ends alike, none."""
    totals = []
    for size, kernel, stride, dilation in zip(sizes, module.kernel_size, module.stride, module.dilation):
        steps = -(-int(size) // stride)
        totals.append(max((steps - 1) * stride + (kernel - 1) * dilation + 1 - int(size), 0))
    ends = {
        "pad the odd row and column at the end": [(total // 2, total - total // 2) for total in totals],
        "pad the odd row and column at the start": [(total - total // 2, total // 2) for total in totals],
        "pad nothing": [(0, 0)] * len(totals),
    }
    for name, amounts in ends.items():
        flat = [amount for pair in reversed(amounts) for amount in pair]
        yield f"{name}: F.pad(x, {tuple(flat)})", flat


def _convolved(module: Any, images: Any, weight: Any) -> Any:
    function = (F.conv1d, F.conv2d, F.conv3d)[images.dim() - 3]
    return function(images, weight, module.bias, module.stride, 0, module.dilation, module.groups)


def _transposed(site: Site) -> Iterator[Variant]:
    """The kernel with two equal axes swapped: the module's own, and any matrix handed to the function called."""
    weight = getattr(site.module, "weight", None)
    if site.module is not None and site.given is not None and weight is not None:
        kept = weight.detach().clone()
        for swap in _swaps(kept):
            try:
                weight.copy_(kept.transpose(*swap))
                yield "kernel-transposed", _SWAPPED.format(*swap), site.module(site.given)
            finally:
                weight.copy_(kept)
    call: Any = site.call or (None, (), {})
    function, args, kwargs = call
    for place, value in enumerate(args[1:], start=1):
        if isinstance(value, torch.Tensor) and not isinstance(function, torch.nn.Module):
            for swap in _swaps(value):
                changed = [*args[:place], value.transpose(*swap), *args[place + 1 :]]
                yield "kernel-transposed", _SWAPPED.format(*swap), function(*changed, **kwargs)


_SWAPPED = "axes {} and {} of the kernel swapped"


def _swaps(weight: Any) -> list[tuple[int, int]]:
    pairs = [(0, 1)] if weight.dim() == 2 else [(-1, -2), (0, 1)] if weight.dim() > 2 else []
    return [pair for pair in pairs if weight.shape[pair[0]] == weight.shape[pair[1]]]


def _activation(site: Site) -> Iterator[Variant]:
    if site.before is None or site.event["kind"] != "out":
        return
    known = site.event.get("activation") or ""
    names = sorted(ACTIVATIONS, key=lambda name: not (known and name.startswith(known)))
    for name in names:
        yield "activation", f"Keras applies {name} here", ACTIVATIONS[name](site.before)


def _flattened(site: Site) -> Iterator[Variant]:
    if site.before is None or len(site.expected.shape) != 2 or site.before.dim() < 3:
        return
    moved = site.before.movedim(1, -1)
    yield "flatten-order", "permute to channels last before flattening", moved.flatten(1)


def channels_first(tensor: Any, channels: int) -> Any:
    """A batch of images with its channel axis second, wherever it was."""
    if tensor.shape[1] == channels and tensor.shape[-1] != channels:
        return tensor
    return tensor.movedim(-1, 1) if tensor.shape[-1] == channels else tensor
