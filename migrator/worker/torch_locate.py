"""Where two models part: the first Keras layer whose inputs PyTorch has and whose output it has not.

Both sides are lists of results. A Keras result is found where some PyTorch result is the same array, in either
layout. One that is not found is explained where a result computed from it is found: PyTorch may have merged two steps.
The first that is neither, with inputs that are, is the divergence. Request: as `torch_side`, and `experiments`.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Mapping

import numpy as np
import torch

from . import compare, files, torch_causes, torch_losses
from .torch_side import Checking
from .torch_trace import Trace, traced

TOLERANCE = 1e-9
LOOSE = 1e-6  # for models with a single-precision constant of TensorFlow's
SINGLE = 1e-4  # for models that run in float32 only


def main(request: Mapping[str, Any]) -> dict[str, Any]:
    """`divergence` (JSON, or None), and trained arrays of each experiment asked for."""
    work = Checking(request)
    facts: dict[str, Any] = {"divergence": None}
    if work.map():
        if "forward" in request["experiments"]:
            facts["divergence"] = Search(work, _tolerance(work, request)).divergence()
        if "momentum" in request["experiments"]:
            facts["momentum"] = _momentum(work)
    files.write_arrays(Path(request["out"], "arrays.safetensors"), work.arrays)
    return facts


def _tolerance(work: Checking, request: Mapping[str, Any]) -> float:
    return SINGLE if work.precision == "float32" else LOOSE if request.get("loose") else TOLERANCE


def _momentum(work: Checking) -> dict[str, float]:
    """Train with every batch normalisation's momentum as the Keras layer means it; the momenta now, by module."""
    wanted = {}
    for entry in work.mapping:
        variable = work.record.variables[int(entry["variable"])]
        if variable["role"] == "moving_mean" and "momentum" in variable["config"]:
            wanted[entry["tensor"].rpartition(".")[0]] = 1.0 - float(variable["config"]["momentum"])
    loss = torch_losses.loss_function(work.request.get("loss"))
    own: dict[str, float] = work.train_with_momentum(loss, wanted)
    return own


