"""Rewritten projects on disk: a complete copy, or the tree itself. Files are replaced whole or not at all."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
import tokenize
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from migrator import config
from migrator.errors import MigrateError
from migrator.facts import Pair, Rewritten

_SKIPPED = {
    ".git",
    "__pycache__",
    ".venv",
    "venv",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".migrate",
    "migrate-records",
}
ORIGINAL = Path(".migrate") / "original"
_HEADER = "Pairs of models that `migrate parity` compares: TensorFlow as it was, PyTorch as it is now."


def write_out(root: Path, rewritten: Rewritten, out: Path) -> None:
    """Writes a complete copy of the tree with the rewritten files in it. `out` must not exist or be empty.

    The copy is made beside `out` and renamed when it is whole, so an interrupted run leaves nothing behind.
    """
    out.parent.mkdir(parents=True, exist_ok=True)
    staged = Path(tempfile.mkdtemp(prefix=f".{out.name}-", dir=out.parent))
    try:
        _copy(root, staged, out.resolve())
        for path, text in new_texts(rewritten).items():
            target = staged / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(_encoded(text, root / path))
        if rewritten.pairs:
            pairs = [_relocated(pair, root, out) for pair in rewritten.pairs]
            (staged / "migrate.toml").write_text(config.dump(pairs, _HEADER), encoding="utf-8")
        staged.chmod(0o755)
        if out.exists():
            out.rmdir()
        staged.rename(out)
    except OSError as error:
        raise MigrateError(f"The copy in {out} could not be written: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def write_in_place(root: Path, rewritten: Rewritten) -> None:
    """Replaces each changed file, after a copy of the tree was kept in `.migrate/original`.

    The copy is what parity records from; migrate.toml, where there is none yet, points to it. Raises MigrateError
    where git knows of uncommitted changes in a file that would be replaced, or where a file cannot be written; then
    every file is as it was.
    """
    texts = new_texts(rewritten)
    if not texts:
        return
    _require_committed(root, texts)
    original = root / ORIGINAL
    if not original.exists():  # a second run must not replace the first original by what the first run wrote
        _keep_original(root, original)
    if rewritten.pairs and not (root / "migrate.toml").exists():
        pairs = [_relocated(pair, original, root) for pair in rewritten.pairs]
        texts = {**texts, "migrate.toml": config.dump(pairs, _HEADER)}
    done: dict[Path, bytes | None] = {}
    try:
        for path, text in texts.items():
            target = root / path
            done[target] = target.read_bytes() if target.exists() else None
            _replace(target, _encoded(text, target))
    except OSError as error:
        _restore(done)
        raise MigrateError(f"{error.filename} could not be written ({error.strerror}); nothing was changed.") from None


def _encoded(text: str, original: Path) -> bytes:
    """The text in the encoding that the original declares, byte order mark included."""
    encoding = "utf-8"
    if original.suffix == ".py" and original.is_file():
        with original.open("rb") as file:
            encoding = tokenize.detect_encoding(file.readline)[0]
    try:
        return text.encode(encoding)
    except UnicodeEncodeError:
        raise MigrateError(
            f"{original} is written in {encoding}, which lacks a character of its new text. Convert the file to UTF-8."
        ) from None


def _replace(target: Path, content: bytes) -> None:
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.NamedTemporaryFile("wb", dir=target.parent, prefix=f".{target.name}-", delete=False) as new:
        new.write(content)
    if target.exists():
        shutil.copymode(target, new.name)
    else:
        Path(new.name).chmod(0o644)
    os.replace(new.name, target)


def _restore(done: Mapping[Path, bytes | None]) -> None:
    for target, before in done.items():
        if before is None:
            target.unlink(missing_ok=True)
        else:
            target.write_bytes(before)


def _keep_original(root: Path, original: Path) -> None:
    original.parent.mkdir(exist_ok=True)
    (original.parent / ".gitignore").write_text("*\n")
    staged = Path(tempfile.mkdtemp(prefix="original-", dir=original.parent))
    try:
        _copy(root, staged, original.parent.resolve())
        staged.rename(original)
    finally:
        shutil.rmtree(staged, ignore_errors=True)


def _require_committed(root: Path, texts: Mapping[str, str]) -> None:
    """Where there is git, the files about to be replaced must be in it as they are."""
    try:
        asked = subprocess.run(
            ["git", "-C", str(root), "status", "--porcelain", "--", *texts], capture_output=True, text=True, check=False
        )
    except OSError:
        return
    if asked.returncode != 0:
        return
    changed = [line[3:] for line in asked.stdout.splitlines() if not line.startswith("??")]
    if changed:
        raise MigrateError(
            f"{changed[0]} has changes that are not committed ({len(changed)} such files). "
            "Commit or stash them, so that the rewrite can be told apart and taken back."
        )


def new_texts(rewritten: Rewritten) -> Mapping[str, str]:
    """What is written, by path: files that change, and files that are new."""
    changed = {item.path: item.after for item in rewritten.files if item.after != item.before}
    return {**changed, **rewritten.created}


def _copy(root: Path, staged: Path, out: Path) -> None:
    def ignored(folder: str, names: list[str]) -> set[str]:
        here = Path(folder).resolve()
        return {
            name
            for name in names
            if name in _SKIPPED or (here / name) in (out, staged.resolve()) or _leaves(here / name, root.resolve())
        }

    shutil.copytree(root, staged, dirs_exist_ok=True, symlinks=True, ignore=ignored)


def _leaves(path: Path, root: Path) -> bool:
    """Whether a link points out of the tree."""
    return path.is_symlink() and not path.resolve().is_relative_to(root)


def _relocated(pair: Pair, root: Path, out: Path) -> Pair:
    """The pair with the original side as seen from the copy."""
    file, _, name = pair.tensorflow.partition(":")
    original = Path(os.path.relpath((root / file).resolve(), out.resolve())).as_posix()
    data = pair.training
    if data is not None:
        data_file, _, data_name = data.data.partition(":")
        place = Path(os.path.relpath((root / data_file).resolve(), out.resolve())).as_posix()
        data = replace(data, data=f"{place}:{data_name}")
    return replace(pair, tensorflow=f"{original}:{name}", training=data)
