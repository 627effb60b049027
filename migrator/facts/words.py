"""The few words that many facts share."""

from __future__ import annotations

from typing import Literal

Grade = Literal["exact", "review", "manual", "blocked"]
Use = Literal["call", "reference", "method"]
Verdict = Literal["pass", "fail", "unsupported", "skipped", "error"]
Profile = Literal["idiomatic", "faithful"]
GRADES: tuple[Grade, ...] = ("exact", "review", "manual", "blocked")
