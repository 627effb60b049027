"""Rewritten projects on disk: a complete copy, or the tree itself. Files are replaced whole or not at all."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from migrator import config
from migrator.errors import MigrateError
from migrator.facts import Pair, Rewritten

_SKIPPED = {".git", "__pycache__", ".venv", "venv", ".mypy_cache", ".pytest_cache", ".ruff_cache", "migrate-records"}
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
            target.write_text(text, encoding="utf-8", newline="")
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
    """Replaces each changed file, one atomic rename a file."""
    for path, text in new_texts(rewritten).items():
        target = root / path
        try:
            with tempfile.NamedTemporaryFile(
                "w", encoding="utf-8", newline="", dir=target.parent, prefix=f".{target.name}-", delete=False
            ) as new:
                new.write(text)
            if target.exists():
                shutil.copymode(target, new.name)
            os.replace(new.name, target)
        except OSError as error:
            raise MigrateError(f"{target} could not be written: {error.strerror or error}.") from None


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
