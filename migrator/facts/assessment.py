"""What a migration would take: the facts of assess."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from migrator.facts.source import Call, Environment, Skipped, Unknown
from migrator.facts.words import Grade


@dataclass(frozen=True)
class Finding:
    """A call with its rule, grade and minutes. `grade` is None where no rule exists."""

    call: Call
    rule: str | None
    grade: Grade | None
    minutes: float
    message: str


@dataclass(frozen=True)
class Structure:
    """A model, layer class, fit call, tape loop … and its size in calls."""

    kind: str
    file: str
    line: int
    name: str
    size: int


@dataclass(frozen=True)
class EffortLine:
    """One line of the bill: hours, where they come from."""

    what: str
    category: str
    file: str
    count: int
    low: float
    likely: float
    high: float


@dataclass(frozen=True)
class Effort:
    """Hours. `lines` add up to `likely`."""

    low: float
    likely: float
    high: float
    lines: tuple[EffortLine, ...]


@dataclass(frozen=True)
class Hazard:
    """A place that will hurt: why, and what to do about it."""

    id: str
    file: str
    line: int
    why: str
    do: str


@dataclass(frozen=True)
class Advice:
    """`verdict` with one line of evidence per dimension."""

    verdict: Literal["migrate", "pilot", "keras-torch", "stay"]
    evidence: Mapping[str, str]


@dataclass(frozen=True)
class Assessment:
    """What `migrate assess` found out."""

    files: int
    findings: tuple[Finding, ...]
    unknown: tuple[Unknown, ...]
    structures: tuple[Structure, ...]
    effort: Effort
    hazards: tuple[Hazard, ...]
    environment: Environment
    advice: Advice
    skipped: tuple[Skipped, ...]
