"""The TensorFlow variant of a benchmark: a whole training step as one graph (`tf.function`), as `fit` runs it.

Request: what a model needs (`ref`, `folder`, `inputs`, `target`, `sizes`, `seed`, `loss` …), and `optimizer`,
`device`, `threads`, `mode`. TensorFloat-32 is off: single precision means single precision on both sides.
"""

import platform
from typing import Any, Dict, List, Mapping, Optional

import tensorflow as tf

from . import batches, bench_loop, tensorflow_train
from .tensorflow_model import Model

keras = tf.keras


def main(request: Dict[str, Any]) -> Dict[str, Any]:
    """Serves steps until our side closes the line; gives the facts about where they ran."""
    return bench_loop.serve(request, prepare)


def prepare(request: Dict[str, Any]) -> bench_loop.Prepared:
    """Builds the model and its step. Raises Missing where the asked device is not there."""
    device = _device(request["device"])
    tf.config.threading.set_intra_op_parallelism_threads(request["threads"])
    tf.config.threading.set_inter_op_parallelism_threads(request["threads"])
    tf.config.experimental.enable_tensor_float_32_execution(False)
    memory = AllocatorMemory() if device == "cuda" else bench_loop.ResidentMemory()
    step = _step(request)
    facts = {
        "device": device,
        "python": platform.python_version(),
        "tensorflow": tf.__version__,
        "keras": str(getattr(keras, "__version__", "")),
    }
    return step, memory, facts


def _device(asked: str) -> str:
    found = tf.config.list_physical_devices("GPU")
    if asked == "cuda" and not found:
        raise bench_loop.Missing("TensorFlow finds no GPU here.")
    if asked == "cpu" or not found:
        tf.config.set_visible_devices([], "GPU")
        return "cpu"
    for gpu in found:
        tf.config.experimental.set_memory_growth(gpu, True)
    return "cuda"


class AllocatorMemory:
    """Peak bytes of TensorFlow's allocator on the first GPU."""

    kind = "vram"

    def peak(self) -> int:
        """Bytes since the last restart."""
        return int(tf.config.experimental.get_memory_info("GPU:0")["peak"])

    def restart(self) -> None:
        """Forgets peaks so far."""
        tf.config.experimental.reset_memory_stats("GPU:0")


def _step(request: Mapping[str, Any]) -> bench_loop.Step:
    parts = [batches.inputs(request, number) for number in range(batches.COUNT)]
    model = Model(request, "float32", parts[0])
    loss = tensorflow_train.loss_function(request.get("loss"))
    shapes = [tuple(leaf.shape) for _, leaf in model(parts[0]) if leaf.dtype.is_floating]
    optimizer = optimizer_for(request.get("optimizer"))
    variables = model.trainable()
    data = [
        ([model.tensor(a) for a in part], [model.tensor(t) for t in batches.targets(request, shapes, number)])
        for number, part in enumerate(parts)
    ]

    def training_step(inputs: List[Any], targets: List[Any]) -> Any:
        with tf.GradientTape() as tape:
            value = tensorflow_train.total_loss(model, loss, inputs, targets, training=True)
        found = tape.gradient(value, [variable.tensor() for variable in variables])
        optimizer.apply_gradients([(g, v.raw) for g, v in zip(found, variables) if g is not None])
        return value

    graph = tf.function(training_step)
    on_gpu = bool(tf.config.get_visible_devices("GPU"))
    count = [0]

    def step() -> None:
        inputs, targets = data[count[0] % len(data)]
        count[0] += 1
        graph(inputs, targets).numpy()  # waits for the loss
        if on_gpu:
            tf.test.experimental.sync_devices()  # and for the optimizer, whose kernels may still run

    return step


def optimizer_for(named: Optional[Mapping[str, Any]]) -> Any:
    """The pair's optimizer, else plain SGD. Raises ValueError where this Keras has none of that name."""
    if named is None:
        return keras.optimizers.SGD(learning_rate=1e-3)
    kind = getattr(keras.optimizers, named["name"], None)
    if kind is None:
        raise ValueError("this Keras has no optimizer {!r}".format(named["name"]))
    return kind(**named.get("arguments", {}))
