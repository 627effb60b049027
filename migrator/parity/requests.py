"""From a pair and the options to what a worker is asked, and from a worker's answer to a result or an error."""

from __future__ import annotations

import hashlib
import json
import tempfile
import threading
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from migrator.config import parse_spec
from migrator.errors import MigrateError
from migrator.facts import Named, Pair
from migrator.parity.options import Options
from migrator.worker import files, launch

FRAMEWORKS = {"tensorflow": "TensorFlow", "torch": "PyTorch", "onnxruntime": "ONNX Runtime"}


class SideFailed(Exception):
    """The team's code, or a worker, raised, crashed or hung. The text is for the report: message and last lines."""


def specification(pair: Pair, options: Options) -> dict[str, Any]:
    """What a record depends on beside the TensorFlow source; equal specifications give equal records."""
    return {
        "ref": pair.tensorflow,
        "inputs": [spec_facts(text) for text in pair.inputs],
        "target": spec_facts(pair.target) if pair.target else None,
        "sizes": {"batch": pair.batch},
        "seed": options.seed,
        "call": pair.call,
        "arguments": dict(pair.tensorflow_args),
        "loss": named_facts(pair.loss),
        "weights": pair.weights,
    }


def digest(value: Mapping[str, Any]) -> str:
    """SHA-256 of a JSON value, whatever the order of its keys."""
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def spec_facts(text: str) -> dict[str, Any]:
    """A SPEC as JSON. Raises MigrateError where it is none, or a dimension other than `batch` has no size."""
    spec = parse_spec(text)
    for dim in spec.dims:
        if isinstance(dim, str) and dim != "batch":
            raise MigrateError(f"Dimension '{dim}' of '{text}' has no size. Write a number, or batch.")
    return {**asdict(spec), "dims": list(spec.dims)}


def named_facts(named: Named | None) -> dict[str, Any] | None:
    """A loss or optimizer as JSON."""
    return None if named is None else {"name": named.name, "arguments": dict(named.arguments)}


def from_file(path: Path) -> dict[str, np.ndarray]:
    """The arrays of an .npz or .safetensors file. Raises MigrateError where it is neither, or cannot be read."""
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as data:
                return {name.removeprefix("arr_"): data[name] for name in data.files}
        if path.suffix == ".safetensors":
            return files.read_arrays(path)
    except (OSError, ValueError, KeyError) as error:
        raise MigrateError(f"The inputs file {path} cannot be read: {error}.") from None
    raise MigrateError(f"The inputs file {path} should be .npz or .safetensors.")


def specs_of(arrays: Mapping[str, np.ndarray]) -> list[dict[str, Any]]:
    """Specifications that describe given arrays: in call order, or by name where the names are no numbers."""
    numbered = all(name.isdigit() for name in arrays)
    names = sorted(arrays, key=int) if numbered else list(arrays)
    return [
        {"name": None if numbered else name, "dtype": str(arrays[name].dtype), "dims": list(arrays[name].shape)}
        for name in names
    ]


def check_ref(ref: str, folder: Path, side: str) -> None:
    """Raises MigrateError where the file that a REF names does not exist, before any process is started."""
    target, _, attribute = ref.rpartition(":")
    if not target or not attribute:
        raise MigrateError(f"'{ref}' ({side}) names no callable. Write it like models.py:build or pkg.models:build.")
    if target.endswith(".py") and not (folder / target).is_file():
        raise MigrateError(f"There is no file {folder / target} ({side} side of the pair).")


def root_of(ref: str, folder: Path) -> Path:
    """The folder whose Python files belong to the code that a REF names: the parent of its outermost package."""
    target = ref.rpartition(":")[0]
    if not target.endswith(".py"):
        return folder
    parent = (folder / target).resolve().parent
    while (parent / "__init__.py").exists():
        parent = parent.parent
    return parent


def ask(
    module: str,
    request: Mapping[str, Any],
    out: Path,
    options: Options,
    side: str,
    environment: Mapping[str, str] | None = None,
    stop: threading.Event | None = None,
) -> dict[str, Any]:
    """Run a worker for one side, with more in its `environment`, and return its facts; `stop` ends it early.

    Raises MigrateError for what the user must mend first (no such interpreter, framework or callable) and SideFailed
    where the code that was run raised, crashed or hung.
    """
    python = options.interpreters.get(side)
    asked = {**request, "frameworks": list(FRAMEWORKS), "device": options.device}
    extra = {**(environment or {}), **({"CUDA_VISIBLE_DEVICES": "-1"} if options.device == "cpu" else {})}
    try:
        result = launch.run(module, asked, out, python, options.timeout, extra, stop)
    except OSError as error:
        raise MigrateError(f"The interpreter {python} cannot be started: {error.strerror}.") from None
    if result["status"] == "ok":
        return result
    if result["status"] == "missing":
        raise MigrateError(result["message"])
    if result["status"] == "framework":
        raise MigrateError(_not_installed(result["package"], python, side))
    raise SideFailed(_failure(result, side))


def _not_installed(package: str, python: str | None, side: str) -> str:
    name = {**FRAMEWORKS, "numpy": "NumPy"}.get(package, package)
    where = f"in {python}" if python else "in this environment"
    option = f", or name an interpreter that has it with --{side}-python" if side in ("tensorflow", "torch") else ""
    return f"{name} is not installed {where}. Install tf2torch-migrator[cpu] (or [gpu]){option}."


def _failure(result: Mapping[str, Any], side: str) -> str:
    place = f" ({Path(result['file']).name}:{result['line']})" if result.get("file") else ""
    lines = "\n".join(result.get("last_lines", []))
    return f"The {FRAMEWORKS.get(side, side)} side failed{place}: {result['message']}" + (f"\n{lines}" if lines else "")


def temporary() -> tempfile.TemporaryDirectory[str]:
    """A folder for what workers exchange; gone afterwards."""
    return tempfile.TemporaryDirectory(prefix="migrate-")


def rules_known(ids: Sequence[str], known: Sequence[str]) -> None:
    """Raises MigrateError for an accepted difference that does not exist."""
    for id_ in ids:
        if id_ not in known:
            raise MigrateError(f"There is no known difference '{id_}'. Known are {', '.join(sorted(known))}.")
