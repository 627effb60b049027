"""Cross-entropy of integer labels."""

from __future__ import annotations

from typing import Literal

import torch
import torch.nn.functional as F


def sparse_cross_entropy(
    outputs: torch.Tensor, targets: torch.Tensor, outputs_are: Literal["softmax", "logits", "probabilities"] = "softmax"
) -> torch.Tensor:
    """Return the mean cross-entropy of `outputs` (..., classes) and labels (...) or (..., 1) of any integer type.

    The outputs of a softmax are taken as they are. Other "probabilities" are clipped to [1e-7, 1 - 1e-7].
    """
    if targets.ndim == outputs.ndim:
        targets = targets.squeeze(-1)
    if outputs_are == "softmax":
        log_probabilities = outputs.clamp_min(torch.finfo(outputs.dtype).tiny).log()
        return F.nll_loss(log_probabilities.movedim(-1, 1), targets.long())
    if outputs_are == "probabilities":
        outputs = outputs.clamp(1e-7, 1 - 1e-7).log()
    return F.cross_entropy(outputs.movedim(-1, 1), targets.long())
