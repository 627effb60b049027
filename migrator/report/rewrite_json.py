"""The JSON of `migrate rewrite`: files, sites and what was left, for scripts and coding agents."""

from __future__ import annotations

from typing import Any

from migrator.facts import Rewritten


def to_json(rewritten: Rewritten) -> dict[str, Any]:
    """One object of schema migrate.rewrite/1. Paths are relative to the root and use `/`."""
    return {
        "schema": "migrate.rewrite/1",
        "files": [{"path": item.path, "status": item.status, "reason": item.reason} for item in rewritten.files],
        "created": sorted(rewritten.created),
        "sites": [
            {
                "file": site.file,
                "line": site.line,
                "structure": site.structure,
                "name": site.name,
                "rewritten": site.rewritten,
            }
            for site in rewritten.sites
        ],
        "left": [
            {"file": item.file, "line": item.line, "rule": item.rule, "reason": item.reason} for item in rewritten.left
        ],
        "pairs": [pair.name for pair in rewritten.pairs],
    }
