"""What is installed, which device there is, and what each command lacks. Changes nothing.

Each framework is looked for in the interpreter it will run in: our own, or the one the configuration names.
"""

from __future__ import annotations

import os
import platform
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from migrator import __version__

Side = Literal["tensorflow", "torch"]

# by import name: what it may be installed as
PACKAGES: Mapping[str, tuple[str, ...]] = {
    "numpy": ("numpy",),
    "tensorflow": ("tensorflow", "tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel", "tensorflow-macos"),
    "keras": ("keras",),
    "tf2onnx": ("tf2onnx",),
    "torch": ("torch",),
    "onnx": ("onnx",),
    "onnxscript": ("onnxscript",),
    "onnxruntime": ("onnxruntime", "onnxruntime-gpu"),
    "safetensors": ("safetensors",),
    "libcst": ("libcst",),
    "jinja2": ("jinja2",),
    "matplotlib": ("matplotlib",),
}
# command -> where -> what it needs there; "own" is the interpreter migrate itself runs in
NEEDS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "assess": {"own": ("libcst",)},
    "rewrite": {"own": ("libcst",)},
    "rules": {"own": ("libcst",)},
    "rules check": {"own": ("numpy", "libcst", "tensorflow", "torch")},
    "record": {"own": ("numpy",), "tensorflow": ("tensorflow", "tf2onnx", "onnx")},
    "parity": {
        "own": ("numpy", "onnxruntime"),
        "tensorflow": ("tensorflow", "tf2onnx", "onnx"),
        "torch": ("torch", "onnx", "onnxscript"),
    },
    "bench": {"own": ("numpy",), "tensorflow": ("tensorflow",), "torch": ("torch",)},
    "report": {"own": ("jinja2", "matplotlib")},
}
STAGES = ("assess", "rewrite", "record", "parity", "bench", "report")  # what `run` does
COMPILERS = ("g++", "clang++", "c++", "cl")


@dataclass(frozen=True)
class Interpreter:
    """One Python and what it has. `error` says why it, or its framework, cannot be used."""

    python: str
    version: str
    packages: Mapping[str, str | None]
    devices: tuple[str, ...]
    error: str = ""


@dataclass(frozen=True)
class Need:
    """What one command lacks, by interpreter (`own`, `tensorflow`, `torch`); nothing where it is ready."""

    command: str
    missing: Mapping[str, tuple[str, ...]]


@dataclass(frozen=True)
class Health:
    """Everything `migrate doctor` knows. `extra` is the one to install here; `compiler` is what torch.compile needs."""

    version: str
    system: str
    cores: int
    nvidia: bool
    compiler: str | None
    interpreters: Mapping[str, Interpreter]
    commands: tuple[Need, ...]
    extra: Literal["cpu", "gpu"]


def examine(interpreters: Mapping[str, str]) -> Health:
    """Looks at this machine; `interpreters` maps a side to the Python the configuration names for it."""
    found = {side: _probe(side, interpreters.get(side)) for side in ("tensorflow", "torch")}
    own = Interpreter(sys.executable, platform.python_version(), _own_packages(), ())
    places = {"own": own, **found}
    commands = [Need(command, _missing(needs, places)) for command, needs in NEEDS.items()]
    commands.append(_all_of(commands))
    nvidia = shutil.which("nvidia-smi") is not None
    return Health(
        version=__version__,
        system=f"{platform.system()} {platform.machine()}",
        cores=os.cpu_count() or 1,
        nvidia=nvidia,
        compiler=_compiler(),
        interpreters=places,
        commands=tuple(commands),
        extra="gpu" if nvidia else "cpu",
    )


def _all_of(commands: Sequence[Need]) -> Need:
    """What `run` lacks: all that its stages lack."""
    stages = [need.missing for need in commands if need.command in STAGES]
    places = dict.fromkeys(place for missing in stages for place in missing)
    return Need("run", {p: tuple(dict.fromkeys(name for m in stages for name in m.get(p, ()))) for p in places})


def _missing(needs: Mapping[str, tuple[str, ...]], places: Mapping[str, Interpreter]) -> dict[str, tuple[str, ...]]:
    missing = {}
    for place, names in needs.items():
        found = places[place]
        absent = tuple(name for name in names if not found.packages.get(name) or (name == place and found.error))
        if absent:
            missing[place] = absent
    return missing


def _own_packages() -> dict[str, str | None]:
    from migrator.worker.probe import version

    return {name: version(names) for name, names in PACKAGES.items()}


def _probe(side: str, python: str | None) -> Interpreter:
    from migrator.worker import launch

    asked = {"framework": side, "packages": PACKAGES}
    with tempfile.TemporaryDirectory(prefix="migrate-doctor-") as scratch:
        try:
            result = launch.run("probe", asked, Path(scratch), python=python, timeout=120)
        except OSError as error:
            return Interpreter(python or sys.executable, "", {}, (), f"it cannot be started: {error.strerror}")
    if result["status"] != "ok":
        return Interpreter(python or sys.executable, "", {}, (), str(result.get("message", result["status"])))
    return Interpreter(
        python=python or sys.executable,
        version=result["python"],
        packages=result["packages"],
        devices=tuple(result["devices"]),
        error=result["broken"],
    )


def _compiler() -> str | None:
    """The C++ compiler that torch.compile will find on this machine: $CXX, else the usual names."""
    for name in (os.environ.get("CXX", ""), *COMPILERS):
        path = shutil.which(name) if name else None
        if path:
            return path
    return None
