"""The PyTorch side of a check: one process that builds the model, maps the weights and computes what a record holds.

Request: `ref`, `folder`, `record` (a folder with `record.json` and `arrays.safetensors`), `checks`, `device`, and
optionally `torch_call`, `arguments`, `accept` (ids of known differences to remove), `mapping`. Leaves
`arrays.safetensors` with the record's names and returns facts.
"""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any, Mapping, Sequence

import numpy as np
import torch

from . import batches, files, mapping, recorded, torch_initial, torch_losses
from . import torch_train as training
from .torch_differences import REMOVALS
from .torch_model import Model
from .torch_noise import Noise, silence_modules


def main(request: Mapping[str, Any]) -> dict[str, Any]:
    """Compute the PyTorch side; see the module's text."""
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False
    work = Checking(request)
    if work.map():
        work.in_record_precision()
        work.in_float32()
    files.write_arrays(Path(request["out"], "arrays.safetensors"), work.arrays)
    return work.facts


class Checking:
    """What one request has produced so far."""

    def __init__(self, request: Mapping[str, Any]) -> None:
        self.record = recorded.Record(Path(request["record"]))
        self.request = dict(self.record.request, **request, tensorflow_form=self.record.facts.get("form"))
        self.checks = set(request["checks"])
        self.arrays: dict[str, np.ndarray] = {}
        self.facts: dict[str, Any] = {"versions": {"python": platform.python_version(), "torch": torch.__version__}}
        self.inputs = batches.inputs(self.request, 0)
        self.weights = self.record.weights()
        self.shapes = [variable["shape"] for variable in self.record.variables]
        self.noise = Noise()
        self.noise.install()
        self.precision = "float32" if self.record.facts["double"] else "float64"
        self.model = Model(self.request, self.precision, self.inputs)
        self.mapping: list[dict[str, Any]] = []

    def map(self) -> bool:
        """Build facts and the mapping of the weights; whether there is one."""
        self.noise.clear()
        with torch.no_grad():
            self.model(self.inputs, training=True)
        self.facts["dropout"] = list(self.noise.rates)
        self.facts["dropout_places"] = list(self.noise.places)
        self.noise.silent = True
        if self.model.module is not None:
            silence_modules(self.model.module)
        self.facts["tensors"] = self.model.tensors()
        self.facts["places"] = {
            name: self.model.places[id(part)] for name, part in self.model.modules if id(part) in self.model.places
        }
        try:
            self.mapping = choose_mapping(self.model, self.record, self.request, self.inputs)
        except mapping.Unmatched as unmatched:
            self.facts["unmatched"] = unmatched.facts
            return False
        self.facts["mapping"] = self.mapping
        training.assign(self.model, self.mapping, self.weights)
        self.facts["returned"] = self._returned()
        penalty = self.model.penalty()
        self.facts["penalty"] = None if penalty is None else float(penalty)
        return True

    def in_record_precision(self) -> None:
        """Outputs in both modes, gradients and training, in the precision that is judged exactly."""
        with torch.no_grad():
            self._keep(self.precision + "/output", _numpy(self.model(self.inputs)))
            self._keep(self.precision + "/training", _numpy(self.model(self.inputs, training=True)))
        loss = torch_losses.loss_function(self.request.get("loss"))
        if "gradient" in self.checks:
            training.assign(self.model, self.mapping, self.weights)
            targets = self._targets(0)
            found = training.gradients(self.model, loss, self.inputs, targets, self.mapping, self.shapes)
            self._keep(self.precision + "/gradient", found)
        if self.checks & {"train", "state"} and "training" in self.record.facts:
            self._train(loss, "trained", ())
            accepted = [id_ for id_ in self.request.get("accept", []) if id_ in REMOVALS]
            self.facts["removed"] = self._train(loss, "without-differences", accepted) if accepted else {}
            if not accepted:  # an experiment, so that a failure can be given its name
                self._train(loss, "removed", sorted(REMOVALS))

    def _train(self, loss: Any, name: str, removals: Sequence[str]) -> dict[str, int]:
        """Train from the record's weights; with the named differences removed from this copy of the model."""
        model = self._copy()
        known = [id_ for id_ in removals if id_ in REMOVALS and model.module is not None]
        removed = {id_: REMOVALS[id_](model.module) for id_ in known}
        if not removals or any(removed.values()):
            self._train_copy(model, loss, name)
        return removed

    def train_with_momentum(self, loss: Any, momenta: Mapping[str, float]) -> dict[str, float]:
        """Train once more with other momenta of batch normalisations, by module; returns the model's own."""
        model = self._copy()
        own = {}
        for name, momentum in momenta.items():
            layer = model.module.get_submodule(name)
            own[name] = float(getattr(layer, "momentum", None) or 0.0)
            layer.momentum = momentum
        for id_ in self.request.get("accept", []):
            if id_ in REMOVALS:
                REMOVALS[id_](model.module)
        self._train_copy(model, loss, "momentum")
        return own

    def _copy(self, precision: str = "") -> Any:
        model = Model(self.request, precision or self.precision, self.inputs)
        if model.module is not None:
            silence_modules(model.module)
        return model

    def _train_copy(self, model: Any, loss: Any, name: str) -> None:
        training.assign(model, self.mapping, self.weights)
        parts = [(batches.inputs(self.request, k), self._targets(k)) for k in range(batches.COUNT)]
        facts = self.record.facts["training"]
        losses = training.train(model, loss, parts, int(facts["steps"]), float(facts["rate"]))
        self._keep(f"{self.precision}/{name}", dict(training.values(model, self.mapping, self.shapes), losses=losses))

    def in_float32(self) -> None:
        """Single precision, and the ONNX export."""
        model = self._copy("float32")
        training.assign(model, self.mapping, self.weights)
        with torch.no_grad():
            self._keep("float32/output", _numpy(model(self.inputs)))
        if "init" in self.checks and "initial" in self.record.facts:
            drawn = [index for index, fact in enumerate(self.record.facts["initial"]) if fact["kind"] == "drawn"]
            found = torch_initial.pooled(self.request, self.inputs, self.mapping, self.shapes, drawn)
            self._keep("initial", found)
        if "onnx" in self.checks:
            from . import torch_onnx

            self.facts["onnx"] = torch_onnx.export(model, self.inputs, Path(self.request["out"]))

    def _targets(self, number: int) -> list[Any]:
        shapes = [tuple(output["shape"]) for output in self.record.facts["outputs"] if "float" in output["dtype"]]
        return [self.model.tensor(target) for target in batches.targets(self.request, shapes, number)]

    def _returned(self) -> bool:
        """Whether every weight comes back from its tensor as it went in."""
        back = training.values(self.model, self.mapping, self.shapes)
        kept = [(back["variable/{}".format(e["variable"])], self.weights[int(e["variable"])]) for e in self.mapping]
        return all(np.array_equal(one.astype(other.dtype), other) for one, other in kept)

    def _keep(self, prefix: str, arrays: Mapping[str, np.ndarray]) -> None:
        for name, array in arrays.items():
            self.arrays[f"{prefix}/{name}"] = np.asarray(array)


