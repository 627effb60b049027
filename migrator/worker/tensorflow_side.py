"""The TensorFlow side of a record: one process that builds the model in both precisions and computes everything.

Request: `ref`, `folder`, `inputs` (parsed SPECs), `target`, `sizes`, `seed`, `checks`, and optionally `call`,
`arguments`, `loss`, `weights` (a checkpoint), `data` (a safetensors file with real inputs). Leaves
`arrays.safetensors` and returns facts. Array names: `<precision>/<what>/<which>`; what is `output`, `training`,
`event`, `gradient`, `trained`, `nudged` (trained from weights one rounding apart).
"""

from __future__ import annotations

import hashlib
import os
import platform
import re
from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np
import tensorflow as tf

from . import batches, files, loading, moved_state, tensorflow_initial
from . import tensorflow_train as training
from .tensorflow_model import Model, describe
from .tensorflow_trace import Trace, active_dropout, silence_dropout

STEPS = 20


def main(request: Mapping[str, Any]) -> dict[str, Any]:
    """Compute the record; see the module's text."""
    if hasattr(tf.config.experimental, "enable_tensor_float_32_execution"):
        tf.config.experimental.enable_tensor_float_32_execution(False)
    work = Recording(request)
    work.in_float64()
    work.in_float32()
    files.write_arrays(Path(request["out"], "arrays.safetensors"), work.arrays)
    return work.facts


class Recording:
    """What one request has produced so far."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self.request = request
        self.seed = int(request["seed"])
        self.checks = set(request["checks"])
        self.arrays: dict[str, np.ndarray] = {}
        self.facts: dict[str, Any] = {"versions": _versions(), "double": None}
        self.inputs = batches.inputs(request, 0)
        self.start: list[np.ndarray] = []
        self.fresh: list[np.ndarray] = []  # what the variables start from, before they are moved

    def in_float64(self) -> None:
        """Everything that is judged exactly. A model that refuses float64 is noted, with why."""
        try:
            model = Model(self.request, "float64", self.inputs)
        except (TypeError, ValueError, tf.errors.InvalidArgumentError, AttributeError) as error:
            self.facts["double"] = short(error)
            return
        single = [path for path, leaf in model(self.inputs) if leaf.dtype == tf.float32]
        if single:
            self.facts["double"] = f"its output {single[0]} stays single precision"
        else:
            self._study(model)

    def in_float32(self) -> None:
        """TensorFlow's own single precision, which sets the noise floor, and the ONNX export."""
        model = Model(self.request, "float32", self.inputs)
        if self.facts["double"]:
            self._study(model)
        elif "init" in self.checks:
            self.facts["initial"], arrays = tensorflow_initial.describe(model, self.fresh)
            self._keep("initial", arrays)
        self._move(model)
        silence_dropout(model)
        outputs = model(self.inputs)
        self._keep("float32/output", _numpy(outputs))
        self.facts["outputs"] = [
            {"path": path, "shape": [int(size) for size in leaf.shape], "dtype": leaf.dtype.name}
            for path, leaf in outputs
        ]
        if "onnx" in self.checks:
            from . import tensorflow_onnx

            self.facts["onnx"] = tensorflow_onnx.export(model, self.inputs, Path(self.request["out"]))

    def _study(self, model: Model) -> None:
        """Facts, outputs, gradients and training of a model in the precision that is judged."""
        self._describe(model)
        if "init" in self.checks and self.facts["double"]:
            self.facts["initial"], arrays = tensorflow_initial.describe(model, self.fresh)
            self._keep("initial", arrays)
        self._move(model)
        dropout = active_dropout(model, self.inputs)
        self.facts["dropout"] = [rate for _, rate in dropout]
        self.facts["dropout_layers"] = [name for name, _ in dropout]
        self.facts["random"] = silence_dropout(model)
        self._move(model)
        self._forward(model)
        if self.facts["double"]:  # no exact truth: rounding alone is measured from weights one rounding apart
            self._move(model, nudged=True)
            self._outputs(model, "nudged-")
        if self.checks & {"train", "state"}:
            self._train(model)

    def _describe(self, model: Model) -> None:
        self.facts["variables"] = describe(model)
        self.facts["form"] = model.form
        self.facts["sources"] = _sources(self.request)
        stored = bool(self.request.get("weights"))
        for index, variable in enumerate(model.variables):
            initial = variable.numpy()
            self.fresh.append(initial)
            rule = {"kind": "stored"} if stored else moved_state.rule_for(initial)
            self.facts["variables"][index]["rule"] = rule
            if stored:
                self.arrays[f"weight/{index}"] = initial
            self.start.append(initial if stored else moved_state.values(rule, variable.shape, self.seed, index))

    def _move(self, model: Model, nudged: bool = False) -> None:
        if len(model.variables) != len(self.start):
            raise RuntimeError("the model has another number of variables each time it is built")
        for index, (variable, value) in enumerate(zip(model.variables, self.start)):
            exact = value.astype(variable.dtype)
            variable.assign(moved_state.nudged(exact, self.seed, index) if nudged else exact)

    def _forward(self, model: Model) -> None:
        with Trace(model) as trace:
            model(self.inputs)
        self.facts["events"] = trace.events
        self._keep(model.precision + "/event", {str(index): array for index, array in enumerate(trace.arrays)})
        self.facts["penalty"] = float(sum(np.sum(np.asarray(term)) for term in model.losses()))
        self.facts["regularised"] = len(model.losses())
        self._outputs(model)

    def _outputs(self, model: Model, prefix: str = "") -> None:
        """Outputs in both modes and gradients, from the weights as they are."""
        start = f"{model.precision}/{prefix}"
        self._keep(start + "output", _numpy(model(self.inputs)))
        if "gradient" in self.checks:
            loss = training.loss_function(self.request.get("loss"))
            self._keep(start + "gradient", training.gradients(model, loss, self.inputs, self._targets(model, 0)))
        self._keep(start + "training", _numpy(model(self.inputs, training=True)))

    def _train(self, model: Model) -> None:
        loss = training.loss_function(self.request.get("loss"))
        parts = [(batches.inputs(self.request, k), self._targets(model, k)) for k in range(batches.COUNT)]
        for rate in training.RATES:
            self._move(model)
            found = training.train(model, loss, parts, STEPS, rate)
            if training.settles(found["losses"]):
                break
        self.facts["training"] = {"rate": rate, "steps": STEPS, "settled": training.settles(found["losses"])}
        self._keep(model.precision + "/trained", found)
        self._move(model, nudged=True)
        self._keep(model.precision + "/nudged", training.train(model, loss, parts, STEPS, rate))

    def _targets(self, model: Model, number: int) -> Sequence[Any]:
        shapes = [tuple(leaf.shape) for _, leaf in model(self.inputs) if leaf.dtype.is_floating]
        return [model.tensor(target) for target in batches.targets(self.request, shapes, number)]

    def _keep(self, prefix: str, arrays: Mapping[str, np.ndarray]) -> None:
        for name, array in arrays.items():
            self.arrays[f"{prefix}/{name}"] = np.asarray(array)


