"""The smallest worker: import a REF, call it, say what came back. Needs no framework; the tests of workers use it."""

from __future__ import annotations

import sys
from typing import Any, Mapping

from . import loading


def main(request: Mapping[str, Any]) -> dict[str, Any]:
    """`value` is the printed form of what the callable returned; without `ref` only the Python version is told."""
    facts = {"python": "{}.{}.{}".format(*sys.version_info[:3])}
    if "ref" in request:
        facts["value"] = str(loading.load(request["ref"], request.get("folder", "."))())
    return facts
