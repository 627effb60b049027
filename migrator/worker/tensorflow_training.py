"""Real training on the TensorFlow side, in graph mode: the pair's loss and optimizer, once for each seed.

Request: as `tensorflow_side`, and `data_file`, `seeds`, `epochs`, `batch`, `metric`, `optimizer`. First it leaves
`start.safetensors` with every seed's starting weights (`<seed>/<n>`) and the first model's `probe` outputs, then
`start.json`, what the PyTorch side must know to begin: it names that file. Then it trains.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np
import tensorflow as tf

from . import files, schedule
from . import tensorflow_train as training
from .tensorflow_model import Model, describe
from .tensorflow_trace import Trace

keras = tf.keras
PROBE = 16  # samples on which the mapping of the weights is settled


def main(request: Mapping[str, Any]) -> dict[str, Any]:
    """`runs`, one a seed."""
    data = schedule.Data(request["data_file"])
    probe = [array[:PROBE] for array in data.test_x]
    arrays, facts = _starts(request, probe)
    file = Path(request["out"], "start.safetensors")
    files.write_arrays(file, arrays)
    gpu = bool(tf.config.list_physical_devices("GPU"))
    files.write_json(Path(request["out"], "start.json"), dict(facts, start=str(file), gpu=gpu))
    runs = []
    for seed in request["seeds"]:
        _seed(int(seed))
        model = Model(request, "float32", probe)
        for n, variable in enumerate(model.variables):
            variable.assign(arrays[f"{seed}/{n}"])
        runs.append(_train(model, data, int(seed), request))
    return {"runs": runs}


def _starts(request: Mapping[str, Any], probe: Sequence[Any]) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """A fresh model's weights for each seed, no model kept; of the first its outputs, `variables`, `form`, layers."""
    arrays: dict[str, np.ndarray] = {}
    facts: dict[str, Any] = {}
    for seed in request["seeds"]:
        _seed(int(seed))
        model = Model(request, "float32", probe)
        arrays.update({f"{seed}/{n}": variable.numpy() for n, variable in enumerate(model.variables)})
        if not facts:
            with Trace(model) as trace:
                arrays["probe"] = model(probe)[0][1].numpy()
            facts = {"variables": describe(model), "form": model.form}
            facts["layers_called"] = list(dict.fromkeys(event["layer"] for event in trace.events))
    return arrays, facts


def _seed(seed: int) -> None:
    tf.random.set_seed(seed)
    np.random.seed(seed)
    if hasattr(keras.utils, "set_random_seed"):
        keras.utils.set_random_seed(seed)


def _train(model: Model, data: schedule.Data, seed: int, request: Mapping[str, Any]) -> dict[str, Any]:
    loss = training.loss_function(request["loss"])
    optimizer = optimizer_named(request["optimizer"])
    variables = [variable.raw for variable in model.trainable()]

    def step(inputs: Any, target: Any) -> Any:
        with tf.GradientTape() as tape:
            value = training.total_loss(model, loss, inputs, [target], training=True)
        found = tape.gradient(value, [variable.tensor() for variable in model.trainable()])
        optimizer.apply_gradients(zip(found, variables))
        return value

    graph = tf.function(step)
    predict = tf.function(lambda inputs: model(inputs)[0][1])

    def tensors(inputs: Any) -> list[Any]:
        return [model.tensor(array) for array in inputs]

    return schedule.run(
        data,
        seed,
        request,
        lambda inputs, target: float(graph(tensors(inputs), model.tensor(target))),
        lambda inputs: np.asarray(predict(tensors(inputs)).numpy()),
    )


def optimizer_named(named: Mapping[str, Any]) -> Any:
    """A Keras optimizer by class name. Raises ValueError where this Keras has none of that name."""
    kind = getattr(keras.optimizers, named["name"], None)
    if kind is None:
        raise ValueError("this Keras has no optimizer {!r}".format(named["name"]))
    return kind(**named.get("arguments", {}))
