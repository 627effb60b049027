"""Which samples each training step sees, the same on both sides, and how a run's curves are collected."""

from __future__ import annotations

import time
from typing import Any, Callable, Iterator, Mapping, Sequence

import numpy as np

from . import drawing, files, scores


class Data:
    """The arrays that `data_side` made. Floating inputs are float32."""

    def __init__(self, path: str) -> None:
        arrays = files.read_arrays(path)
        self.train_x, self.train_y = _inputs(arrays, "train"), arrays["train/y"]
        self.test_x, self.test_y = _inputs(arrays, "test"), arrays["test/y"]

    def batches(self, seed: int, epoch: int, size: int) -> Iterator[Any]:
        """(inputs, target) of every step of an epoch, in the order of a permutation drawn from seed and epoch."""
        order = drawing.permutation(seed, f"epoch/{epoch}", len(self.train_y))
        for start in range(0, len(order), size):
            chosen = order[start : start + size]
            yield [array[chosen] for array in self.train_x], self.train_y[chosen]

    def test_parts(self, size: int = 256) -> Iterator[Sequence[np.ndarray]]:
        """The held-out inputs in parts."""
        for start in range(0, len(self.test_y), size):
            yield [array[start : start + size] for array in self.test_x]


def _inputs(arrays: Mapping[str, np.ndarray], part: str) -> list[np.ndarray]:
    names = [name for name in arrays if name.startswith(part + "/x/")]
    return [arrays[name] for name in sorted(names, key=lambda name: int(name.rpartition("/")[2]))]


def run(
    data: Data,
    seed: int,
    request: Mapping[str, Any],
    step: Callable[[Sequence[np.ndarray], np.ndarray], float],
    predict: Callable[[Sequence[np.ndarray]], np.ndarray],
) -> dict[str, Any]:
    """Train for `epochs` and score after each: `curves` (`loss`, `test_<metric>`), `test`, `seconds`.

    `step` takes a batch and returns its loss; `predict` takes inputs and returns outputs. `loss` is the mean over the
    epoch's samples, taken while the weights change, as Keras reports it.
    """
    score = scores.SCORES[request["metric"]]
    name = "test_" + request["metric"]
    curves: dict[str, list[float]] = {"loss": [], name: []}
    started = time.monotonic()
    for epoch in range(int(request["epochs"])):
        total = 0.0
        for inputs, target in data.batches(seed, epoch, int(request["batch"])):
            total += float(step(inputs, target)) * len(target)
        curves["loss"].append(total / len(data.train_y))
        outputs = np.concatenate([predict(part) for part in data.test_parts()])
        curves[name].append(score(outputs, data.test_y))
    return {"seed": seed, "curves": curves, "test": curves[name][-1], "seconds": time.monotonic() - started}
