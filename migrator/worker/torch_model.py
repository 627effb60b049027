"""The PyTorch side's model: built in a given precision, its modules and tensors listed in order of construction.

Every module remembers the line of the team's code that constructed it, so that a fault can be shown where it is
mended. Lazy modules are settled by one call before anything is listed.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence, Tuple

import numpy as np
import torch

from . import loading

HERE = Path(__file__).resolve().parent
TORCH = Path(torch.__file__).resolve().parent
Place = Tuple[str, int]  # file and line
DTYPES = {"float64": torch.float64, "float32": torch.float32}


class Model:
    """One built model. `precision` is `float64` or `float32`; floating arrays are cast to it before a call."""

    def __init__(self, request: Mapping[str, Any], precision: str, arrays: Sequence[np.ndarray]) -> None:
        self.precision = precision
        self.device = device(request.get("device", "cpu"))
        self.names = [spec.get("name") for spec in request["inputs"]]
        torch.set_default_dtype(DTYPES[precision])
        self.created: list[Any] = []
        self.places: dict[int, Place] = {}
        factory = loading.load(request["ref"], request["folder"])
        with noticing_modules(self.created, self.places):
            built = factory(**request.get("arguments", {}))
            if not callable(built):
                raise TypeError("{} returned {!r}, which cannot be called".format(request["ref"], built))
            self.module = built if isinstance(built, torch.nn.Module) else None
            self.function = built
            self.form = request.get("torch_call") or self._form(len(arrays), request.get("tensorflow_form"))
            if self.module is not None:
                self.module.to(self.device).to(DTYPES[precision]).eval()
                with torch.no_grad():
                    self(arrays)  # lazy modules take their sizes from this call
        self.modules = self._modules()

    def __call__(self, arrays: Sequence[Any], training: bool = False) -> list[tuple[str, Any]]:
        """The output's leaves with their paths; leaves that are no tensors become tensors."""
        if self.module is not None:
            self.module.train(training)
        args, kwargs = loading.arranged([self.tensor(array) for array in arrays], self.names, self.form)
        found = loading.leaves(_plain(self.function(*args, **kwargs)))
        return [(path, leaf if isinstance(leaf, torch.Tensor) else torch.as_tensor(leaf)) for path, leaf in found]

    def tensor(self, array: Any) -> Any:
        """A tensor on the device; floating ones in this model's precision. Tensors pass through unchanged."""
        if isinstance(array, torch.Tensor):
            return array
        tensor = torch.as_tensor(np.ascontiguousarray(array), device=self.device)
        return tensor.to(DTYPES[self.precision]) if tensor.is_floating_point() else tensor

    def penalty(self) -> Any | None:
        """What the model's `penalty()` adds to the loss; None where it has no such method."""
        method = getattr(self.module, "penalty", None)
        return method() if callable(method) else None

    def tensors(self) -> list[dict[str, Any]]:
        """Facts of every parameter and buffer, in order of construction of their modules; shared ones once."""
        found = []
        seen = set()
        for name, module in self.modules:
            held = [(role, tensor, False) for role, tensor in module._parameters.items()]
            held += [(role, tensor, True) for role, tensor in module._buffers.items()]
            for role, tensor, buffer in held:
                if tensor is not None and id(tensor) not in seen:
                    seen.add(id(tensor))
                    found.append(_facts(name, module, role, tensor, buffer))
        return found

    def get(self, path: str) -> Any:
        """The parameter or buffer of a path such as `blocks.0.weight`."""
        name, _, role = path.rpartition(".")
        return getattr(self.module.get_submodule(name) if self.module is not None else None, role)

    def _modules(self) -> list[tuple[str, Any]]:
        if self.module is None:
            return []
        order = {id(module): place for place, module in enumerate(self.created)}
        return sorted(self.module.named_modules(), key=lambda item: order.get(id(item[1]), len(order)))

    def _form(self, count: int, tensorflow_form: str | None) -> str:
        function = self.module.forward if self.module is not None else self.function
        form = loading.form_for(function, count, self.names)
        return tensorflow_form if form in ("list", "dict") and tensorflow_form in ("list", "tuple", "dict") else form


def device(name: str) -> Any:
    """The device that `auto`, `cpu` or `cuda` means here. Raises ValueError where it is not there."""
    if name == "cuda" and not torch.cuda.is_available():
        raise ValueError("this PyTorch sees no CUDA device; use --device auto or cpu")
    return torch.device("cuda" if name != "cpu" and torch.cuda.is_available() else "cpu")


class noticing_modules:
    """While active, constructed modules are appended to `created`, and their places noted by identity."""

    def __init__(self, created: list[Any], places: dict[int, Place]) -> None:
        self.created = created
        self.places = places
        self.original: Callable[..., None] = torch.nn.Module.__init__

    def __enter__(self) -> None:
        original, created, places = self.original, self.created, self.places

        def noticed(module: Any, *args: Any, **kwargs: Any) -> None:
            created.append(module)
            place = user_place(module)
            if place is not None:
                places[id(module)] = place
            original(module, *args, **kwargs)

        setattr(torch.nn.Module, "__init__", noticed)  # noqa: B010 - a plain assignment needs a narrower signature

    def __exit__(self, *_: Any) -> None:
        setattr(torch.nn.Module, "__init__", self.original)  # noqa: B010


def user_place(skip: Any = None) -> Place | None:
    """File and line of the innermost frame of the team's code; frames of `skip`'s own constructor do not count."""
    frame: Any = sys._getframe(1)
    while frame is not None:
        path = Path(frame.f_code.co_filename)
        own = HERE in path.parents or TORCH in path.parents or "<" in frame.f_code.co_filename
        inside = skip is not None and frame.f_code.co_name == "__init__" and frame.f_locals.get("self") is skip
        if not own and not inside and "site-packages" not in path.parts and "importlib" not in path.parts:
            return str(path), frame.f_lineno
        frame = frame.f_back
    return None


def _facts(name: str, module: Any, role: str, tensor: Any, buffer: bool) -> dict[str, Any]:
    values = tensor.detach()
    first = values.reshape(-1)[0].item() if values.numel() else 0.0
    constant = bool((values == first).all()) if values.numel() else True
    return {
        "path": f"{name}.{role}".lstrip("."),
        "module": name,
        "class": type(module).__name__,
        "library": _from_library(module),
        "role": role,
        "shape": list(tensor.shape),
        "trainable": bool(tensor.requires_grad) and not buffer,
        "buffer": buffer,
        "constant": float(first) if constant else None,
    }


def _from_library(module: Any) -> bool:
    """Whether the module is, or extends, one of torch.nn's own layers, whose layouts are known."""
    bases = [base for base in type(module).__mro__ if base.__module__.startswith("torch.nn.modules.")]
    return any(base is not torch.nn.Module for base in bases)


def _plain(value: Any) -> Any:
    """Named results (dataclasses, `ModelOutput`s) as dicts; everything else as it is."""
    fields = getattr(value, "__dataclass_fields__", None)
    if fields is not None and not isinstance(value, Mapping):
        return {name: getattr(value, name) for name in fields}
    return value
