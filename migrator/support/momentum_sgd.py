"""Gradient descent whose momentum keeps the learning rate it was gathered at."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch


class MomentumSGD(torch.optim.Optimizer):
    """v = momentum * v - lr * g; w += v. The same as torch.optim.SGD as long as the learning rate stays the same.

    torch.optim.SGD leaves the rate out of v, so that a lower rate slows it down at once; here the old speed fades.
    """

    def __init__(self, params: Iterable[Any], lr: float = 0.01, momentum: float = 0.0, nesterov: bool = False) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "nesterov": nesterov})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> float | None:  # type: ignore[override]
        """Take one step from the gradients that the parameters hold; `closure` computes them anew first."""
        loss = None
        if closure is not None:
            with torch.enable_grad():
                loss = closure()
        for group in self.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    self._move(parameter, parameter.grad, self.state[parameter], group)
        return loss

    @staticmethod
    def _move(
        parameter: torch.Tensor, gradient: torch.Tensor, state: dict[str, torch.Tensor], group: dict[str, Any]
    ) -> None:
        if not state:
            state["velocity"] = torch.zeros_like(parameter)
        lr, momentum = group["lr"], group["momentum"]
        velocity = state["velocity"].mul_(momentum).sub_(gradient, alpha=lr)
        if group["nesterov"]:
            parameter.add_(velocity, alpha=momentum).sub_(gradient, alpha=lr)
        else:
            parameter.add_(velocity)
