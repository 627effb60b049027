"""What every Keras layer computes in one eager call, and dropout: which rates are at work, and switching it off.

An event is one result: the output of a layer (`out`), or what goes into the activation that a layer applies itself
(`pre`), so that it can be compared with PyTorch code that applies the activation apart.
"""

from __future__ import annotations

import functools
from typing import Any, Callable, Sequence

import numpy as np
import tensorflow as tf

from . import loading
from .tensorflow_model import Model

keras = tf.keras
_DROPOUTS = ("Dropout", "SpatialDropout1D", "SpatialDropout2D", "SpatialDropout3D", "AlphaDropout", "GaussianDropout")
_NOISE = {"GaussianNoise": "stddev", **dict.fromkeys(_DROPOUTS, "rate")}


class Trace:
    """While active, records every layer's outputs of eager calls; `events` are JSON facts, `arrays` their values."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.events: list[dict[str, Any]] = []
        self.arrays: list[np.ndarray] = []
        self._tensors: list[Any] = []
        self._inputs: list[Any] = []  # of the calls that are under way, innermost last
        self._restore: list[Callable[[], None]] = []

    def __enter__(self) -> Trace:
        for layer in [*self.model.layers, *_operations(self.model.layers)]:
            self._replace(layer, "call", self._watched(layer, layer.call))
            activation = getattr(layer, "activation", None)
            if callable(activation) and not hasattr(layer, "cell") and not hasattr(layer, "state_size"):
                self._replace(layer, "activation", self._before(layer, activation))
        return self

    def __exit__(self, *_: Any) -> None:
        for restore in reversed(self._restore):
            restore()

    def _replace(self, layer: Any, name: str, new: Any) -> None:
        old = vars(layer).get(name, None)
        object.__setattr__(layer, name, new)
        self._restore.append(
            lambda: object.__setattr__(layer, name, old) if old is not None else object.__delattr__(layer, name)
        )

    def _watched(self, layer: Any, call: Callable[..., Any]) -> Callable[..., Any]:
        def watched(*args: Any, **kwargs: Any) -> Any:
            start = len(self.events)
            self._inputs.append((args, kwargs))
            result = call(*args, **kwargs)
            self._record(layer, "out", result, self._inputs.pop(), start)
            return result

        return watched

    def _before(self, layer: Any, activation: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(activation)
        def before(value: Any, *args: Any, **kwargs: Any) -> Any:
            if getattr(activation, "__name__", "") != "linear":
                self._record(layer, "pre", value, self._inputs[-1] if self._inputs else (), len(self.events))
            return activation(value, *args, **kwargs)

        return before

    def _record(self, layer: Any, kind: str, result: Any, inputs: Any, start: int) -> None:
        """`start` is the number of events before the layer was called: an own `pre` event is among its parents."""
        known = {id(tensor): index for index, tensor in enumerate(self._tensors)}
        nested = [value for group in inputs for value in (group.values() if isinstance(group, dict) else group)]
        parents = sorted({known[id(leaf)] for _, leaf in loading.leaves(nested) if id(leaf) in known})
        if kind == "out" and start < len(self.events):
            parents = list(range(start, len(self.events)))
        for path, leaf in loading.leaves(result):
            if isinstance(leaf, tf.Tensor) and hasattr(leaf, "numpy") and id(leaf) not in known:
                self._tensors.append(leaf)
                self.arrays.append(leaf.numpy())
                self.events.append(
                    {
                        "layer": layer.name,
                        "class": type(layer).__name__,
                        "activation": _activation(layer),
                        "kind": kind,
                        "leaf": path,
                        "parents": parents,
                    }
                )


def _activation(layer: Any) -> str | None:
    function = vars(layer).get("activation")
    function = getattr(function, "__wrapped__", function)
    return getattr(function, "__name__", None)


def _operations(layers: Sequence[Any]) -> list[Any]:
    """The steps of functional models that are no layers, such as `x + y`."""
    known = {id(layer) for layer in layers}
    found = {}
    for layer in layers:
        for operation in getattr(layer, "_operations", None) or []:
            if id(operation) not in known and hasattr(operation, "call"):
                found[id(operation)] = operation
    return list(found.values())


def active_dropout(model: Model, arrays: Sequence[np.ndarray]) -> list[tuple[str, float]]:
    """The dropout layers that a training call runs, with their rates, in order; rates of zero do not count."""
    rates: list[tuple[str, float]] = []
    restore = []
    for layer in model.layers:
        if type(layer).__name__ in _DROPOUTS:
            call, rate = layer.call, (layer.name, float(layer.rate))

            def counted(*args: Any, _call: Any = call, _rate: tuple[str, float] = rate, **kwargs: Any) -> Any:
                rates.append(_rate)
                return _call(*args, **kwargs)

            object.__setattr__(layer, "call", counted)
            restore.append(layer)
    try:
        model(arrays, training=True)
    finally:
        for layer in restore:
            object.__delattr__(layer, "call")
    return [rate for rate in rates if rate[1] > 0]


def silence_dropout(model: Model) -> list[str]:
    """Set every rate of noise to zero; returns the layers that draw at random in other ways."""
    others = []
    for layer in model.layers:
        kind = type(layer).__name__
        if kind in _NOISE:
            setattr(layer, _NOISE[kind], 0.0)
        for name in ("dropout", "recurrent_dropout", "_dropout"):
            if isinstance(getattr(layer, name, None), float):
                setattr(layer, name, 0.0)
        if kind.startswith("Random"):
            others.append(layer.name)
    return others
