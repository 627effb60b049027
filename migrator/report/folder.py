"""The folder that a whole run leaves: which file holds what, written whole or not at all, and read back checked."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from migrator.errors import MigrateError

RESULTS = {  # file -> the schema it must carry
    "assess.json": "migrate.assess/1",
    "rewrite.json": "migrate.rewrite/1",
    "parity.json": "migrate.parity/1",
    "training.json": "migrate.training/1",
    "bench.json": "migrate.bench/1",
    "run.json": "migrate.run/1",
}
DIFF, PAGE, PROJECT = "rewrite.diff", "report.html", "torch"


def write_text(path: Path, text: str) -> None:
    """Writes `text` as UTF-8; a reader never sees half of it. Raises MigrateError where the disk refuses."""
    part = path.with_name(f".{path.name}.part")
    try:
        part.write_text(text, encoding="utf-8", newline="\n")
        os.replace(part, path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise MigrateError(f"{path} cannot be written: {error.strerror}.") from None


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Writes one JSON object. JSON has no infinity and no NaN; they become null."""
    write_text(path, json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False) + "\n")


def _finite(value: Any) -> Any:
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


def read_results(folder: Path) -> dict[str, Any]:
    """The results found in `folder` by file name without suffix, and the diff's text as `diff`.

    Raises MigrateError where there is none, or one that this version did not write.
    """
    found: dict[str, Any] = {}
    for name, schema in RESULTS.items():
        if (folder / name).is_file():
            found[name.removesuffix(".json")] = _read(folder / name, schema)
    if (folder / DIFF).is_file():
        found["diff"] = (folder / DIFF).read_text(encoding="utf-8", errors="replace")
    if not found:
        known = ", ".join(RESULTS)
        raise MigrateError(f"There are no results in {folder}. A report needs at least one of {known}.")
    return found


def _read(path: Path, schema: str) -> dict[str, Any]:
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise MigrateError(f"{path} cannot be read as JSON: {error}. Run the command that writes it again.") from None
    if not isinstance(value, dict) or value.get("schema") != schema:
        said = value.get("schema") if isinstance(value, dict) else None
        raise MigrateError(f"{path} is no {schema} (it says {said}). Run the command that writes it again.")
    return value
