"""The inputs and targets of a check, the same on both sides: drawn from the seed, or read from the user's file."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from . import drawing, files, loading

COUNT = 4  # batches that training steps go round


def inputs(request: Mapping[str, Any], number: int) -> list[np.ndarray]:
    """The input arrays of batch `number`, in call order. Batch 0 is the one that outputs are compared on."""
    if request.get("data"):
        return _from_file(request)
    return loading.arrays(request["inputs"], request["sizes"], int(request["seed"]), f"batch/{number}/input")


def targets(request: Mapping[str, Any], shapes: Sequence[tuple[int, ...]], number: int) -> list[np.ndarray]:
    """The target arrays of batch `number`: by the target's SPEC, else normal ones with the floating outputs' shapes."""
    seed = int(request["seed"])
    stream = f"batch/{number}/target"
    if request.get("target"):
        return loading.arrays([request["target"]], request["sizes"], seed, stream)
    return [drawing.normal(seed, f"{stream}/{index}", shape) for index, shape in enumerate(shapes)]


def _from_file(request: Mapping[str, Any]) -> list[np.ndarray]:
    """By name where the inputs are named and all names are there, else in the file's order."""
    arrays = files.read_arrays(request["data"])
    names = [spec.get("name") for spec in request["inputs"]]
    if all(name in arrays for name in names):
        return [arrays[str(name)] for name in names]
    return [arrays[name] for name in sorted(arrays, key=lambda name: int(name))]
