"""Adam with epsilon added before the bias correction of the second moment."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


class AdamEpsilonHat(torch.optim.AdamW):
    """The "epsilon hat" form, w -= lr * sqrt(1 - b2^t) / (1 - b1^t) * m / (sqrt(v) + eps), decay decoupled.

    torch.optim.AdamW adds eps to the corrected root, which makes early steps of small gradients larger or smaller;
    a corrected eps for each step turns one form into the other.
    """

    def __init__(self, params: Any, lr: float = 1e-3, eps: float = 1e-7, weight_decay: float = 0.0, **kwargs: Any):
        super().__init__(params, lr=lr, eps=eps, weight_decay=weight_decay, **kwargs)
        self.steps = 0
        self.epsilon_hat = eps

    def step(self, closure: Callable[[], float] | None = None) -> Any:
        """Take one step from the gradients that the parameters hold; `closure` computes them anew first."""
        self.steps += 1
        for group in self.param_groups:
            group["eps"] = self.epsilon_hat / (1 - group["betas"][1] ** self.steps) ** 0.5
        return super().step(closure)
