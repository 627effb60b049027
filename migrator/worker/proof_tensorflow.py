"""The TensorFlow side of the catalogue's proofs: runs every example, and reads the installed signatures.

Request: `arrays` (a safetensors file), `cases` (`code`, `inputs`, `plain`, `differentiable`, `proof`) and
`signatures` (names). Leaves `outputs.safetensors`.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, Mapping, Sequence

import numpy as np
import tensorflow as tf

from . import proof_common


class TensorFlow(proof_common.Side):
    """Eager TensorFlow."""

    def tensor(self, array: np.ndarray) -> Any:
        """See Side."""
        return tf.constant(array)

    def array(self, value: Any) -> tuple[np.ndarray, str] | None:
        """See Side."""
        if not tf.is_tensor(value):
            return None
        if value.dtype in (tf.bfloat16,):
            return tf.cast(value, tf.float32).numpy(), value.dtype.name
        return np.asarray(value.numpy()), value.dtype.name

    def evaluate(self, run: Callable[[], Any], inputs: Sequence[Any]) -> tuple[Any, list[np.ndarray] | None]:
        """See Side."""
        if not inputs:
            return run(), None
        with tf.GradientTape() as tape:
            tape.watch(list(inputs))
            value = run()
            floats = [leaf for leaf in proof_common.leaves(value) if tf.is_tensor(leaf) and leaf.dtype.is_floating]
            terms = [tf.reduce_sum(tf.cast(x, tf.float64) * proof_common.weights(x.shape)) for x in floats]
            total = tf.add_n(terms) if terms else None
        if total is None:
            return value, None
        found = tape.gradient(total, list(inputs), unconnected_gradients="zero")
        return value, [tf.convert_to_tensor(gradient).numpy() for gradient in found]

    def seed(self) -> None:
        """See Side."""
        tf.random.set_seed(1)

    def draw(self) -> float:
        """See Side."""
        return float(tf.random.normal(()))


def main(request: Mapping[str, Any]) -> dict[str, Any]:
    """Run the examples; see the module's text."""
    facts = proof_common.run(request, TensorFlow({"tf": tf, "np": np}))
    facts["signatures"] = {name: _signature(name) for name in request["signatures"]}
    facts["versions"] = {"tensorflow": tf.__version__, "keras": tf.keras.__version__}
    return facts


def _signature(name: str) -> list[dict[str, Any]] | None:
    """Parameters with the text of their defaults; None where there is no such callable."""
    target: Any = tf
    parts = name.split(".")[1:]
    eager = {"Tensor": tf.constant, "Variable": tf.Variable}  # methods belong to classes that have no public name
    if parts[0] in eager and len(parts) > 1:
        target, parts = type(eager[parts[0]](0)), parts[1:]
    try:
        for part in parts:
            target = getattr(target, part)
        parameters = inspect.signature(target).parameters.values()
    except (AttributeError, ValueError, TypeError):
        return None
    return [
        {
            "name": item.name,
            "default": None if item.default is inspect.Parameter.empty else _text(item.default),
            "variadic": item.kind in (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD),
        }
        for item in parameters
    ]


def _text(value: Any) -> str:
    if isinstance(value, tf.DType):
        return f"tf.{value.name}"
    return repr(value)
