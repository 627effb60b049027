"""The ONNX graph of the TensorFlow side, in inference mode, float32, with its weights as inputs of the graph.

Weights as inputs keep the graph small, since the exporter would hold each constant many times over, and let a record
regenerate them from its seed. Where a model cannot be called with weights from outside, they stay inside the graph.
"""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any, Sequence

import numpy as np
import tensorflow as tf

from .tensorflow_model import Model

OPSET = 18
FILE = "tensorflow.onnx"


def export(model: Model, arrays: Sequence[np.ndarray], out: Path) -> dict[str, Any]:
    """Write `tensorflow.onnx` into `out`. Facts: `file`, `inputs`, `weights` (names in the variables' order).

    An exporter that fails gives `{"unsupported": reason}`, since that says nothing about the rewrite.
    """
    try:
        import tf2onnx
    except ModuleNotFoundError:
        return {"unsupported": "tf2onnx is not installed beside this TensorFlow"}
    function, signature, weights = _function(model, arrays)
    try:
        graph, _ = tf2onnx.convert.from_function(function, input_signature=signature, opset=OPSET)
    except Exception as error:  # whatever a converter raises is the converter's verdict on itself
        lines = [line.strip() for line in str(error).splitlines() if line.strip()]
        return {"unsupported": f"tf2onnx: {type(error).__name__}: {lines[-1] if lines else ''}"}
    mend(graph.graph)
    foreign = sorted({node.op_type for node in graph.graph.node if node.domain not in ("", "ai.onnx", "ai.onnx.ml")})
    if foreign:
        return {"unsupported": "tf2onnx left {} unconverted".format(", ".join(foreign))}
    (out / FILE).write_bytes(graph.SerializeToString())
    names = [value.name for value in graph.graph.input]
    return {"file": FILE, "inputs": names, "weights": weights}


def _function(model: Model, arrays: Sequence[np.ndarray]) -> Any:
    """The traced function, its signature (batch free) and the names of the weights among its inputs."""
    tensors = [model.tensor(array) for array in arrays]
    signature: list[Any] = [
        tf.TensorSpec([None, *tensor.shape[1:]] if tensor.shape.rank else [], tensor.dtype, name=f"input_{index}")
        for index, tensor in enumerate(tensors)
    ]
    count = len(signature)
    if not _stateless(model):
        traced = tf.function(lambda *inputs: [leaf for _, leaf in model(list(inputs))], input_signature=signature)
        return traced, signature, None
    names = [f"weight_{index}" for index in range(len(model.variables))]
    signature += [
        tf.TensorSpec(variable.shape, variable.tensor().dtype, name=name)
        for variable, name in zip(model.variables, names)
    ]

    def call(*values: Any) -> list[Any]:
        return [leaf for _, leaf in _call_with(model, list(values[:count]), list(values[count:]))]

    return tf.function(call, input_signature=signature), signature, names


def _stateless(model: Model) -> bool:
    inner = model.call_model
    own = {id(variable.raw) for variable in model.variables}
    known = {id(raw) for raw in getattr(inner, "variables", ())}
    return hasattr(inner, "stateless_call") and own <= known


def _call_with(model: Model, inputs: list[Any], weights: list[Any]) -> Any:
    from . import loading

    inner = model.call_model
    given = {id(variable.raw): value for variable, value in zip(model.variables, weights)}
    trainable = [given.get(id(raw), raw.value) for raw in inner.trainable_variables]
    others = [given.get(id(raw), raw.value) for raw in inner.non_trainable_variables]
    args, kwargs = loading.arranged(inputs, model.names, model.form)
    if "training" in inspect.signature(inner.call).parameters:
        kwargs["training"] = False
    outputs, _ = inner.stateless_call(trainable, others, *args, **kwargs)
    return loading.leaves(outputs)


def mend(graph: Any) -> int:
    """Replace what tf2onnx lets through although ONNX has no such operator; returns how many nodes were replaced.

    `Erfc(x)` becomes `1 - Erf(x)`, `Log1p(x)` becomes `Log(1 + x)`.
    """
    from onnx import helper, numpy_helper

    nodes = []
    one = "mended/one"
    for node in graph.node:
        between = node.output[0] + "/mended"
        if node.op_type == "Erfc" and not node.domain:
            nodes.append(helper.make_node("Erf", node.input, [between]))
            nodes.append(helper.make_node("Sub", [one, between], node.output, name=node.name))
        elif node.op_type == "Log1p" and not node.domain:
            nodes.append(helper.make_node("Add", [one, node.input[0]], [between]))
            nodes.append(helper.make_node("Log", [between], node.output, name=node.name))
        else:
            nodes.append(node)
    replaced = len(nodes) - len(graph.node)
    if replaced:
        graph.initializer.append(numpy_helper.from_array(np.ones((), dtype=np.float32), one))
        del graph.node[:]
        graph.node.extend(nodes)
    return replaced
