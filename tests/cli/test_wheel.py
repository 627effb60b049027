"""The wheel alone, in an empty environment: the analysis works without a framework, and the rest says what it lacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

CHECKOUT = Path(__file__).resolve().parents[2]
FRAMEWORKS = ("tensorflow", "keras", "torch", "onnx", "onnxruntime")

pytestmark = pytest.mark.proof


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of executables of a new environment that holds the wheel and what it depends on."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder / "dist")]
    subprocess.run(build, cwd=CHECKOUT, check=True, capture_output=True)
    (wheel,) = (folder / "dist").glob("*.whl")
    venv.create(folder / "env", with_pip=True)
    programs = folder / "env" / ("Scripts" if os.name == "nt" else "bin")
    install = [programs / "python", "-m", "pip", "install", "-q", "-c", CHECKOUT / "constraints.txt", wheel]
    done = subprocess.run(install, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    return programs


def migrate(environment: Path, folder: Path, *arguments: object) -> subprocess.CompletedProcess[str]:
    """`migrate` of that environment, run in `folder` with nothing of ours on the path."""
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")}
    command = [environment / "migrate", *map(str, arguments)]
    return subprocess.run(command, cwd=folder, env=clean, capture_output=True, text=True)


def test_no_framework_comes_with_the_wheel(environment: Path, tmp_path: Path) -> None:
    code = f"import importlib.util as u; print([n for n in {FRAMEWORKS!r} if u.find_spec(n)])"
    done = subprocess.run([environment / "python", "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout.strip() == "[]", done.stderr


def test_assess_knows_the_rules_that_came_with_it(environment: Path, tmp_path: Path) -> None:
    done = migrate(environment, tmp_path, "assess", CHECKOUT / "fixtures/projects/digits", "--format", "json")
    assert done.returncode == 0, done.stderr
    calls = json.loads(done.stdout)["calls"]
    assert calls["total"] > 10
    assert calls["no_rule"] < calls["total"] / 2


def test_rewrite_writes_pytorch_without_having_it(environment: Path, tmp_path: Path) -> None:
    project = CHECKOUT / "fixtures/projects/digits"
    done = migrate(environment, tmp_path, "rewrite", project, "--out", tmp_path / "ported", "--format", "json")
    assert done.returncode == 0, done.stderr
    status = {file["path"]: file["status"] for file in json.loads(done.stdout)["files"]}
    assert status["models.py"] == status["train.py"] == "full"
    assert "import torch" in (tmp_path / "ported" / "models.py").read_text(encoding="utf-8")


def test_what_needs_a_framework_names_the_extra(environment: Path, tmp_path: Path) -> None:
    (tmp_path / "m.py").write_text("def build():\n    pass\n", encoding="utf-8")
    pair = ["--tensorflow", "m.py:build", "--torch", "m.py:build", "--input", "float32[1,2]"]
    done = migrate(environment, tmp_path, "parity", *pair)
    assert done.returncode == 2
    assert "tf2torch-migrator[cpu]" in done.stderr
    assert "Traceback" not in done.stderr
