"""A TensorFlow model and its PyTorch twin, as a configuration names them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Named:
    """A loss or optimizer from the catalogue by its Keras class name, with its arguments."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Accept:
    """A known difference the team lives with."""

    id: str
    because: str


@dataclass(frozen=True)
class Training:
    """How to train both versions for real. `data` is a REF whose callable returns arrays (see config)."""

    data: str
    epochs: int
    metric: str
    batch: int = 32


@dataclass(frozen=True)
class Pair:
    """A TensorFlow model and its PyTorch twin, as in migrate.toml. REFs are relative to the configuration's folder."""

    name: str
    tensorflow: str
    torch: str
    inputs: tuple[str, ...]
    batch: int = 32
    target: str | None = None
    loss: Named | None = None
    optimizer: Named | None = None
    training: Training | None = None
    weights: str | None = None
    accept: tuple[Accept, ...] = ()
    budget: Mapping[str, float] = field(default_factory=dict)
    call: str | None = None
    torch_call: str | None = None
    tensorflow_args: Mapping[str, Any] = field(default_factory=dict)
