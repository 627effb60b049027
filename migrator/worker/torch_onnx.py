"""The ONNX graph of the PyTorch side: `torch.onnx.export(dynamo=True)`, inference mode, float32, batch free."""

from __future__ import annotations

import io
import warnings
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any, Sequence

import numpy as np
import torch

from . import loading
from .torch_model import Model

OPSET = 18
FILE = "torch.onnx"


class _Exported(torch.nn.Module):
    """Takes the inputs one by one and returns the output's leaves, whatever shape the model itself has."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model.module if model.module is not None else torch.nn.Identity()
        self.call = model

    def forward(self, *inputs: Any) -> Any:
        args, kwargs = loading.arranged(list(inputs), self.call.names, self.call.form)
        return tuple(leaf for _, leaf in loading.leaves(self.call.function(*args, **kwargs)))


def export(model: Model, arrays: Sequence[np.ndarray], out: Path) -> dict[str, Any]:
    """Write `torch.onnx` into `out`; an exporter that fails gives `{"unsupported": reason}`."""
    inputs = tuple(model.tensor(array).cpu() for array in arrays)
    names = [f"input_{index}" for index in range(len(inputs))]
    batch = torch.export.Dim.DYNAMIC
    free = tuple({0: batch} if tensor.dim() else {} for tensor in inputs)
    exported = _Exported(model).cpu().eval()
    said = io.StringIO()
    try:
        with warnings.catch_warnings(), redirect_stdout(said), redirect_stderr(said):
            warnings.simplefilter("ignore")
            program = torch.onnx.export(
                exported, inputs, dynamo=True, input_names=names, dynamic_shapes=(free,), opset_version=OPSET
            )
            assert program is not None
            program.save(str(out / FILE), external_data=False)
    except Exception as error:  # whatever an exporter raises is the exporter's verdict on itself
        text = str(error).strip().splitlines() or [""]
        return {"unsupported": f"torch.onnx.export: {type(error).__name__}: {text[0]}"}
    return {"file": FILE, "inputs": names}
