"""What both sides of a proof share: running expressions on arrays and laying the results down for comparison."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import files


class Side:
    """One framework: its names, how an array becomes a tensor and back, and how gradients are taken."""

    def __init__(self, namespace: Mapping[str, Any]) -> None:
        self.namespace = namespace

    def tensor(self, array: np.ndarray) -> Any:
        """A tensor of the array's dtype."""
        raise NotImplementedError

    def array(self, value: Any) -> tuple[np.ndarray, str] | None:
        """Array and dtype name of a tensor; None for anything else."""
        raise NotImplementedError

    def evaluate(self, run: Callable[[], Any], inputs: Sequence[Any]) -> tuple[Any, list[np.ndarray] | None]:
        """The result, and the gradients of its weighted sum; None where no output is differentiable."""
        raise NotImplementedError

    def seed(self) -> None:
        """Fix all random numbers."""
        raise NotImplementedError

    def draw(self) -> float:
        """One random number."""
        raise NotImplementedError


def weights(shape: Sequence[int]) -> np.ndarray:
    """Fixed weights that make a scalar of an output, no two alike, so that no swapped axis goes unseen."""
    size = int(np.prod(shape, dtype=np.int64))
    return np.asarray(np.cos(np.arange(1, size + 1) * 1.7) + 0.1).reshape(tuple(shape))


def leaves(value: Any) -> list[Any]:
    """Outputs in a flat list, through lists and tuples (a shape is a tuple of numbers)."""
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value]


def run(request: Mapping[str, Any], side: Side) -> dict[str, Any]:
    """Run all cases of the request; results go to `outputs.safetensors` and into the facts."""
    arrays = files.read_arrays(request["arrays"])
    outputs: dict[str, np.ndarray] = {}
    results = [_case(index, case, arrays, side, outputs) for index, case in enumerate(request["cases"])]
    files.write_arrays(Path(request["out"], "outputs.safetensors"), outputs)
    return {"results": results}


def _case(
    index: int, case: Mapping[str, Any], arrays: Mapping[str, np.ndarray], side: Side, outputs: dict[str, np.ndarray]
) -> dict[str, Any]:
    try:
        return _evaluated(index, case, arrays, side, outputs)
    except Exception as error:  # whatever an expression raises is a result
        return {"error": f"{type(error).__name__}: {error}".strip().splitlines()[0][:300]}


def _evaluated(
    index: int, case: Mapping[str, Any], arrays: Mapping[str, np.ndarray], side: Side, outputs: dict[str, np.ndarray]
) -> dict[str, Any]:
    given = {
        name: arrays[key].copy() if name in case["plain"] else side.tensor(arrays[key])
        for name, key in case["inputs"].items()
    }
    code = compile(case["code"], "<example>", "eval")
    side.seed()
    if case["proof"] == "effect":
        return {"kinds": [], "gradients": 0, "effect": _effect(code, side)}
    inputs = [given[name] for name in case["differentiable"]]
    value, gradients = side.evaluate(lambda: eval(code, dict(side.namespace, **given)), inputs)
    kinds = []
    for number, leaf in enumerate(leaves(value)):
        found = side.array(leaf)
        array, kind = found if found is not None else _plain(leaf)
        kinds.append(kind)
        outputs[f"{index} out {number}"] = array
    for number, gradient in enumerate(gradients or ()):
        outputs[f"{index} gradient {number}"] = gradient
    return {"kinds": kinds, "gradients": len(gradients or ())}


def _plain(value: Any) -> tuple[np.ndarray, str]:
    if isinstance(value, (np.ndarray, np.generic)):
        return np.asarray(value), np.asarray(value).dtype.name
    if isinstance(value, str):
        return np.frombuffer(value.encode("utf-8"), dtype=np.uint8), "text"
    if isinstance(value, (bool, int, float)):
        return np.asarray(value), "number"
    raise TypeError(f"the result is a {type(value).__name__}, which cannot be compared")


def _effect(code: Any, side: Side) -> bool:
    """Whether running the statement again brings the same random number, and not running it another one."""
    eval(code, dict(side.namespace))
    first, second = side.draw(), side.draw()
    eval(code, dict(side.namespace))
    return first == side.draw() and first != second
