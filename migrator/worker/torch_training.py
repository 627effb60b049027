"""Real training on the PyTorch side, from the TensorFlow side's starting weights, on the same batches.

Request: `ref`, `folder`, `inputs`, `loss`, `optimizer`, `data_file`, `seeds`, `epochs`, `batch`, `metric`, and from
the TensorFlow side `start` (its arrays), `variables`, `form`, `layers_called`; `mapping` where it is known already.
"""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np
import torch

from . import compare, files, mapping, schedule, torch_losses, torch_optimizers, torch_train
from .torch_model import Model
from .torch_side import modules_called

NEAR = 1e-3  # relative, float32: tells a right mapping from a wrong one, judges nothing


def main(request: Mapping[str, Any]) -> dict[str, Any]:
    """`runs`, one a seed. Raises mapping.Unmatched where the weights have no mapping."""
    data = schedule.Data(request["data_file"])
    start = files.read_arrays(request["start"])
    probe = [array[: len(start["probe"])] for array in data.test_x]
    asked = dict(request, tensorflow_form=request["form"])
    entries: list[Any] = list(request.get("mapping") or [])
    runs = []
    for seed in request["seeds"]:
        torch.manual_seed(int(seed))
        model = Model(asked, "float32", probe)
        weights = {n: start[f"{seed}/{n}"] for n in range(len(request["variables"]))}
        entries = entries or _mapping(model, request, probe, weights, start["probe"])
        torch_train.assign(model, entries, weights)
        runs.append(_train(model, data, int(seed), request))
    return {"runs": runs}


def _mapping(
    model: Model, request: Mapping[str, Any], probe: Sequence[Any], weights: Mapping[int, Any], expected: np.ndarray
) -> list[Any]:
    called = modules_called(model, probe)
    tried = mapping.hypotheses(request["variables"], model.tensors(), request["layers_called"], called)
    for entries in tried if len(tried) > 1 else []:
        torch_train.assign(model, entries, weights)
        with torch.no_grad():
            if compare.agrees(expected, model(probe)[0][1].cpu().numpy(), NEAR):
                return entries
    return tried[0]


def _train(model: Model, data: schedule.Data, seed: int, request: Mapping[str, Any]) -> dict[str, Any]:
    assert model.module is not None
    loss = torch_losses.loss_function(request["loss"])
    parameters = [parameter for parameter in model.module.parameters() if parameter.requires_grad]
    optimizer = torch_optimizers.optimizer_named(request["optimizer"], parameters)

    def step(inputs: Sequence[np.ndarray], target: np.ndarray) -> float:
        value = torch_train.total_loss(model, loss, inputs, [model.tensor(target)], training=True)
        optimizer.zero_grad()
        value.backward()
        optimizer.step()
        return float(value.detach())

    def predict(inputs: Sequence[np.ndarray]) -> np.ndarray:
        with torch.no_grad():
            return np.asarray(model(inputs)[0][1].cpu().numpy())

    return schedule.run(data, seed, request, step, predict)