class Search:
    """The recorded results against a traced call of the PyTorch model."""

    def __init__(self, work: Checking, tolerance: float) -> None:
        self.work = work
        self.tolerance = tolerance
        self.events: list[dict[str, Any]] = work.record.facts["events"]
        references = work.record.references(work.precision + "/event")
        self.references = [references[str(index)] for index in range(len(self.events))]
        self.trace: Trace = traced(work.model, work.inputs)
        self.found = [self._matches(reference) for reference in self.references]

    def divergence(self) -> dict[str, Any] | None:
        """The first divergence as JSON."""
        explained = self._explained()
        for index, event in enumerate(self.events):
            if not explained[index] and all(explained[parent] for parent in event["parents"]):
                return self._described(index)
        return self._at_the_end()

    def _matches(self, reference: compare.Reference) -> list[int]:
        """The PyTorch results that are this array."""
        found = []
        size = sorted(reference.shape)
        norm = reference.norm if isinstance(reference, compare.Sketch) else float(np.linalg.norm(reference))
        slack = self.tolerance * compare.largest(reference) * float(np.sqrt(np.prod(reference.shape)))
        for place, array in enumerate(self.trace.arrays):
            if array.dtype.kind == "f" and sorted(array.shape) == size:
                near = abs(float(np.linalg.norm(array)) - norm) <= slack + 1e-12 * norm
                if near and compare.agrees(reference, array, self.tolerance):
                    found.append(place)
        return found

    def _explained(self) -> list[bool]:
        explained = [bool(found) for found in self.found]
        for index in range(len(self.events) - 1, -1, -1):
            if explained[index]:
                for parent in self.events[index]["parents"]:
                    explained[parent] = True
        return explained

    def _described(self, index: int) -> dict[str, Any]:
        event = self.events[index]
        start = max([self.found[parent][-1] for parent in event["parents"] if self.found[parent]], default=-1)
        module, place = self._counterpart(index, start)
        site = self._site(index, start, module, place)
        with torch.no_grad():
            cause = torch_causes.cause(site, self.tolerance)
        found = {"layer": event["layer"], "class": event["class"], "what": _WHAT[event["kind"]]}
        found.update(self._where(module, place))
        if place is not None:
            found["error"] = self._error(self.references[index], self.trace.arrays[place])
        if event["kind"] == "out" and module is None and start >= 0 and self.trace.events[start]["module"]:
            found["torch"] = "after " + self.trace.events[start]["module"]
        if cause is not None:
            found.update({"cause": cause["id"], "write": cause["write"]})
        return found

    def _counterpart(self, index: int, start: int) -> Any:
        """The PyTorch module that holds the layer's weights (or None) and the place in the trace that diverges."""
        event = self.events[index]
        applied = event["kind"] == "out" and any(self.events[p]["layer"] == event["layer"] for p in event["parents"])
        tensors = [
            entry["tensor"]
            for entry in self.work.mapping
            if self.work.record.variables[int(entry["variable"])]["layer"].rpartition("/")[2] == event["layer"]
        ]
        if tensors and not applied:
            name = tensors[-1].rpartition(".")[0]
            calls = [place for place, each in enumerate(self.trace.events) if each["module"] == name]
            return name, (calls[-1] if calls else self._step(index, start))
        return None, self._step(index, start)

    def _step(self, index: int, start: int) -> int | None:
        """The first result after `start` that has the size of the expected one, views aside."""
        size = sorted(self.references[index].shape)
        later = range(start + 1, len(self.trace.events))
        same = [place for place in later if sorted(self.trace.arrays[place].shape) == size]
        steps = [place for place in same if self.trace.events[place]["function"] not in _VIEWS] or same
        return steps[0] if steps else (start + 1 if start + 1 < len(self.trace.events) else None)

    def _where(self, name: str | None, place: int | None) -> dict[str, Any]:
        """The module or function, and the line that makes the module (else the one that calls the function)."""
        event = self.trace.events[place] if place is not None else {}
        module = self.work.model.module
        made = None
        if name and module is not None and any(each["module"] == name for each in self.trace.events):
            made = self.work.model.places.get(id(module.get_submodule(name)))
        file, line = made if made else (event.get("file", ""), event.get("line", 0))
        inside = " in " + event["module"] if event.get("module") else ""
        found: dict[str, Any] = {"torch": name or event.get("function", "") + inside, "file": file, "line": line}
        if made and event.get("line"):
            found["called"] = "{}:{}".format(Path(event["file"]).name, event["line"])
        return found

    def _site(self, index: int, start: int, name: str | None, place: int | None) -> torch_causes.Site:
        event = self.events[index]
        before = torch.as_tensor(self.trace.arrays[start]) if start >= 0 else self._input(index)
        module = given = None
        if name is not None and self.work.model.module is not None:
            module = self.work.model.module.get_submodule(name)
            calls = [call for call in self.trace.calls if call[0] is module]
            given = calls[-1][1][0] if calls and calls[-1][1] else None
        call = self.trace.calls[place] if place is not None else None
        configs = [v["config"] for v in self.work.record.variables if v["layer"].rpartition("/")[2] == event["layer"]]
        config = configs[0] if configs else None
        return torch_causes.Site(event, self.references[index], before, module, given, config, call)

    def _input(self, index: int) -> Any:
        return self.work.model.tensor(self.work.inputs[0]) if len(self.work.inputs) == 1 else None

    def _error(self, reference: compare.Reference, array: np.ndarray) -> float | None:
        errors = [compare.error(reference, each) for each in compare.in_layout_of(reference, array)]
        return min(errors) if errors else None

    def _at_the_end(self) -> dict[str, Any] | None:
        """Every layer agrees and the result does not: the fault lies after the last layer."""
        last = max((found[-1] for found in self.found if found), default=-1)
        later = [place for place in range(last + 1, len(self.trace.events)) if not self.trace.events[place]["whole"]]
        place = later[0] if later else None
        name = self.events[-1]["layer"] if self.events else ""
        return {"layer": name, "class": "", "what": "what follows the last layer", **self._where(None, place)}


_WHAT = {"pre": "its result before the activation", "out": "its output"}
_VIEWS = ("permute", "reshape", "view", "transpose", "movedim", "contiguous", "to", "dropout", "Dropout")
