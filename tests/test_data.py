"""The rules are found in a checkout, in an editable install and in a wheel."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from migrator import data
from migrator.errors import MigrateError

CHECKOUT = Path(__file__).resolve().parent.parent
ASK = "from migrator.data import rules_folder; print(rules_folder())"


def names(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_a_checkout_and_an_editable_install_use_the_rules_beside_the_package() -> None:
    assert data.rules_folder() == CHECKOUT / "rules"


def test_a_wheel_carries_every_rule_file_inside_the_package(tmp_path: Path) -> None:
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(tmp_path / "dist")]
    done = subprocess.run(build, cwd=CHECKOUT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)

    environment = {**os.environ, "PYTHONPATH": str(site)}
    asked = subprocess.run([sys.executable, "-c", ASK], cwd=tmp_path, env=environment, capture_output=True, text=True)

    assert asked.stdout.strip() == str(site / "migrator" / "_data" / "rules"), asked.stderr
    assert names(site / "migrator" / "_data" / "rules") == names(CHECKOUT / "rules") != set()
    assert not (site / "tests").exists()


def test_an_installation_without_rules_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(data, "PACKAGE", tmp_path / "migrator")
    with pytest.raises(MigrateError, match="Install tf2torch-migrator again"):
        data.rules_folder()
