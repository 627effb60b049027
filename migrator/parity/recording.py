"""Recording: the TensorFlow side is run once, and what it computed is kept, small enough for version control.

Nothing of a record is whole until all of it is: it is written beside its place and moved there at the end. When it is
read its checksums, the specification it was made for and the TensorFlow files it was made from are compared with what
is there now.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

from migrator.errors import ExitCode, MigrateError
from migrator.facts import Pair
from migrator.parity import requests
from migrator.parity.options import CHECKS, Options, Progress
from migrator.worker import files, recorded

FOLDER = "migrate-records"


def place(pair: Pair, folder: Path) -> Path:
    """Where the record of a configured pair lives."""
    return folder / FOLDER / pair.name


def record(pair: Pair, folder: Path, options: Options, progress: Progress) -> Path:
    """Record the TensorFlow side of a pair, whose REFs are relative to `folder`; returns the record's folder.

    An earlier record is replaced when the new one is complete. Raises MigrateError where TensorFlow, the interpreter or
    the callable is missing (exit code 2), or where the TensorFlow code fails (exit code 1).
    """
    try:
        return write(pair, folder, options, progress, place(pair, folder), CHECKS)
    except requests.SideFailed as error:
        raise MigrateError(f"Pair {pair.name} could not be recorded. {error}", ExitCode.WORK) from None


def write(
    pair: Pair, folder: Path, options: Options, progress: Progress, target: Path, checks: tuple[str, ...]
) -> Path:
    """Record into `target` what the named checks need. Raises as `record` does, or requests.SideFailed."""
    requests.check_ref(pair.tensorflow, folder, "TensorFlow")
    progress(f"{pair.name}: running the TensorFlow side")
    with requests.temporary() as name:
        out = Path(name)
        asked = _request(pair, folder, options, out)
        asked["checks"] = [check for check in CHECKS if check in checks]
        facts = requests.ask("tensorflow_side", asked, out, options, "tensorflow")
        part = target.with_name(f".{target.name}.part{os.getpid()}")
        try:
            _fill(part, out, asked, facts, requests.specification(pair, options), options.full or options.ad_hoc)
            _replace(target, part)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    return target


def _request(pair: Pair, folder: Path, options: Options, out: Path) -> dict[str, Any]:
    asked = requests.specification(pair, options)
    if options.inputs is not None:
        arrays = requests.from_file(options.inputs)
        files.write_arrays(out / "data.safetensors", arrays)
        asked["data"] = str(out / "data.safetensors")
        if not pair.inputs:
            asked["inputs"] = requests.specs_of(arrays)
    asked["folder"] = str(folder.resolve())
    asked["root"] = str(requests.root_of(pair.tensorflow, folder))
    return asked


def _fill(
    part: Path, out: Path, asked: dict[str, Any], facts: dict[str, Any], specification: dict[str, Any], full: bool
) -> None:
    part.mkdir(parents=True)
    stored, sketches = recorded.packed(files.read_arrays(out / "arrays.safetensors"), full)
    files.write_arrays(part / "arrays.safetensors", stored)
    names = ["arrays.safetensors"]
    for extra in ("tensorflow.onnx", "data.safetensors"):
        if (out / extra).exists():
            shutil.copyfile(out / extra, part / extra)
            names.append(extra)
    kept = {key: value for key, value in asked.items() if key not in ("folder", "root", "data")}
    if "data" in asked:
        kept["data"] = "data.safetensors"
    content = {
        "schema": recorded.SCHEMA,
        "specification": requests.digest(specification),
        "request": kept,
        "facts": {key: value for key, value in facts.items() if key not in ("status", "seconds")},
        "sketches": sketches,
        "files": {name: files.digest(part / name) for name in names},
    }
    files.write_json(part / "record.json", content)


def _replace(target: Path, part: Path) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    old = target.with_name(f".{target.name}.old{os.getpid()}")
    if target.exists():
        target.rename(old)
    part.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def read(pair: Pair, folder: Path, options: Options, where: Path) -> recorded.Record:
    """The record in `where`, checked. Raises MigrateError naming the file where it is damaged or stale."""
    again = f"Record it again with `migrate record {pair.name}`."
    try:
        found = recorded.Record(where)
    except recorded.Damaged as error:
        raise MigrateError(f"The record of pair {pair.name} is damaged: {error}. {again}", ExitCode.WORK) from None
    if found.content["specification"] != requests.digest(requests.specification(pair, options)):
        message = f"The record of pair {pair.name} is stale: the pair's specification has changed since. {again}"
        raise MigrateError(message, ExitCode.WORK)
    for name, digest in found.facts["sources"].items():
        source = folder / name
        # a source that is gone makes the record final at its revision; one that changed makes it stale
        if source.is_file() and files.digest(source) != digest:
            message = f"The record of pair {pair.name} is stale: {name} has changed since it was made. {again}"
            raise MigrateError(message, ExitCode.WORK)
    return found
