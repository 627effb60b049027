"""Known differences, each removed by experiment: a change to a copy of the PyTorch model that takes it away.

What is left is then judged at full tolerance. `REMOVALS` maps the id of a difference in `rules/differences.toml` to a
function on a built model; functions that find nothing to change say so by returning 0.
"""

from __future__ import annotations

from typing import Any, Callable

from torch.nn.modules.batchnorm import _BatchNorm


def biased_batch_variance(module: Any) -> int:
    """Make every batch normalisation keep the variance over n values, as Keras 3 does, not over n - 1.

    Returns the number of layers changed.
    """
    layers = [part for part in module.modules() if isinstance(part, _BatchNorm) and part.track_running_stats]
    for layer in layers:
        layer.register_forward_pre_hook(_remember)
        layer.register_forward_hook(_correct)
    return len(layers)


def _remember(layer: Any, inputs: Any) -> None:
    if layer.training:
        layer._variance_before = layer.running_var.clone()


def _correct(layer: Any, inputs: Any, output: Any) -> None:
    """running = (1 - m) * before + m * n / (n - 1) * biased; take the n / (n - 1) out of the second term."""
    if not layer.training:
        return
    count = inputs[0].numel() / inputs[0].shape[1]
    momentum = 1.0 / float(layer.num_batches_tracked) if layer.momentum is None else layer.momentum
    # through .data: autograd has saved the buffer, and training mode never reads its values
    kept = (1.0 - momentum) * layer._variance_before
    layer.running_var.data.copy_(kept + (layer.running_var - kept) * (count - 1.0) / count)


REMOVALS: dict[str, Callable[[Any], int]] = {"batchnorm-variance": biased_batch_variance}
