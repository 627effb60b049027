"""Known differences between the frameworks' defaults, from rules/differences.toml, and what a pair says about them."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from migrator.data import rules_folder
from migrator.facts import Check, Pair
from migrator.parity import judge
from migrator.parity.checks import Both

FILE = "differences.toml"


@dataclass(frozen=True)
class Difference:
    """One entry: what differs, since when, and how to mend it. `touches` names the checks that can see it."""

    id: str
    title: str
    why: str
    do: str
    touches: tuple[str, ...]


@cache
def load() -> Mapping[str, Difference]:
    """Every entry by its id."""
    table = tomllib.loads((rules_folder() / FILE).read_text(encoding="utf-8"))
    entries = [
        Difference(entry["id"], entry["title"], entry["why"], entry["do"], tuple(entry["touches"]))
        for entry in table["difference"]
    ]
    return {entry.id: entry for entry in entries}


def found(pair: Pair, both: Both, made: Sequence[Check]) -> tuple[dict[str, Any], ...]:
    """The accepted differences, each with how much it changes the trained state where an experiment removed it."""
    return tuple(
        {
            "id": accept.id,
            "title": load()[accept.id].title,
            "because": accept.because,
            "removed": bool(both.torch.get("removed", {}).get(accept.id, 0)),
            "effect": _effect(both) if both.torch.get("removed", {}).get(accept.id, 0) else None,
        }
        for accept in pair.accept
    )


def _effect(both: Both) -> float | None:
    """The largest relative change of any variable after training, with the difference against without it."""
    with_it, without = both.ours(f"{both.precision}/trained"), both.ours(f"{both.precision}/without-differences")
    return judge.tally(without, with_it).error if with_it.keys() == without.keys() else None
