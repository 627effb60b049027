"""A Project and the catalogue become an Assessment."""

from __future__ import annotations

from migrator.assess.advice import advise
from migrator.assess.effort import effort
from migrator.assess.findings import findings
from migrator.assess.hazards import hazards
from migrator.assess.structures import structures
from migrator.assess.table import read_table
from migrator.catalogue import Catalogue
from migrator.facts import Assessment, Project


def assess(project: Project, catalogue: Catalogue, rate: float | None = None) -> Assessment:
    """What `migrate assess` reports.

    Args:
        rate: money an hour of work costs, in the reader's currency; None leaves money out.
    """
    table = read_table()
    inventory = project.inventory
    found = findings(project, catalogue, table)
    built = structures(project)
    hurting = hazards(project, table)
    bill = effort(found, built, hurting, table)
    unknown = tuple(item for resolution in project.resolutions.values() for item in resolution.unknown)
    return Assessment(
        files=inventory.files,
        findings=found,
        unknown=unknown,
        structures=built,
        effort=bill,
        hazards=hurting,
        environment=inventory.environment,
        advice=advise(project, found, hurting, bill, rate),
        skipped=inventory.skipped,
    )
