"""`migrate rules list` as JSON, with the proofs that are on file."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from migrator.catalogue import listing
from migrator.catalogue.proof_file import read_proofs
from migrator.data import rules_folder
from migrator.facts import Rule


def to_json(rules: Iterable[Rule]) -> dict[str, Any]:
    """The object of the contract. Raises MigrateError where the file with the proofs is damaged."""
    return listing.to_json(rules, read_proofs(rules_folder()))
