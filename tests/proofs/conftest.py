"""Proofs start both frameworks; they run once for all tests and all test processes."""

from __future__ import annotations

import fcntl
import json
from pathlib import Path

import pytest

from migrator.catalogue import Catalogue, load_rules
from migrator.data import rules_folder
from migrator.proofs.prove import prove


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    return load_rules([rules_folder()])


@pytest.fixture(scope="session")
def outcomes(
    catalogue: Catalogue, tmp_path_factory: pytest.TempPathFactory, worker_id: str
) -> dict[str, tuple[str, int, list[str]]]:
    """Verdict, number of examples and failures of each rule, from the written calls."""
    base = tmp_path_factory.getbasetemp()
    shared = (base if worker_id == "master" else base.parent) / "quick_proofs.json"
    with Path(f"{shared}.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not shared.exists():
            found = prove(catalogue.rules, catalogue, quick=True).outcomes.values()
            facts = {item.rule: (item.verdict, item.cases, item.failures) for item in found}
            shared.write_text(json.dumps(facts), encoding="utf-8")
    return json.loads(shared.read_text(encoding="utf-8"))