def choose_mapping(
    model: Model, record: recorded.Record, request: Mapping[str, Any], inputs: Sequence[np.ndarray]
) -> list[dict[str, Any]]:
    """The mapping given in the request, else the first hypothesis under which the outputs agree, else the first.

    Raises mapping.Unmatched where variables or tensors are left over.
    """
    if request.get("mapping"):
        return list(request["mapping"])
    events = record.facts.get("events", [])
    layers = list(dict.fromkeys(event["layer"] for event in events))
    tried = mapping.hypotheses(record.variables, model.tensors(), layers, modules_called(model, inputs))
    weights = record.weights()
    for entries in tried if len(tried) > 1 else []:
        training.assign(model, entries, weights)
        with torch.no_grad():
            if record.outputs_agree(_numpy(model(inputs)), model.precision):
                return entries
    return tried[0]


def modules_called(model: Model, inputs: Sequence[np.ndarray]) -> list[str]:
    """The names of the modules in the order in which a call runs them."""
    called: list[str] = []
    hooks = [
        module.register_forward_pre_hook(lambda _module, _inputs, name=name: called.append(name))
        for name, module in model.modules
    ]
    with torch.no_grad():
        model(inputs)
    for hook in hooks:
        hook.remove()
    return list(dict.fromkeys(called))


def _numpy(outputs: Sequence[Any]) -> dict[str, np.ndarray]:
    return {path: leaf.detach().cpu().numpy() for path, leaf in outputs}
