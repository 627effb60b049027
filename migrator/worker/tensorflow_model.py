"""The TensorFlow side's model: built in a given precision, its layers and variables listed, callable on arrays.

Takes Keras models of any style, bare layers, `tf.Module`s and plain functions. Layers are listed in the order in
which the code constructed them, which is the order that a PyTorch twin's modules follow too.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

import numpy as np
import tensorflow as tf

from . import loading

keras = tf.keras
_COUNTERS = ("seed_generator_state", "iteration", "iterations")


class Model:
    """One built model. `precision` is `float64` or `float32`; floating arrays are cast to it before a call."""

    def __init__(self, request: Mapping[str, Any], precision: str, arrays: Sequence[np.ndarray]) -> None:
        self.precision = precision
        self.names = [spec.get("name") for spec in request["inputs"]]
        keras.backend.clear_session()
        keras.backend.set_floatx(precision)
        self.created: list[Any] = []
        loading.forget(Path(request["folder"]).resolve())
        loading.forget(_root(request["ref"], request["folder"]))
        factory = loading.load(request["ref"], request["folder"])
        with _noticing_layers(self.created):
            self.call_model = factory(**request.get("arguments", {}))
            self.form = request.get("call") or self._form(len(arrays))
            if not callable(self.call_model):
                raise TypeError("{} returned {!r}, which cannot be called".format(request["ref"], self.call_model))
            self(arrays)  # subclassed models and bare layers make their variables in the first call
        self.layers = _layers(self.call_model, self.created)
        self.variables = _variables(self.call_model, self.layers)
        if precision == "float64":
            _exact_regularisers(self.layers)
        if request.get("weights"):
            self.call_model.load_weights(str(Path(request["folder"], request["weights"])))

    def __call__(self, arrays: Sequence[Any], training: bool = False) -> list[tuple[str, Any]]:
        """The output's leaves with their paths, from one array or tensor per input."""
        args, kwargs = loading.arranged([self.tensor(array) for array in arrays], self.names, self.form)
        if self._takes_training():
            kwargs["training"] = training
        return loading.leaves(self.call_model(*args, **kwargs))

    def tensor(self, array: Any) -> Any:
        """A tensor; floating ones in this model's precision. Tensors pass through unchanged."""
        if isinstance(array, np.ndarray) and array.dtype.kind == "f":
            array = array.astype(self.precision)
        return tf.convert_to_tensor(array)

    def losses(self) -> list[Any]:
        """What regularisers add to the loss, as scalars; empty where the model knows none."""
        return list(getattr(self.call_model, "losses", None) or [])

    def trainable(self) -> list[Variable]:
        """The variables that training changes, in this model's order."""
        return [variable for variable in self.variables if variable.trainable]

    def _takes_training(self) -> bool:
        if isinstance(self.call_model, keras.layers.Layer):
            return True
        try:
            return "training" in inspect.signature(self.call_model).parameters
        except (TypeError, ValueError):
            return False

    def _form(self, count: int) -> str:
        model = self.call_model
        if count == 1:
            return "single"
        if isinstance(model, keras.Model) and isinstance(getattr(model, "_inputs_struct", None), dict):
            return "dict"
        if isinstance(model, keras.Model) and getattr(model, "inputs", None):
            return "list"
        return loading.form_for(getattr(model, "call", model), count, self.names)


class Variable:
    """One variable with where it lives: `layer` and `kind` (class) of its owner, `role` such as `kernel`."""

    def __init__(self, raw: Any, layer: Any | None, path: str, role: str, layer_path: str, trainable: bool) -> None:
        self.raw = raw
        self.layer = layer
        self.path = path
        self.role = role
        self.layer_path = layer_path
        self.trainable = trainable
        self.shape = tuple(int(size) for size in raw.shape)

    @property
    def dtype(self) -> np.dtype:
        """The NumPy dtype of its values."""
        found: np.dtype = np.dtype(getattr(self.raw.dtype, "as_numpy_dtype", self.raw.dtype))
        return found

    def numpy(self) -> np.ndarray:
        """Its value now."""
        return np.asarray(tf.convert_to_tensor(self.raw))

    def assign(self, array: np.ndarray) -> None:
        """Set its value, cast to its own dtype."""
        self.raw.assign(array.astype(self.dtype))

    def tensor(self) -> Any:
        """The framework's own variable, as a gradient tape wants it."""
        return getattr(self.raw, "value", self.raw) if not isinstance(self.raw, tf.Variable) else self.raw


