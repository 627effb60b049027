"""A TOML table read key by key, with sentences for everything that can be wrong with one.

Reading a key takes it out; `done` then names what is left over, so an unknown key can never be passed over.
"""

from __future__ import annotations

import difflib
from collections.abc import Mapping, Sequence
from typing import Any

from migrator.errors import MigrateError


class Table:
    """A table, and the words for where it stands: `[pair.training] of pair 'digits' in migrate.toml`."""

    def __init__(self, values: Any, where: str) -> None:
        if not isinstance(values, Mapping):
            raise MigrateError(f"{where} should be a table.")
        self._values = dict(values)
        self._known: list[str] = []
        self.where = where

    def _take(self, key: str, required: bool) -> Any:
        self._known.append(key)
        if required and key not in self._values:
            raise MigrateError(f"The key '{key}' is missing in {self.where}.")
        return self._values.pop(key, None)

    def _typed(self, key: str, required: bool, kinds: type | tuple[type, ...], words: str) -> Any:
        value = self._take(key, required)
        # bool is an int to Python, never to the person who wrote the file
        if value is not None and (not isinstance(value, kinds) or (isinstance(value, bool) and kinds is not bool)):
            raise MigrateError(f"The key '{key}' in {self.where} should be {words}.")
        return value

    def text(self, key: str) -> str:
        """The text under `key`, which must be there."""
        return str(self._typed(key, True, str, "a text"))

    def maybe_text(self, key: str) -> str | None:
        """The text under `key`, or None."""
        value: str | None = self._typed(key, False, str, "a text")
        return value

    def texts(self, key: str, required: bool = False) -> tuple[str, ...]:
        """The list of texts under `key`, empty where it is left out."""
        value = self._typed(key, required, list, "a list of texts")
        if any(not isinstance(item, str) for item in value or ()):
            raise MigrateError(f"The key '{key}' in {self.where} should be a list of texts.")
        return tuple(value or ())

    def whole(self, key: str, default: int | None = None) -> int:
        """The whole number above 0 under `key`; required where there is no default."""
        value = self._typed(key, default is None, int, "a whole number")
        if value is not None and value < 1:
            raise MigrateError(f"The key '{key}' in {self.where} should be a whole number above 0.")
        return int(value if value is not None else default or 0)

    def numbers(self, key: str, names: Sequence[str]) -> dict[str, float]:
        """The table of numbers under `key`, whose own keys are among `names`; empty where it is left out."""
        table = self.table(key)
        if table is None:
            return {}
        found = {name: table._typed(name, False, (int, float), "a number") for name in names}
        table.done()
        return {name: float(value) for name, value in found.items() if value is not None}

    def table(self, key: str) -> Table | None:
        """The table under `key`, or None."""
        value = self._typed(key, False, Mapping, "a table")
        return None if value is None else Table(value, f"'{key}' in {self.where}")

    def tables(self, key: str) -> tuple[Table, ...]:
        """The list of tables under `key`, empty where it is left out."""
        value = self._typed(key, False, list, "a list of tables")
        return tuple(Table(item, f"'{key}' number {n} in {self.where}") for n, item in enumerate(value or (), start=1))

    def rest(self) -> dict[str, Any]:
        """Everything not read yet; for tables with free keys."""
        rest, self._values = self._values, {}
        return rest

    def done(self) -> None:
        """Raises MigrateError where a key is left over."""
        for key in self._values:
            near = difflib.get_close_matches(key, self._known, 1)
            hint = f"did you mean '{near[0]}'?" if near else f"known there: {', '.join(self._known)}."
            raise MigrateError(f"The key '{key}' in {self.where} is unknown; {hint}")
