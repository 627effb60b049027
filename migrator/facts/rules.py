"""One entry of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from migrator.facts.words import Grade


@dataclass(frozen=True)
class Parameter:
    """One parameter of a rule's TensorFlow signature; `default` is its source text, None where required."""

    name: str
    default: str | None
    keyword_only: bool = False
    variadic: bool = False


@dataclass(frozen=True)
class Example:
    """The runnable example of a rule; `given` maps each free name to a SPEC such as `float32[2,3]`.

    `more` are further calls on the same arrays, proven by value only: other argument values, each variant.
    """

    before: str
    after: str
    given: Mapping[str, str]
    atol: float
    reason: str = ""
    more: tuple[str, ...] = ()


@dataclass(frozen=True)
class Variant:
    """Another template of a rule, taken where every condition of `when` holds (see catalogue.conditions)."""

    when: Mapping[str, str]
    torch: str
    fill: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Rule:
    """One entry of the catalogue. Exactly one of `torch`, `build`, `structure` and `guide` is set."""

    id: str
    tf: str  # canonical name
    parameters: tuple[Parameter, ...]
    also: tuple[str, ...]
    family: str
    grade: Grade
    torch: str | None = None
    build: str | None = None
    structure: str | None = None
    guide: str | None = None
    fill: Mapping[str, str] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    refuse: tuple[str, ...] = ()
    keras: tuple[int, ...] = (2, 3)
    hazards: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    weights: Mapping[str, str] = field(default_factory=dict)
    example: Example | None = None
    proof: Literal["numeric", "distribution", "effect", "fixture"] = "numeric"
    doc: str = ""
    file: str = ""
    constant: bool = False  # a name without arguments, such as tf.float32
    reference: str | None = None  # what stands for the API where it is passed on instead of called
    when: Mapping[str, str] = field(default_factory=dict)  # conditions of `torch`; where they fail the call is left
    variants: tuple[Variant, ...] = ()  # tried in order before `torch`
    tensors: tuple[str, ...] = ()  # parameters for which a literal number or list must become a tensor
    skip: str = ""  # why the entry's proof is not run
    digest: str = ""  # hash of the entry's text; a proof holds for one digest

    @property
    def automatic(self) -> bool:
        """Whether the rewriter handles it by itself."""
        return self.guide is None
