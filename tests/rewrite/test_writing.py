"""Rewritten projects on disk: whole or not at all, nothing of the original lost."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from migrator import config
from migrator.errors import MigrateError
from migrator.facts import FileResult, Pair, Rewritten
from migrator.rewrite.writing import write_in_place, write_out

PAIR = Pair("net", "model.py:build", "model.py:build", ("float32[batch,3]",))


def change(path: str = "model.py", before: str = "old\n", after: str = "new\n") -> FileResult:
    return FileResult(path, "full", "", before, after)


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "legacy"
    (root / "data").mkdir(parents=True)
    (root / "model.py").write_text("old\n")
    (root / "data/table.csv").write_text("1,2\n")
    return root


def test_a_copy_holds_every_other_file_and_the_pairs_point_back(tree: Path, tmp_path: Path) -> None:
    write_out(tree, Rewritten((change(),), (), (), {"torch_support.py": "x = 1\n"}, (PAIR,)), tmp_path / "out")
    assert (tmp_path / "out/model.py").read_text() == "new\n"
    assert (tmp_path / "out/data/table.csv").read_text() == "1,2\n"
    assert (tmp_path / "out/torch_support.py").exists()
    assert (tree / "model.py").read_text() == "old\n"
    (pair,) = config.load(tmp_path / "out/migrate.toml").pairs
    assert pair.tensorflow == "../legacy/model.py:build"


def test_links_out_of_the_tree_do_not_come_along(tree: Path, tmp_path: Path) -> None:
    (tmp_path / "secret.txt").write_text("no\n")
    (tree / "link.txt").symlink_to(tmp_path / "secret.txt")
    write_out(tree, Rewritten((change(),), (), (), {}, ()), tmp_path / "out")
    assert not (tmp_path / "out/link.txt").exists()


def test_a_copy_inside_the_tree_does_not_copy_itself(tree: Path) -> None:
    write_out(tree, Rewritten((change(),), (), (), {}, ()), tree / "out")
    assert not (tree / "out/out").exists()


def test_in_place_keeps_the_original_beside_and_pairs_point_to_it(tree: Path) -> None:
    write_in_place(tree, Rewritten((change(),), (), (), {"torch_support.py": "x = 1\n"}, (PAIR,)))
    assert (tree / "model.py").read_text() == "new\n"
    assert (tree / ".migrate/original/model.py").read_text() == "old\n"
    (pair,) = config.load(tree / "migrate.toml").pairs
    assert pair.tensorflow == ".migrate/original/model.py:build"
    assert pair.torch == "model.py:build"


def test_a_second_run_in_place_keeps_the_first_original(tree: Path) -> None:
    write_in_place(tree, Rewritten((change(),), (), (), {}, ()))
    write_in_place(tree, Rewritten((change(before="new\n", after="newer\n"),), (), (), {}, ()))
    assert (tree / ".migrate/original/model.py").read_text() == "old\n"
    assert (tree / "model.py").read_text() == "newer\n"


def test_in_place_refuses_changes_that_are_not_committed(tree: Path) -> None:
    def git(*words: str) -> None:
        who = ["-c", "user.name=a", "-c", "user.email=a@example.com"]
        subprocess.run(["git", *who, *words], cwd=tree, check=True, capture_output=True)

    git("init")
    git("add", ".")
    git("commit", "-m", "all")
    (tree / "model.py").write_text("edited\n")
    with pytest.raises(MigrateError, match=r"model\.py has changes that are not committed"):
        write_in_place(tree, Rewritten((change(before="edited\n"),), (), (), {}, ()))
    assert (tree / "model.py").read_text() == "edited\n"
    git("commit", "-am", "edit")
    write_in_place(tree, Rewritten((change(before="edited\n"),), (), (), {}, ()))
    assert (tree / "model.py").read_text() == "new\n"


def test_a_failure_half_way_leaves_every_file_as_it_was(tree: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tree / "train.py").write_text("old train\n")
    replace, calls = os.replace, []

    def fail_second(source: str, target: Path) -> None:
        calls.append(target)
        if len(calls) == 2:
            raise OSError(28, "No space left on device", str(target))
        replace(source, target)

    monkeypatch.setattr(os, "replace", fail_second)
    both = (change(), change("train.py", "old train\n", "new train\n"))
    with pytest.raises(MigrateError, match="nothing was changed"):
        write_in_place(tree, Rewritten(both, (), (), {}, ()))
    assert (tree / "model.py").read_text() == "old\n"
    assert (tree / "train.py").read_text() == "old train\n"


def test_a_file_keeps_the_encoding_that_it_declares(tree: Path, tmp_path: Path) -> None:
    before = "# -*- coding: latin-1 -*-\nname = 'Käse'\n"
    (tree / "model.py").write_bytes(before.encode("latin-1"))
    after = before + "new = 1\n"
    write_out(tree, Rewritten((change(before=before, after=after),), (), (), {}, ()), tmp_path / "out")
    assert (tmp_path / "out/model.py").read_bytes() == after.encode("latin-1")
    write_in_place(tree, Rewritten((change(before=before, after=after),), (), (), {}, ()))
    assert (tree / "model.py").read_bytes() == after.encode("latin-1")
