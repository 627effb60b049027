"""Keras optimizers by their class names, in PyTorch, with Keras's update rules and defaults.

Adam and AdamW are PyTorch's with an epsilon that changes every step, which moves it in front of the bias correction
as in Keras; RMSprop has its epsilon inside the root. Learning rates are constants.
"""

from __future__ import annotations

import math
from typing import Any, Callable, Mapping, Sequence

import torch

_CLIPS = ("clipnorm", "clipvalue", "global_clipnorm")


class Stepper:
    """A PyTorch optimizer, what must happen to it before each step, and how gradients are clipped."""

    def __init__(self, optimizer: Any, clip: Mapping[str, float], prepare: Callable[[int], None] | None = None) -> None:
        self.optimizer = optimizer
        self.clip = clip
        self.prepare = prepare
        self.count = 0

    def zero_grad(self) -> None:
        """Forget the gradients."""
        self.optimizer.zero_grad()

    def step(self) -> None:
        """One update."""
        self.count += 1
        _clip([p for group in self.optimizer.param_groups for p in group["params"] if p.grad is not None], self.clip)
        if self.prepare is not None:
            self.prepare(self.count)
        self.optimizer.step()


def _clip(parameters: Sequence[Any], clip: Mapping[str, float]) -> None:
    if clip.get("clipvalue") is not None:
        torch.nn.utils.clip_grad_value_(parameters, clip["clipvalue"])
    for parameter in parameters if clip.get("clipnorm") is not None else []:
        torch.nn.utils.clip_grad_norm_([parameter], clip["clipnorm"])  # Keras clips each variable by itself
    if clip.get("global_clipnorm") is not None:
        torch.nn.utils.clip_grad_norm_(parameters, clip["global_clipnorm"])


class KerasRMSprop(torch.optim.Optimizer):
    """w -= rate * g / sqrt(v + epsilon), v the running mean of g * g."""

    def __init__(self, parameters: Sequence[Any], rate: float, rho: float, epsilon: float) -> None:
        super().__init__(parameters, {"lr": rate, "rho": rho, "eps": epsilon})

    @torch.no_grad()
    def step(self, closure: Any = None) -> Any:
        """One update."""
        for group in self.param_groups:
            for parameter in (each for each in group["params"] if each.grad is not None):
                state = self.state[parameter]
                mean = state.setdefault("square", torch.zeros_like(parameter))
                mean.mul_(group["rho"]).addcmul_(parameter.grad, parameter.grad, value=1.0 - group["rho"])
                parameter.addcdiv_(parameter.grad, (mean + group["eps"]).sqrt(), value=-group["lr"])


def sgd(parameters: Any, learning_rate: float = 0.01, momentum: float = 0.0, nesterov: bool = False) -> Any:
    """Keras's SGD at a constant rate is PyTorch's."""
    return torch.optim.SGD(parameters, lr=learning_rate, momentum=momentum, nesterov=nesterov), None


def adam(
    parameters: Any,
    learning_rate: float = 1e-3,
    beta_1: float = 0.9,
    beta_2: float = 0.999,
    epsilon: float = 1e-7,
    amsgrad: bool = False,
) -> Any:
    """Epsilon in front of the bias correction."""
    optimizer = torch.optim.Adam(parameters, lr=learning_rate, betas=(beta_1, beta_2), amsgrad=amsgrad)
    return optimizer, _epsilon_hat(optimizer, epsilon, beta_2)


def adamw(
    parameters: Any,
    learning_rate: float = 1e-3,
    weight_decay: float = 0.004,
    beta_1: float = 0.9,
    beta_2: float = 0.999,
    epsilon: float = 1e-7,
    amsgrad: bool = False,
) -> Any:
    """As Adam, with the weights decayed apart from the gradient."""
    betas = (beta_1, beta_2)
    optimizer = torch.optim.AdamW(parameters, lr=learning_rate, betas=betas, weight_decay=weight_decay, amsgrad=amsgrad)
    return optimizer, _epsilon_hat(optimizer, epsilon, beta_2)


def _epsilon_hat(optimizer: Any, epsilon: float, beta_2: float) -> Callable[[int], None]:
    def prepare(step: int) -> None:
        for group in optimizer.param_groups:
            group["eps"] = epsilon / math.sqrt(1.0 - beta_2**step)

    return prepare


def rmsprop(parameters: Any, learning_rate: float = 1e-3, rho: float = 0.9, epsilon: float = 1e-7) -> Any:
    """Plain RMSprop; with momentum or centred it is not known here."""
    return KerasRMSprop(parameters, learning_rate, rho, epsilon), None


OPTIMIZERS: dict[str, Callable[..., Any]] = {"SGD": sgd, "Adam": adam, "AdamW": adamw, "RMSprop": rmsprop}


def optimizer_named(named: Mapping[str, Any], parameters: Sequence[Any]) -> Stepper:
    """The optimizer of a Keras class name and arguments. Raises ValueError for one that is not known here."""
    name = named["name"]
    arguments = {key: value for key, value in named.get("arguments", {}).items() if key != "name"}
    if name not in OPTIMIZERS:
        known = ", ".join(OPTIMIZERS)
        raise ValueError(f"the optimizer {name!r} is not known on the PyTorch side; known are {known}")
    clip = {key: arguments.pop(key) for key in _CLIPS if key in arguments}
    try:
        optimizer, prepare = OPTIMIZERS[name](list(parameters), **arguments)
    except TypeError as error:
        raise ValueError(f"{name}: {error}") from error
    return Stepper(optimizer, clip, prepare)
