"""Runs ONNX graphs with ONNX Runtime: request `graphs` maps a name to `file`, `inputs` (array name per input).

`feeds` is a safetensors file with the arrays. Leaves `arrays.safetensors` with `<name>/<output index>`; a graph that
ONNX Runtime rejects is reported in `unsupported` with its reason.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Mapping

import numpy as np

from . import files


def main(request: Mapping[str, Any]) -> dict[str, Any]:
    """Run every graph; see the module's text."""
    import onnxruntime

    feeds = files.read_arrays(request["feeds"])
    arrays: dict[str, np.ndarray] = {}
    unsupported = {}
    for name, graph in request["graphs"].items():
        try:
            options = onnxruntime.SessionOptions()
            options.log_severity_level = 4
            session = onnxruntime.InferenceSession(graph["file"], options, providers=["CPUExecutionProvider"])
            wanted = {value.name for value in session.get_inputs()}
            given = {key: feeds[source] for key, source in graph["inputs"].items() if key in wanted}
            for index, array in enumerate(session.run(None, given)):
                arrays[f"{name}/{index}"] = np.asarray(array)
        except Exception as error:  # the runtime's own exceptions have no common base
            unsupported[name] = f"ONNX Runtime: {str(error).strip().splitlines()[0]}"
    files.write_arrays(Path(request["out"], "arrays.safetensors"), arrays)
    return {"unsupported": unsupported, "versions": {"onnxruntime": onnxruntime.__version__}}