class _noticing_layers:
    """While active, every Keras layer that is constructed is appended to the list."""

    def __init__(self, created: list[Any]) -> None:
        self.created = created
        self.original: Callable[..., None] = keras.layers.Layer.__init__

    def __enter__(self) -> None:
        original, created = self.original, self.created

        def noticed(layer: Any, *args: Any, **kwargs: Any) -> None:
            created.append(layer)
            original(layer, *args, **kwargs)

        noticed.__signature__ = inspect.signature(original)  # type: ignore[attr-defined]
        keras.layers.Layer.__init__ = noticed

    def __exit__(self, *_: Any) -> None:
        keras.layers.Layer.__init__ = self.original


def _exact_regularisers(layers: Sequence[Any]) -> None:
    """Keras casts a regulariser's factor through float32 on its way to float64, an error of 1e-8; NumPy's float64
    takes the straight way."""
    for layer in layers:
        for name, regulariser in list(vars(layer).items()):
            if name.endswith("_regularizer") and type(regulariser).__module__.split(".")[0] in ("keras", "tf_keras"):
                for factor in ("l1", "l2"):
                    if isinstance(getattr(regulariser, factor, None), float):
                        setattr(regulariser, factor, np.float64(getattr(regulariser, factor)))


def _root(ref: str, folder: str) -> Path:
    target = ref.rpartition(":")[0]
    return Path(folder, target).resolve().parent if target.endswith(".py") else Path(folder).resolve()


def _layers(model: Any, created: Sequence[Any]) -> list[Any]:
    """The model's layers, itself included, in order of construction; those made elsewhere keep their own order."""
    if isinstance(model, keras.layers.Layer):
        found = list(model._flatten_layers())
    elif isinstance(model, tf.Module):
        found = [part for part in model.submodules if isinstance(part, keras.layers.Layer)]
    else:
        found = list(created)
    order = {id(layer): index for index, layer in enumerate(created)}
    unique = list({id(layer): layer for layer in found}.values())
    return sorted(unique, key=lambda layer: order.get(id(layer), len(order)))


def _variables(model: Any, layers: Sequence[Any]) -> list[Variable]:
    found: list[Variable] = []
    seen = set()
    for layer in layers:
        children = {id(raw) for child in _children(layer) for raw in child.weights}
        own = [raw for raw in layer.weights if id(raw) not in children]
        own += [raw for raw in vars(layer).values() if isinstance(raw, tf.Variable) and not _held(raw, layer.weights)]
        for raw in own:
            if id(raw) not in seen and _role(raw) not in _COUNTERS:
                seen.add(id(raw))
                found.append(_variable(raw, layer))
    for raw in getattr(model, "variables", ()) if isinstance(model, tf.Module) else ():
        if not _held(raw, [variable.raw for variable in found]) and _role(raw) not in _COUNTERS:
            found.append(_variable(raw, None))
    return found


def _children(layer: Any) -> list[Any]:
    return list(layer._flatten_layers(recursive=False, include_self=False))


def _held(raw: Any, others: Sequence[Any]) -> bool:
    return any(raw is other or raw is getattr(other, "_value", None) for other in others)


def _variable(raw: Any, layer: Any | None) -> Variable:
    path = str(getattr(raw, "path", raw.name)).split(":")[0]
    trainable = bool(raw.trainable) and (layer is None or bool(layer.trainable))
    owner = path.rpartition("/")[0] if layer is None or "/" in path else layer.name
    return Variable(raw, layer, path, _role(raw), owner, trainable)


def _role(raw: Any) -> str:
    return str(raw.name).split(":")[0].rpartition("/")[2]


def describe(model: Model) -> list[dict[str, Any]]:
    """Facts of every variable in order, as JSON: path, role, layer, class, shape, dtype, whether it is trained."""
    return [
        {
            "path": variable.path,
            "role": variable.role,
            "layer": variable.layer_path,
            "class": type(variable.layer).__name__ if variable.layer is not None else "",
            "owner": index_of(variable.layer, model.layers),
            "shape": list(variable.shape),
            "dtype": str(variable.dtype),
            "trainable": variable.trainable,
            "config": _config(variable.layer),
        }
        for variable in model.variables
    ]


def index_of(layer: Any, layers: Sequence[Any]) -> int:
    """The place of a layer in a list, by identity; -1 where it is not in it."""
    return next((index for index, other in enumerate(layers) if other is layer), -1)


def _config(layer: Any) -> dict[str, Any]:
    """The few settings of a layer that decide how its weights are laid out."""
    names = ("depth_multiplier", "reset_after", "units", "filters", "groups", "epsilon", "momentum", "axis")
    values = {name: getattr(layer, name, None) for name in names}
    return {name: value for name, value in values.items() if isinstance(value, (bool, int, float))}
