"""PyTorch optimizers by their Keras class names and arguments, with Keras's defaults: the same work a step.

For measuring only: how exactly a rewritten project reproduces an optimizer is proven elsewhere.
"""

from typing import Any, Callable, Dict, Iterable, Mapping, Optional

import torch

# Keras argument -> (PyTorch argument, Keras's default); `betas` is put together from two
_ADAM = {
    "learning_rate": ("lr", 1e-3),
    "beta_1": ("beta_1", 0.9),
    "beta_2": ("beta_2", 0.999),
    "epsilon": ("eps", 1e-7),
    "amsgrad": ("amsgrad", False),
}
KNOWN: Dict[str, Any] = {
    "SGD": (
        torch.optim.SGD,
        {"learning_rate": ("lr", 1e-2), "momentum": ("momentum", 0.0), "nesterov": ("nesterov", False)},
    ),
    "Adam": (torch.optim.Adam, _ADAM),
    "AdamW": (torch.optim.AdamW, dict(_ADAM, weight_decay=("weight_decay", 4e-3))),
    "Adamax": (torch.optim.Adamax, {name: _ADAM[name] for name in ("learning_rate", "beta_1", "beta_2", "epsilon")}),
    "Nadam": (torch.optim.NAdam, {name: _ADAM[name] for name in ("learning_rate", "beta_1", "beta_2", "epsilon")}),
    "RMSprop": (
        torch.optim.RMSprop,
        {
            "learning_rate": ("lr", 1e-3),
            "rho": ("alpha", 0.9),
            "momentum": ("momentum", 0.0),
            "epsilon": ("eps", 1e-7),
            "centered": ("centered", False),
        },
    ),
    "Adagrad": (
        torch.optim.Adagrad,
        {
            "learning_rate": ("lr", 1e-3),
            "initial_accumulator_value": ("initial_accumulator_value", 0.1),
            "epsilon": ("eps", 1e-7),
        },
    ),
    "Adadelta": (
        torch.optim.Adadelta,
        {"learning_rate": ("lr", 1e-3), "rho": ("rho", 0.95), "epsilon": ("eps", 1e-7)},
    ),
}


def optimizer_for(named: Optional[Mapping[str, Any]], parameters: Iterable[Any]) -> Any:
    """The optimizer, else plain SGD. Raises ValueError for a name or an argument that is not known here."""
    if named is None:
        return torch.optim.SGD(parameters, lr=1e-3)
    if named["name"] not in KNOWN:
        known = ", ".join(KNOWN)
        raise ValueError("the optimizer {} is not known on the PyTorch side; known are {}".format(named["name"], known))
    kind, table = KNOWN[named["name"]]
    given = {name: value for name, value in named.get("arguments", {}).items() if name != "name"}
    unknown = sorted(set(given) - set(table))
    if unknown:
        raise ValueError("{}({}) is not known on the PyTorch side".format(named["name"], ", ".join(unknown)))
    return _make(
        kind, {torch_name: given.get(name, default) for name, (torch_name, default) in table.items()}, parameters
    )


def _make(kind: Callable[..., Any], arguments: Dict[str, Any], parameters: Iterable[Any]) -> Any:
    if "beta_1" in arguments:
        arguments["betas"] = (arguments.pop("beta_1"), arguments.pop("beta_2"))
    return kind(parameters, **arguments)
