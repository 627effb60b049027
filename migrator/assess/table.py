"""`rules/effort.toml`: what work costs, and which places hurt."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from migrator.data import rules_folder
from migrator.errors import MigrateError


@dataclass(frozen=True)
class Minutes:
    """A cost in minutes: least, most likely, most."""

    low: float
    mode: float
    high: float

    @property
    def expected(self) -> float:
        """The mean of the beta distribution that the draws use."""
        return (self.low + 4 * self.mode + self.high) / 6

    def times(self, count: float) -> Minutes:
        return Minutes(self.low * count, self.mode * count, self.high * count)

    def plus(self, minutes: float) -> Minutes:
        return Minutes(self.low + minutes, self.mode + minutes, self.high + minutes)


@dataclass(frozen=True)
class StructureCost:
    """What a structure costs on top of the calls in it."""

    minutes: Minutes
    per_call: float
    words: str


@dataclass(frozen=True)
class HazardRule:
    """Which places a hazard is found at. `when` narrows the uses of `apis`; see `hazards.py` for its grammar."""

    id: str
    apis: tuple[str, ...]
    when: str
    tests: bool
    project: str
    minutes: Minutes
    why: str
    do: str


@dataclass(frozen=True)
class EffortTable:
    """The whole table. `grades` maps a grade (or `no_rule`) to the cost of the first and of each further use."""

    grades: Mapping[str, tuple[Minutes, Minutes]]
    structures: Mapping[str, StructureCost]
    file: Minutes
    project: Minutes
    pace: tuple[float, float]  # least and greatest factor on everything, around 1
    hazards: Mapping[str, HazardRule]


def read_table() -> EffortTable:
    """The shipped table.

    Raises:
        MigrateError: the file is missing or not of this form, which only a broken installation can cause.
    """
    path = rules_folder() / "effort.toml"
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        return EffortTable(
            {grade: (Minutes(*cost["first"]), Minutes(*cost["again"])) for grade, cost in data["grade"].items()},
            {kind: _structure(cost) for kind, cost in data["structure"].items()},
            Minutes(*data["file"]["minutes"]),
            Minutes(*data["project"]["minutes"]),
            (float(data["pace"]["low"]), float(data["pace"]["high"])),
            {name: _hazard(name, values) for name, values in data["hazard"].items()},
        )
    except (OSError, tomllib.TOMLDecodeError, KeyError, TypeError) as error:
        raise MigrateError(f"{path} cannot be used: {error}. Install tf2torch-migrator again.") from error


def _structure(cost: dict[str, Any]) -> StructureCost:
    return StructureCost(Minutes(*cost["minutes"]), float(cost["per_call"]), cost["words"])


def _hazard(name: str, values: dict[str, Any]) -> HazardRule:
    return HazardRule(
        name,
        tuple(values.get("apis", ())),
        values.get("when", ""),
        values.get("tests", False),
        values.get("project", ""),
        Minutes(*values["minutes"]),
        values["why"],
        values["do"],
    )
