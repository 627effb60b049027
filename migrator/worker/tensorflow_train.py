"""Loss, gradients and plain training steps on the TensorFlow side.

The loss of a check is the team's own where one is named, else the mean squared distance of every floating output to
its target; what regularisers add belongs to it. A step is `w -= rate * gradient`, written out, because Keras
optimizers keep some constants in single precision.
"""

from __future__ import annotations

from typing import Any, Callable, List, Mapping, Sequence, Tuple

import numpy as np
import tensorflow as tf

from .tensorflow_model import Model

keras = tf.keras
RATES = (2.0**-7, 2.0**-10, 2.0**-14)  # tried in turn until the loss stays finite
Loss = Callable[[List[Tuple[str, Any]], Sequence[Any]], Any]


def loss_function(named: Mapping[str, Any] | None) -> Loss:
    """The loss of an output's leaves against its targets, a scalar tensor. Build it under the model's precision.

    Raises ValueError where the loss is unknown to this Keras, or there is more than one output for one loss.
    """
    if named is None:
        return _squared_distance
    kind = getattr(keras.losses, named["name"], None)
    if kind is None:
        raise ValueError("this Keras has no loss {!r}".format(named["name"]))
    loss = kind(**named.get("arguments", {}))

    def named_loss(outputs: list[tuple[str, Any]], targets: Sequence[Any]) -> Any:
        if len(outputs) != 1:
            raise ValueError("the loss {} is for one output, the model has {}".format(named["name"], len(outputs)))
        return loss(targets[0], outputs[0][1])

    return named_loss


def _squared_distance(outputs: list[tuple[str, Any]], targets: Sequence[Any]) -> Any:
    floating = [leaf for _, leaf in outputs if leaf.dtype.is_floating]
    if not floating:
        raise ValueError("no output is floating, so there is nothing to differentiate; name a loss")
    return tf.add_n([tf.reduce_mean(tf.square(leaf - target)) for leaf, target in zip(floating, targets)])


def total_loss(model: Model, loss: Loss, inputs: Sequence[Any], targets: Sequence[Any], training: bool) -> Any:
    """The loss and what regularisers add, a scalar tensor in the model's precision."""
    outputs = model(inputs, training=training)
    value = tf.cast(loss(outputs, targets), model.precision)
    extra = [tf.cast(tf.reduce_sum(term), model.precision) for term in model.losses()]
    return tf.add_n([value, *extra])


def gradients(model: Model, loss: Loss, inputs: Sequence[np.ndarray], targets: Sequence[Any]) -> dict[str, np.ndarray]:
    """In inference mode: `loss`, `variable/<n>` of every trainable variable, `input/<n>` of every floating input."""
    tensors = [model.tensor(array) for array in inputs]
    variables = model.trainable()
    floating = [index for index, tensor in enumerate(tensors) if tensor.dtype.is_floating]
    with tf.GradientTape() as tape:
        for index in floating:
            tape.watch(tensors[index])
        value = total_loss(model, loss, tensors, targets, training=False)
    sources = [variable.tensor() for variable in variables] + [tensors[index] for index in floating]
    found = tape.gradient(value, sources, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    found = [tf.convert_to_tensor(gradient).numpy() for gradient in found]
    named = {"loss": np.asarray(value.numpy())}
    for variable, gradient in zip(variables, found):
        named[f"variable/{model.variables.index(variable)}"] = gradient
    for index, gradient in zip(floating, found[len(variables) :]):
        named[f"input/{index}"] = gradient
    return named


def train(
    model: Model, loss: Loss, batches: Sequence[tuple[Sequence[Any], Sequence[Any]]], steps: int, rate: float
) -> dict[str, np.ndarray]:
    """Plain gradient descent in training mode, batch k at step k (repeating): `losses` and every `variable/<n>`."""
    tensors = [([model.tensor(a) for a in inputs], [model.tensor(t) for t in targets]) for inputs, targets in batches]

    def step(inputs: Any, targets: Any) -> Any:
        variables = [variable.tensor() for variable in model.trainable()]
        with tf.GradientTape() as tape:
            value = total_loss(model, loss, inputs, targets, training=True)
        found = tape.gradient(value, variables, unconnected_gradients=tf.UnconnectedGradients.ZERO)
        for variable, gradient in zip(variables, found):
            variable.assign_sub(tf.cast(rate, gradient.dtype) * tf.convert_to_tensor(gradient))
        return value

    compiled = tf.function(step)
    losses = [compiled(*tensors[number % len(tensors)]).numpy() for number in range(steps)]
    named = {"losses": np.asarray(losses)}
    for index, variable in enumerate(model.variables):
        named[f"variable/{index}"] = variable.numpy()
    return named


def settles(losses: np.ndarray) -> bool:
    """Whether a trajectory stayed finite and did not run away."""
    return bool(np.all(np.isfinite(losses)) and np.max(losses) <= 10.0 * max(abs(float(losses[0])), 1e-12))
