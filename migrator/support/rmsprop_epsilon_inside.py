"""RMSprop with epsilon under the root."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import torch


class RMSpropEpsilonInside(torch.optim.Optimizer):
    """Divides a gradient by sqrt(v + eps), v the moving mean of its square; torch.optim.RMSprop by sqrt(v) + eps.

    For a gradient of 1e-4 and eps = 1e-7 that makes steps of different size by a factor of ten.
    """

    def __init__(
        self,
        params: Iterable[Any],
        lr: float = 1e-3,
        rho: float = 0.9,
        momentum: float = 0.0,
        eps: float = 1e-7,
        centered: bool = False,
    ) -> None:
        super().__init__(params, {"lr": lr, "rho": rho, "momentum": momentum, "eps": eps, "centered": centered})

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
            state.update({name: torch.zeros_like(parameter) for name in ("square", "mean", "momentum")})
        rho = group["rho"]
        square = state["square"].mul_(rho).addcmul_(gradient, gradient, value=1 - rho)
        if group["centered"]:
            mean = state["mean"].mul_(rho).add_(gradient, alpha=1 - rho)
            square = square - mean.square()
        move = group["lr"] * gradient / torch.sqrt(square + group["eps"])
        parameter.sub_(state["momentum"].mul_(group["momentum"]).add_(move))
