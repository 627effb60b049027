"""Runs a rewritten model factory against its original: same weights by order of construction, outputs compared.

Works in one process and without the product's own parity, so that the two do not share their mistakes.
"""

from __future__ import annotations

import importlib.util
import itertools
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

_numbers = itertools.count()


def rewritten(folder: Path, out: Path, **options: Any) -> Any:
    """Rewrites a folder into `out` and hands back what the rewriter says."""
    from migrator.catalogue import load_rules
    from migrator.data import rules_folder
    from migrator.resolve import resolve
    from migrator.rewrite import rewrite
    from migrator.rewrite.writing import write_out
    from migrator.scan import read

    result = rewrite(resolve(read(folder)), load_rules([rules_folder()]), **options)
    write_out(folder, result, out)
    return result


def load(path: Path) -> Any:
    """Imports a file under a name of its own, its folder on the path and its neighbours forgotten before."""
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None) or ""
        if name == "torch_support" or path.parents[1] in Path(file).parents:
            del sys.modules[name]
    sys.path.insert(0, str(path.parent))
    try:
        spec = importlib.util.spec_from_file_location(f"side_{next(_numbers)}", path)
        assert spec is not None
        assert spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(path.parent))


def difference(before: Any, after: Any, inputs: Sequence[np.ndarray[Any, Any]]) -> float:
    """The largest difference of any output over the largest reference, in float64, training mode off."""
    import keras
    import torch

    keras.backend.clear_session()
    keras.backend.set_floatx("float64")
    torch.set_default_dtype(torch.float64)
    try:
        with _keras_layers() as layers:
            model = before()
        with _torch_modules() as modules:
            module = after().eval()
        given = list(inputs) if len(inputs) > 1 else inputs[0]
        model(given, training=False)  # layers without a known input size get their weights now
        _materialise(module, inputs)
        _same_weights(layers, modules)
        expected = model(given, training=False)
        with torch.no_grad():
            got = module(*(torch.from_numpy(array) for array in inputs))
        return _largest(_leaves(expected), _leaves(got))
    finally:
        keras.backend.set_floatx("float32")
        torch.set_default_dtype(torch.float32)


def _materialise(module: Any, inputs: Sequence[np.ndarray[Any, Any]]) -> None:
    import torch

    with torch.no_grad():
        module(*(torch.from_numpy(array) for array in inputs))


def _leaves(outputs: Any) -> list[Any]:
    if isinstance(outputs, Mapping):
        return list(outputs.values())
    return list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]


def _largest(expected: list[Any], got: list[Any]) -> float:
    worst = 0.0
    for one, other in zip(expected, got, strict=True):
        a, b = np.asarray(one), other.numpy()
        assert a.shape == b.shape, f"shapes differ: {a.shape} and {b.shape}"
        assert np.isfinite(a).all()
        assert np.isfinite(b).all()
        worst = max(worst, float(np.abs(a - b).max() / max(np.abs(a).max(), 1e-300)))
    return worst


@contextmanager
def _keras_layers() -> Iterator[list[Any]]:
    import keras

    made: list[Any] = []
    original = keras.layers.Layer.__init__

    def noted(self: Any, *args: Any, **kwargs: Any) -> None:
        made.append(self)
        original(self, *args, **kwargs)

    keras.layers.Layer.__init__ = noted
    try:
        yield made
    finally:
        keras.layers.Layer.__init__ = original


@contextmanager
def _torch_modules() -> Iterator[list[Any]]:
    from torch import nn

    made: list[Any] = []
    original = nn.Module.__init__

    def noted(self: Any, *args: Any, **kwargs: Any) -> None:
        if self not in made:
            made.append(self)
        original(self, *args, **kwargs)

    nn.Module.__init__ = noted  # type: ignore[method-assign]
    try:
        yield made
    finally:
        nn.Module.__init__ = original  # type: ignore[method-assign]


def _same_weights(layers: list[Any], modules: list[Any]) -> None:
    """Random weights, the same on both sides; every layer with weights meets its module in order of construction."""
    import keras
    import torch

    simple = [layer for layer in layers if not isinstance(layer, keras.Model) and layer.weights]
    plain = [module for module in modules if any(True for _ in module.parameters(recurse=False)) and not _lone(module)]
    assert len(simple) == len(plain), f"{len(simple)} layers with weights, {len(plain)} modules"
    rng = np.random.default_rng(0)
    for layer, module in zip(simple, plain, strict=True):
        tensors = dict(itertools.chain(module.named_parameters(recurse=False), module.named_buffers(recurse=False)))
        for weight in layer.weights:
            value = _moved(weight.name, rng.normal(size=weight.shape))
            weight.assign(value)
            name, array = _torch_form(weight.name, value)
            target = tensors.pop(name)
            assert tuple(target.shape) == array.shape, f"{layer.name}.{weight.name}: {target.shape} and {array.shape}"
            with torch.no_grad():
                target.copy_(torch.from_numpy(np.ascontiguousarray(array)))
        rest = {name for name, tensor in tensors.items() if tensor.requires_grad}
        assert not rest, f"{type(module).__name__} has parameters that Keras does not have: {rest}"


def _moved(name: str, value: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Values off the initial ones that keep activations near one: a saturated softmax would hide every mistake."""
    if "variance" in name:
        return np.abs(value) + 0.5
    if name == "gamma":
        return 1 + 0.3 * value
    return value / np.sqrt(np.prod(value.shape[:-1])) if value.ndim > 1 else 0.2 * value


def _lone(module: Any) -> bool:
    """Lazy layers change their class: they are kept under their new one."""
    return type(module).__name__.startswith("Lazy")


def _torch_form(name: str, value: np.ndarray[Any, Any]) -> tuple[str, np.ndarray[Any, Any]]:
    names = {"gamma": "weight", "beta": "bias", "moving_mean": "running_mean", "moving_variance": "running_var"}
    if name in names:
        return names[name], value
    if name == "kernel":
        return "weight", value.T if value.ndim == 2 else np.moveaxis(value, (-1, -2), (0, 1))
    return name, value
