"""`migrate rules check`: proves the rules and keeps the result beside them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from migrator.catalogue import Catalogue
from migrator.catalogue.proof_file import Proof, read_proofs, versions_text, write_proofs
from migrator.errors import MigrateError
from migrator.facts import Rule
from migrator.proofs.prove import Outcome, prove


@dataclass(frozen=True)
class Checked:
    """What was checked; `failed` rules have no proof on file afterwards."""

    passed: tuple[str, ...]
    failed: tuple[Outcome, ...]
    skipped: tuple[Outcome, ...]
    examples: int
    versions: str

    def to_text(self) -> str:
        """A line for each failure, the skips with their reasons, and the counts."""
        lines = [f"{item.rule}: {failure}" for item in self.failed for failure in item.failures]
        lines += [f"{item.rule}: skipped: {item.reason}" for item in self.skipped]
        counts = f"{len(self.passed)} passed, {len(self.failed)} failed, {len(self.skipped)} skipped"
        return "\n".join([*lines, f"{counts}; {self.examples} examples executed with {self.versions}."])


def check_rules(
    catalogue: Catalogue,
    folder: Path | None,
    progress: Callable[[str], None],
    select: Sequence[str] = (),
) -> Checked:
    """Runs the proofs of all rules, or of those whose id or API is selected, and writes `proofs.json` to `folder`.

    Raises MigrateError for a selection that names nothing, a missing framework, or a folder that cannot be written.
    """
    rules = _selected(catalogue, select)
    proofs = prove(rules, catalogue, progress)
    versions = versions_text(proofs.versions)
    outcomes = list(proofs.outcomes.values())
    if folder is not None:
        write_proofs(folder, _merged(catalogue, read_proofs(folder), rules, outcomes, versions))
    return Checked(
        passed=tuple(item.rule for item in outcomes if item.verdict == "passed"),
        failed=tuple(item for item in outcomes if item.verdict == "failed"),
        skipped=tuple(item for item in outcomes if item.verdict == "skipped"),
        examples=sum(item.cases for item in outcomes),
        versions=versions,
    )


def _selected(catalogue: Catalogue, select: Sequence[str]) -> list[Rule]:
    for name in select:
        if not any(name in (rule.id, rule.tf, *rule.also) for rule in catalogue):
            raise MigrateError(f"There is no rule `{name}`. `migrate rules list` shows them all.")
    return [rule for rule in catalogue if not select or {rule.id, rule.tf, *rule.also} & set(select)]


def _merged(
    catalogue: Catalogue, before: Sequence[Proof], rules: Sequence[Rule], outcomes: Sequence[Outcome], versions: str
) -> tuple[Proof, ...]:
    """New proofs, and those of unchanged entries that were not run now or were run with other versions."""
    current = {rule.digest for rule in catalogue}
    run_now = {rule.digest for rule in rules}
    kept = [
        proof
        for proof in before
        if proof.digest in current and not (proof.digest in run_now and proof.versions == versions)
    ]
    digests = {rule.id: rule.digest for rule in rules}
    fresh = [
        Proof(item.rule, digests[item.rule], versions, item.verdict, item.cases, item.reason)
        for item in outcomes
        if item.verdict == "passed" or item.verdict == "skipped"
    ]
    return (*kept, *fresh)
