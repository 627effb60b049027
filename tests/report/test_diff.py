"""The diff of a rewrite is one that git applies, whatever the files end with."""

from __future__ import annotations

import subprocess
from pathlib import Path

from migrator.facts import FileResult, Rewritten
from migrator.report.diff import unified


def rewritten(files: dict[str, tuple[str, str]], created: dict[str, str]) -> Rewritten:
    results = tuple(FileResult(path, "full", "", before, after) for path, (before, after) in files.items())
    return Rewritten(results, (), (), created, ())


def test_git_applies_it_to_the_original_and_gets_the_rewritten_tree(tmp_path: Path) -> None:
    files = {
        "models.py": ("import tensorflow\n\x0cx = 1\n", "import torch\n\x0cx = 1\n"),
        "pkg/open end.py": ("a = 1\nb = 2", "a = 1\nb = 3"),
        "pkg/closed.py": ("a = 1", "a = 1\n"),
        "same.py": ("pass\n", "pass\n"),
    }
    created = {"torch_support.py": "import torch\n"}
    for path, (before, _) in files.items():
        (tmp_path / path).parent.mkdir(exist_ok=True)
        (tmp_path / path).write_bytes(before.encode())

    text = unified(rewritten(files, created))
    subprocess.run(["git", "apply", "-"], input=text.encode(), cwd=tmp_path, check=True)

    for path, (_, after) in files.items():
        assert (tmp_path / path).read_bytes() == after.encode()
    assert (tmp_path / "torch_support.py").read_text() == "import torch\n"
    assert "same.py" not in text


def test_nothing_changed_is_no_diff() -> None:
    assert unified(rewritten({"a.py": ("x = 1\n", "x = 1\n")}, {})) == ""
