"""A record as it lies on disk: facts, arrays or sketches of them, and the weights regenerated from their rules.

A record is one folder: `record.json` (schema, request, facts, checksums), `arrays.safetensors` (whole arrays by name,
sketches as 66 numbers), and `tensorflow.onnx` where there is one.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Mapping

import numpy as np

from . import compare, files, moved_state

SCHEMA = "migrate.record/1"
AGREEMENT = 1e-6  # for choosing among hypotheses, not for judging


class Damaged(Exception):
    """The record cannot be used as it is; the message names the file and why."""


class Record:
    """Read access to a record's folder. Raises Damaged where a file is missing, cut short or of another version."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            content = files.read_json(folder / "record.json")
        except (OSError, ValueError) as error:
            raise Damaged("{} cannot be read: {}".format(folder / "record.json", error)) from error
        if content.get("schema") != SCHEMA:
            raise Damaged("{} is {}, not {}".format(folder / "record.json", content.get("schema"), SCHEMA))
        self.content: dict[str, Any] = content
        self.request: dict[str, Any] = content["request"]
        self.facts: dict[str, Any] = content["facts"]
        self.variables: list[dict[str, Any]] = self.facts["variables"]
        for name, digest in content["files"].items():
            if not (folder / name).is_file() or files.digest(folder / name) != digest:
                raise Damaged(f"{folder / name} is missing or was changed after it was recorded")
        if self.request.get("data"):
            self.request["data"] = str(folder / self.request["data"])
        self._arrays = files.read_arrays(folder / "arrays.safetensors")

    def references(self, prefix: str) -> dict[str, compare.Reference]:
        """The arrays and sketches below `prefix/`, by the rest of their names."""
        sketched: Mapping[str, Any] = self.content["sketches"]
        found: dict[str, compare.Reference] = {}
        for name, array in self._arrays.items():
            if name.startswith(prefix + "/"):
                rest = name[len(prefix) + 1 :]
                found[rest] = compare.Sketch.unpacked(sketched[name], array) if name in sketched else array
        return found

    def weights(self) -> dict[int, np.ndarray]:
        """The starting value of every variable, by its index; float32 or the kept integers."""
        seed = int(self.request["seed"])
        found = {}
        for index, variable in enumerate(self.variables):
            stored = self._arrays.get(f"weight/{index}")
            found[index] = (
                stored if stored is not None else moved_state.values(variable["rule"], variable["shape"], seed, index)
            )
        return found

    def outputs_agree(self, outputs: Mapping[str, np.ndarray], precision: str) -> bool:
        """Whether outputs are near the recorded ones, loosely."""
        references = self.references(precision + "/output")
        if references.keys() != outputs.keys():
            return False
        return all(compare.agrees(references[name], outputs[name], AGREEMENT) for name in references)


def packed(arrays: Mapping[str, np.ndarray], full: bool) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """What to store of the arrays, and the facts of those stored as sketches. `full` keeps all of them whole."""
    stored = {}
    sketches = {}
    for name, array in arrays.items():
        if full or array.size <= compare.WHOLE or name.startswith(("weight/", "initial/")):
            stored[name] = array
        else:
            made = compare.sketch(array)
            stored[name] = made.packed()
            sketches[name] = made.facts()
    return stored, sketches
