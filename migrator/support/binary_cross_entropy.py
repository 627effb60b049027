"""Cross-entropy of yes-or-no targets."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F


def binary_cross_entropy(
    outputs: torch.Tensor,
    targets: torch.Tensor,
    outputs_are: Literal["sigmoid", "logits", "probabilities"] = "sigmoid",
    label_smoothing: float = 0.0,
) -> torch.Tensor:
    """Return the mean binary cross-entropy; `targets` of shape (N,) fit `outputs` of shape (N, 1).

    The outputs of a sigmoid are taken as they are. Other "probabilities" are clipped to [1e-7, 1 - 1e-7].
    """
    targets = targets.to(outputs.dtype).reshape(outputs.shape) * (1 - label_smoothing) + 0.5 * label_smoothing
    if outputs_are == "logits":
        return F.binary_cross_entropy_with_logits(outputs, targets)
    if outputs_are == "probabilities":
        outputs = outputs.clamp(1e-7, 1 - 1e-7)
    return F.binary_cross_entropy(outputs, targets)
