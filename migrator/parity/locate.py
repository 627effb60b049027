"""Where and why: the first layer that diverges, and the cause that an experiment confirms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from migrator.facts import Check
from migrator.parity.checks import Both
from migrator.parity.options import Options


def locate(
    both: Both, made: Sequence[Check], asked: Mapping[str, Any], work: Path, options: Options
) -> dict[str, Any] | None:
    """The first divergence as JSON, or None where the failing checks have no place."""
    return None
