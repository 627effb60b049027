"""`rules/proofs.json`: which entries were proven, under which versions. A changed entry has no proof."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from migrator.errors import MigrateError
from migrator.facts import Rule

NAME = "proofs.json"
SCHEMA = "migrate.proofs/1"
Status = Literal["passed", "skipped", "none"]


@dataclass(frozen=True)
class Proof:
    """One proven entry, as of one set of versions; `cases` counts the examples executed."""

    rule: str
    digest: str
    versions: str
    status: Literal["passed", "skipped"]
    cases: int = 0
    reason: str = ""


def read_proofs(folder: Path) -> tuple[Proof, ...]:
    """The proofs kept beside the rules, none where there is no such file. Raises MigrateError for a damaged one."""
    path = folder / NAME
    if not path.is_file():
        return ()
    try:
        entries = json.loads(path.read_text(encoding="utf-8"))["proofs"]
        return tuple(Proof(**entry) for entry in entries.values())
    except (ValueError, KeyError, TypeError, AttributeError):
        raise MigrateError(f"{path} is damaged. Write it again with `migrate rules check`.") from None


def write_proofs(folder: Path, proofs: tuple[Proof, ...]) -> Path:
    """Writes the file, atomically, one key for an entry's hash and the versions; returns its path."""
    keyed = {f"{proof.digest} {proof.versions}": vars(proof) for proof in proofs}
    path = folder / NAME
    part = path.with_name(f"{NAME}.part{os.getpid()}")
    content = {"schema": SCHEMA, "proofs": dict(sorted(keyed.items(), key=lambda item: (item[1]["rule"], item[0])))}
    try:
        part.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        part.replace(path)
    except OSError as error:
        raise MigrateError(f"{path} cannot be written: {error.strerror}.") from None
    return path


def versions_text(versions: Mapping[str, str]) -> str:
    """`keras 3.15.1, tensorflow 2.21.0, torch 2.13.0`."""
    return ", ".join(f"{name} {version.partition('+')[0]}" for name, version in sorted(versions.items()))


def status_of(rule: Rule, proofs: tuple[Proof, ...]) -> Status:
    """`passed` or `skipped` where a proof of exactly this entry is on file, else `none`."""
    found = [proof for proof in proofs if proof.digest == rule.digest]
    return found[-1].status if found else "none"
