"""TensorFlow code to PyTorch code: proposals of every structure, applied file by file, verified, never half done."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from migrator.catalogue import Catalogue
    from migrator.facts import Profile, Project, Rewritten


def rewrite(
    project: Project,
    catalogue: Catalogue,
    profile: Profile = "idiomatic",
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
) -> Rewritten:
    """What the project would look like in PyTorch. Nothing is written.

    `select` and `ignore` are ids of rules: those alone, or all but those. Raises MigrateError for an unknown id.
    """
    from migrator.rewrite.driver import Driver

    return Driver(project, catalogue, profile, select, ignore).run()
