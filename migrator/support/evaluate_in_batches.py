"""Loss and metrics of a model over a whole data set."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import torch
from torch import nn

Measure = Callable[[torch.Tensor, torch.Tensor], torch.Tensor]


@torch.no_grad()
def evaluate_in_batches(
    model: nn.Module,
    batches: Iterable[tuple[Any, torch.Tensor]],
    loss_fn: Measure,
    metrics: Mapping[str, Measure],
    penalty: Callable[[], torch.Tensor] | None = None,
) -> dict[str, float]:
    """Return {"loss": ..., and each metric by name}, means over all samples, with the model in evaluation mode.

    `loss_fn` and the metrics take (outputs, targets) of a batch and return its mean; `penalty` is added to the loss.
    """
    model.eval()
    device = next(model.parameters(), torch.empty(0)).device
    measures = {"loss": loss_fn, **metrics}
    totals = dict.fromkeys(measures, 0.0)
    samples = 0
    for inputs, targets in batches:
        inputs = inputs if isinstance(inputs, tuple) else (inputs,)
        outputs = model(*(one.to(device) for one in inputs))
        samples += len(targets)
        for name, measure in measures.items():
            totals[name] += float(measure(outputs, targets.to(device))) * len(targets)
    means = {name: total / samples for name, total in totals.items()}
    if penalty is not None:
        means["loss"] += float(penalty())
    return means
