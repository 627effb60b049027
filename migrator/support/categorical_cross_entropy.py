"""Cross-entropy of one-hot targets."""

from __future__ import annotations

from typing import Literal

import torch


def categorical_cross_entropy(
    outputs: torch.Tensor,
    targets: torch.Tensor,
    outputs_are: Literal["softmax", "logits", "probabilities"] = "softmax",
    label_smoothing: float = 0.0,
) -> torch.Tensor:
    """Return the mean cross-entropy of `outputs` and one-hot `targets`, both (..., classes).

    The outputs of a softmax are taken as they are. Other "probabilities" are first brought to a sum of 1 and
    clipped to [1e-7, 1 - 1e-7].
    """
    targets = targets.to(outputs.dtype) * (1 - label_smoothing) + label_smoothing / outputs.shape[-1]
    if outputs_are == "logits":
        log_probabilities = outputs.log_softmax(dim=-1)
    elif outputs_are == "softmax":
        log_probabilities = outputs.clamp_min(torch.finfo(outputs.dtype).tiny).log()
    else:
        log_probabilities = (outputs / outputs.sum(dim=-1, keepdim=True)).clamp(1e-7, 1 - 1e-7).log()
    return -(targets * log_probabilities).sum(dim=-1).mean()
