"""An Assessment as the contract's JSON object. The grades and `no_rule` add up to `total`, the number of findings."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

from migrator.facts import GRADES, Assessment, Finding

SCHEMA = "migrate.assess/1"


def to_json(assessment: Assessment) -> dict[str, Any]:
    """What `migrate assess --format json` prints."""
    environment = assessment.environment
    return {
        "schema": SCHEMA,
        "files": assessment.files,
        "calls": counts(assessment),
        "findings": [_finding(finding) for finding in assessment.findings],
        "unknown": [asdict(item) for item in assessment.unknown],
        "structures": [asdict(structure) for structure in assessment.structures],
        "effort": asdict(assessment.effort),
        "hazards": [asdict(hazard) for hazard in assessment.hazards],
        "environment": {
            "keras": environment.keras,
            "keras_reason": environment.keras_reason,
            "requirements": dict(environment.requirements),
        },
        "advice": {"verdict": assessment.advice.verdict, "evidence": dict(assessment.advice.evidence)},
        "skipped": [asdict(skipped) for skipped in assessment.skipped],
    }


def counts(assessment: Assessment) -> dict[str, int]:
    """Findings by grade; those without a rule under `no_rule`."""
    found = Counter(finding.grade or "no_rule" for finding in assessment.findings)
    return {"total": len(assessment.findings), **{grade: found[grade] for grade in GRADES}, "no_rule": found["no_rule"]}


def _finding(finding: Finding) -> dict[str, Any]:
    call = finding.call
    row: dict[str, Any] = {"file": call.file, "line": call.line, "column": call.column}
    if call.cell is not None:
        row["cell"] = call.cell
    return {
        **row,
        "api": call.api,
        "use": call.use,
        "rule": finding.rule,
        "grade": finding.grade,
        "minutes": finding.minutes,
        "message": finding.message,
    }
