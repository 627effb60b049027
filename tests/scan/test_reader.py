"""Trees of every kind: what is read, what is passed over, what becomes a record."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from migrator.errors import ExitCode, MigrateError
from migrator.facts import Inventory
from migrator.scan import read

USES = b"import tensorflow as tf\nx = tf.zeros(3)\n"


def tree(root: Path, files: dict[str, bytes]) -> Path:
    for name, data in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    return root


def paths(inventory: Inventory) -> list[str]:
    return [source.path for source in inventory.sources]


def reasons(inventory: Inventory) -> dict[str, str]:
    return {record.file: record.reason for record in inventory.skipped}


# ---------------------------------------------------------------- errors


@pytest.mark.parametrize("name", ["missing", "a\0b", "x" * 5000])
def test_a_path_that_does_not_exist_is_one_plain_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(MigrateError) as caught:
        read(tmp_path / name)
    assert caught.value.code == ExitCode.UNABLE
    assert "Give a folder or a Python file" in caught.value.message


def test_a_tree_without_python_is_an_error(tmp_path: Path) -> None:
    tree(tmp_path, {"README.md": b"tensorflow", "notes.txt": b""})
    with pytest.raises(MigrateError, match="holds no Python"):
        read(tmp_path)


def test_a_file_that_is_not_python_is_an_error(tmp_path: Path) -> None:
    tree(tmp_path, {"notes.txt": b"tensorflow"})
    with pytest.raises(MigrateError, match=r"not a Python file"):
        read(tmp_path / "notes.txt")


def test_everything_excluded_is_an_error(tmp_path: Path) -> None:
    tree(tmp_path, {"a.py": USES})
    with pytest.raises(MigrateError, match="holds no Python"):
        read(tmp_path, exclude=["*.py"])


# ---------------------------------------------------------------- what is read


def test_files_without_a_trace_are_counted_and_passed_over(tmp_path: Path) -> None:
    found = read(tree(tmp_path, {"a.py": USES, "b.py": b"import numpy\n", "c.py": b""}))
    assert (found.files, paths(found), found.skipped) == (3, ["a.py"], ())


def test_a_tree_without_tensorflow_has_no_sources(tmp_path: Path) -> None:
    found = read(tree(tmp_path, {"a.py": b"import torch\n", "b.py": b"import a\n"}))
    assert (found.files, paths(found)) == (2, [])


def test_users_of_a_source_and_what_they_use_are_sources_too(tmp_path: Path) -> None:
    files = {
        "models.py": USES,
        "train.py": b"from models import build\nimport helpers\n",
        "run.py": b"import train\n",
        "helpers.py": b"A = 1\n",
        "other.py": b"import os\n",
    }
    assert paths(read(tree(tmp_path, files))) == ["helpers.py", "models.py", "run.py", "train.py"]


def test_one_file_stands_for_its_folder(tmp_path: Path) -> None:
    tree(tmp_path, {"a.py": USES, "b.py": USES})
    found = read(tmp_path / "a.py")
    assert (found.root, found.files, paths(found)) == (tmp_path.resolve(), 1, ["a.py"])


def test_ignored_files_and_environments_are_no_part_of_the_project(tmp_path: Path) -> None:
    files = {
        "a.py": USES,
        ".gitignore": b"build/\n*_gen.py\n!keep_gen.py\n",
        "build/b.py": USES,
        "x_gen.py": USES,
        "keep_gen.py": USES,
        "sub/.gitignore": b"/local.py\n",
        "sub/local.py": USES,
        "sub/deep/local.py": USES,
        ".venv/pyvenv.cfg": b"",
        ".venv/lib/c.py": USES,
        "my env/pyvenv.cfg": b"",
        "my env/d.py": USES,
        ".git/e.py": USES,
        "node_modules/f.py": USES,
    }
    assert paths(read(tree(tmp_path, files))) == ["a.py", "keep_gen.py", "sub/deep/local.py"]


def test_patterns_given_by_the_caller_exclude_too(tmp_path: Path) -> None:
    found = read(tree(tmp_path, {"a.py": USES, "tests/t.py": USES, "b_test.py": USES}), exclude=["tests/", "*_test.py"])
    assert paths(found) == ["a.py"]


def test_a_pattern_that_git_cannot_read_is_passed_over(tmp_path: Path) -> None:
    found = read(tree(tmp_path, {"a.py": USES, "b.py": USES, ".gitignore": b"!\nb.py\n\xff\n"}))
    assert paths(found) == ["a.py"]


def test_odd_names_are_read(tmp_path: Path) -> None:
    files = {"a b.py": USES, "c\nd.py": USES, "folder.py/e.py": USES, "é.py": USES}
    assert sorted(paths(read(tree(tmp_path, files)))) == sorted(files)


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside = tree(tmp_path / "outside", {"secret.py": USES})
    root = tree(tmp_path / "root", {"a.py": USES})
    (root / "out").symlink_to(outside)
    (root / "loop").symlink_to(root)
    (root / "file.py").symlink_to(outside / "secret.py")
    (root / "broken.py").symlink_to(root / "nowhere.py")
    found = read(root)
    assert paths(found) == ["a.py"]
    assert set(reasons(found)) == {"file.py", "broken.py"}


# ---------------------------------------------------------------- text


@pytest.mark.parametrize(
    ("data", "encoding"),
    [
        (b"\xef\xbb\xbf" + USES, "utf-8-sig"),
        ("# -*- coding: latin-1 -*-\nimport tensorflow\ns = 'é'\n".encode("latin-1"), "iso-8859-1"),
        ("import tensorflow\ns = 'é'\n".encode(), "utf-8"),
        (USES.replace(b"\n", b"\r\n"), "utf-8"),
        (USES.rstrip(b"\n"), "utf-8"),
    ],
    ids=["byte order mark", "declared latin-1", "utf-8", "windows line ends", "no newline at the end"],
)
def test_text_is_read_as_python_reads_it_and_can_be_written_back(tmp_path: Path, data: bytes, encoding: str) -> None:
    source = read(tree(tmp_path, {"a.py": data})).sources[0]
    assert source.encoding == encoding
    assert source.module.code.encode(source.encoding) == data
    assert not source.text.startswith("\ufeff")


BAD = {
    "null bytes": (b"import tensorflow\0", "null bytes"),
    "another encoding, not declared": ("import tensorflow\ns = 'é'\n".encode("latin-1"), "not valid utf-8"),
    "an encoding that does not exist": (b"# coding: klingon\nimport tensorflow\n", "klingon"),
    "utf-16": ("import tensorflow\n".encode("utf-16"), "null bytes"),
    "a syntax error": (b"import tensorflow\ndef f(:\n", "line 2"),
    "Python 2": (b"import tensorflow\nprint 'x'\n", "does not parse as Python 3"),
    "many parentheses": (b"import tensorflow\nx = " + b"(" * 3000 + b")" * 3000, "nested too deeply"),
    "a very long sum": (b"import tensorflow\nx = " + b"+".join([b"1"] * 20000), "nested too deeply"),
    "bare carriage returns": (b"import tensorflow\rx = 1\r", "carriage returns"),
    "a request to be left": (b"#!/usr/bin/env python\n# migrate: skip\nimport tensorflow\n", "left alone"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_cannot_be_read_becomes_a_record_and_the_rest_is_read(tmp_path: Path, case: str) -> None:
    data, words = BAD[case]
    found = read(tree(tmp_path, {"a.py": USES, "bad.py": data}))
    assert paths(found) == ["a.py"]
    assert found.files == 2
    assert words in reasons(found)["bad.py"]


def test_a_broken_file_without_a_trace_is_passed_over_unless_it_is_no_text(tmp_path: Path) -> None:
    found = read(tree(tmp_path, {"a.py": USES, "b.py": b"def f(:\n", "c.py": b"x = 1\0"}))
    assert set(reasons(found)) == {"c.py"}


def test_skip_counts_only_at_the_top(tmp_path: Path) -> None:
    found = read(tree(tmp_path, {"a.py": USES + b"# migrate: skip\n"}))
    assert paths(found) == ["a.py"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_nobody_may_read_becomes_a_record(tmp_path: Path) -> None:
    tree(tmp_path, {"a.py": USES, "b.py": USES})
    (tmp_path / "b.py").chmod(0)
    assert "cannot be read" in reasons(read(tmp_path))["b.py"]


def test_nothing_that_is_read_is_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    text = f"import tensorflow, pathlib\npathlib.Path({str(trace)!r}).write_text('ran')\n"
    tree(tmp_path / "p", {"a.py": text.encode(), "setup.py": text.encode(), "__init__.py": text.encode()})
    read(tmp_path / "p")
    assert not trace.exists()
