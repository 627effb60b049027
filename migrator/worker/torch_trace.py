"""What every PyTorch function computes in one call, with the line of the team's code that asked for it.

An event is one tensor: the result of a function (`relu`, `conv2d`, `permute`, `+`) or of a module. Only calls from the
team's code and from `torch.nn` modules are seen; what functions do inside themselves is not.
"""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np
import torch
from torch.overrides import TorchFunctionMode

from . import loading
from .torch_model import Model, user_place


class Trace(TorchFunctionMode):
    """While active, records the tensors of a call. `events` are facts, `arrays` their values, `inputs` what went in."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model
        self.events: list[dict[str, Any]] = []
        self.arrays: list[np.ndarray] = []
        self.calls: list[Any] = []  # (function, args, kwargs) of each event, for experiments
        self._stack: list[str] = [""]
        self._hooks: list[Any] = []

    def __enter__(self) -> Any:
        for name, module in self.model.modules:
            self._hooks.append(module.register_forward_pre_hook(self._entering(name)))
            self._hooks.append(module.register_forward_hook(self._leaving(name)))
        return super().__enter__()  # type: ignore[no-untyped-call]

    def __exit__(self, *problem: Any) -> None:
        super().__exit__(*problem)  # type: ignore[no-untyped-call]
        for hook in self._hooks:
            hook.remove()

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = getattr(func, "__name__", str(func))
        if name not in ("detach", "numpy", "clone", "cpu") and not name.startswith("register_"):
            self._record(name, result, (func, args, kwargs or {}))
        return result

    def _entering(self, name: str) -> Any:
        def entering(module: Any, inputs: Any) -> None:
            self._stack.append(name)

        return entering

    def _leaving(self, name: str) -> Any:
        def leaving(module: Any, inputs: Any, output: Any) -> None:
            self._stack.pop()
            self._record(type(module).__name__, output, (module, inputs, {}), name)

        return leaving

    def _record(self, function: str, result: Any, call: Any, module: Any = None) -> None:
        place = user_place()
        for _, leaf in loading.leaves(result):
            if type(leaf) is torch.Tensor or isinstance(leaf, torch.nn.Parameter):
                self.arrays.append(_array(leaf))
                self.calls.append(call)
                self.events.append(
                    {
                        "function": function,
                        "module": self._stack[-1] if module is None else module,
                        "whole": module is not None,
                        "file": place[0] if place else "",
                        "line": place[1] if place else 0,
                    }
                )


def _array(tensor: Any) -> np.ndarray:
    with torch._C.DisableTorchFunction():
        found: np.ndarray = tensor.detach().cpu().numpy().copy()
    return found


def traced(model: Model, inputs: Sequence[np.ndarray]) -> Trace:
    """The trace of one call in inference mode."""
    tensors = [model.tensor(array) for array in inputs]
    trace = Trace(model)
    with torch.no_grad(), trace:
        model(tensors)
    return trace
