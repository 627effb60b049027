"""Where the package's data lies.

A wheel carries `rules/` inside the package; in an editable install the files stay where the checkout keeps them,
beside the package. Everyone who needs them asks here.
"""

from __future__ import annotations

from pathlib import Path

from migrator.errors import MigrateError

PACKAGE = Path(__file__).resolve().parent


def rules_folder() -> Path:
    """The folder that holds the shipped rule files (`*.toml`).

    Raises:
        MigrateError: the installation holds no rules.
    """
    for folder in (PACKAGE / "_data" / "rules", PACKAGE.parent / "rules"):
        if folder.is_dir():
            return folder
    raise MigrateError(
        f"No rules were found beside {PACKAGE}: the installation is not complete. "
        "Install tf2torch-migrator again, or run from a full checkout."
    )