def short(error: BaseException) -> str:
    """The kind of an error, its first line, and the first further one that speaks of precision."""
    plain = re.sub(r"\x1b\[[0-9;]*m", "", str(error))
    lines = [line.strip() for line in plain.splitlines() if line.strip() and "in user code" not in line]
    more = [line for line in lines[1:] if re.search("float|double|half", line)]
    return f"{type(error).__name__}: {' '.join(lines[:1] + more[:1])}"


def _numpy(outputs: Sequence[Any]) -> dict[str, np.ndarray]:
    return {path: leaf.numpy() for path, leaf in outputs}


def _versions() -> dict[str, str]:
    keras_version = getattr(tf.keras, "__version__", "") or getattr(tf.keras, "version", lambda: "")()
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "tensorflow": tf.__version__,
        "keras": str(keras_version),
    }


def _sources(request: Mapping[str, Any]) -> dict[str, str]:
    """SHA-256 of every file of the team's that building the model imported, by path relative to the folder."""
    folder = Path(request["folder"]).resolve()
    root = Path(request["root"]).resolve() if request.get("root") else folder
    found = {}
    for path in sorted({*loading.imported_files(root), *loading.imported_files(folder)}):
        found[_relative(Path(path), folder)] = hashlib.sha256(Path(path).read_bytes()).hexdigest()
    return found


def _relative(path: Path, folder: Path) -> str:
    return os.path.relpath(str(path), str(folder)).replace(os.sep, "/")
