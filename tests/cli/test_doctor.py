"""`migrate doctor`: what it finds is what is there, and what is missing is named with its remedy."""

from __future__ import annotations

import shutil
import sys
import venv
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from migrator import cli, doctor
from migrator.doctor import Interpreter

NOTHING: dict[str, str | None] = dict.fromkeys(doctor.PACKAGES)
EVERYTHING: dict[str, str | None] = dict.fromkeys(doctor.PACKAGES, "1.0")


def machine(monkeypatch: pytest.MonkeyPatch, **sides: Interpreter) -> None:
    """A machine whose sides have these; beside migrate there is what the analysis needs and nothing else."""
    base = dict.fromkeys(("numpy", "libcst", "jinja2"), "1.0")
    monkeypatch.setattr(doctor, "_own_packages", lambda: {**NOTHING, **base})
    monkeypatch.setattr(doctor, "_probe", lambda side, python: sides[side])


def missing(health: doctor.Health) -> dict[str, dict[str, tuple[str, ...]]]:
    return {need.command: dict(need.missing) for need in health.commands}


def test_this_machine_is_described_as_it_is(migrate: Any) -> None:
    said = migrate("doctor", "--format", "json").json
    assert said["schema"] == "migrate.doctor/1"
    for side, package in (("tensorflow", "keras"), ("torch", "torch")):
        found = said["interpreters"][side]
        assert found["packages"][package] == metadata.version(package)
        assert found["version"] == ".".join(map(str, sys.version_info[:3]))
        assert found["error"] == ""
    assert said["compiler"] is None or shutil.which(said["compiler"])
    assert [need["missing"] for need in said["commands"]] == [{}] * len(said["commands"])


def test_every_command_that_needs_something_is_looked_at(monkeypatch: pytest.MonkeyPatch) -> None:
    machine(monkeypatch, tensorflow=Interpreter("p", "3.11", NOTHING, ()), torch=Interpreter("p", "3.11", NOTHING, ()))
    assert set(missing(doctor.examine({}))) >= set(cli.COMMANDS) - {"doctor"}


def test_without_a_framework_the_analysis_is_ready_and_the_rest_names_what_it_lacks(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine(monkeypatch, tensorflow=Interpreter("p", "3.11", NOTHING, ()), torch=Interpreter("p", "3.11", NOTHING, ()))
    lacking = missing(doctor.examine({}))
    assert lacking["assess"] == lacking["rewrite"] == {}
    assert "tensorflow" in lacking["record"]["tensorflow"]
    assert "torch" in lacking["parity"]["torch"]
    assert lacking["run"]["own"] == ("onnxruntime", "matplotlib")


def test_a_framework_that_cannot_be_imported_counts_as_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Interpreter("p", "3.11", EVERYTHING, (), "ImportError: libcudart.so is missing")
    machine(monkeypatch, tensorflow=Interpreter("p", "3.11", EVERYTHING, ()), torch=broken)
    lacking = missing(doctor.examine({}))
    assert lacking["bench"] == {"torch": ("torch",)}
    assert lacking["record"] == {}


@pytest.mark.parametrize(("tool", "extra"), [("/usr/bin/nvidia-smi", "gpu"), (None, "cpu")])
def test_the_extra_to_install_follows_the_machine(
    migrate: Any, monkeypatch: pytest.MonkeyPatch, tool: str | None, extra: str
) -> None:
    machine(monkeypatch, tensorflow=Interpreter("p", "3.11", NOTHING, ()), torch=Interpreter("p", "3.11", NOTHING, ()))
    monkeypatch.setattr(doctor.shutil, "which", lambda name: tool if name == "nvidia-smi" else None)
    said = migrate("doctor")
    assert f"pip install 'tf2torch-migrator[{extra}]'" in said.out
    assert "torch.compile cannot run" in said.out


def test_an_interpreter_that_does_not_exist_is_told_and_nothing_breaks(migrate: Any, tmp_path: Path) -> None:
    (tmp_path / "migrate.toml").write_text('[interpreters]\ntensorflow = "./no-such-python"\n', encoding="utf-8")
    said = migrate("doctor")
    assert said.code == 0
    assert "no-such-python" in said.out
    assert "does not work: it cannot be started" in said.out


@pytest.mark.skipif(sys.platform == "win32", reason="makes an environment with links")
def test_the_interpreter_of_the_configuration_is_the_one_looked_at(migrate: Any, tmp_path: Path) -> None:
    venv.create(tmp_path / "old", symlinks=True)
    # the one package that every side has, and none of the frameworks
    (site,) = (tmp_path / "old" / "lib").glob("python*/site-packages")
    import numpy

    for folder in Path(numpy.__file__).parents[1].glob("numpy*"):
        (site / folder.name).symlink_to(folder)
    (tmp_path / "migrate.toml").write_text('[interpreters]\ntensorflow = "old/bin/python"\n', encoding="utf-8")

    said = migrate("doctor", "--format", "json").json

    side = said["interpreters"]["tensorflow"]
    assert side["packages"]["numpy"] == numpy.__version__
    assert side["packages"]["tensorflow"] is None
    needs = {need["command"]: need["missing"] for need in said["commands"]}
    assert "tensorflow" in needs["record"]["tensorflow"]
    assert needs["assess"] == {}
