"""Bad input: a plain sentence that says what to do, the right exit code, nothing lost, no traceback."""

from __future__ import annotations

import sys
import venv
from pathlib import Path
from typing import Any

import numpy
import pytest

MODEL = """from tensorflow import keras
from tensorflow.keras import layers


def build():
    return keras.Sequential([keras.Input(shape=(4,)), layers.Dense(3)])
"""
AD_HOC = ("--tensorflow", "models.py:build", "--torch", "twin.py:build")


def plain(said: Any, code: int, *words: str) -> None:
    """The command ended with this code and a sentence that holds these words, and with nothing on standard output."""
    assert "Traceback" not in said.err + said.out
    assert "defect" not in said.err
    for word in words:
        assert word in said.err, said.err
    assert (said.code, said.out) == (code, "")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with one model."""
    folder = tmp_path / "legacy"
    folder.mkdir()
    (folder / "models.py").write_text(MODEL, encoding="utf-8")
    return folder


def snapshot(folder: Path) -> dict[str, bytes]:
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# ---------------------------------------------------------------- trees

READERS = [("assess",), ("rewrite", "--check"), ("run", "--out", "out")]


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
def test_a_path_that_does_not_exist(migrate: Any, tmp_path: Path, command: tuple[str, ...]) -> None:
    plain(migrate(command[0], "no-such-folder", *command[1:]), 2, "no-such-folder")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("command", READERS, ids=lambda command: command[0])
def test_a_tree_without_python(migrate: Any, tmp_path: Path, command: tuple[str, ...]) -> None:
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "a.md").write_text("import tensorflow\n", encoding="utf-8")
    plain(migrate(command[0], "docs", *command[1:]), 2, "docs", "Python")
    assert not (tmp_path / "out").exists()


def test_a_tree_without_tensorflow_is_fine_and_says_so(migrate: Any, tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    (tmp_path / "plain" / "a.py").write_text("print(1)\n", encoding="utf-8")
    said = migrate("assess", "plain")
    assert said.code == 0
    assert "TensorFlow" in said.out + said.err


def test_a_file_that_does_not_parse_is_skipped_and_the_rest_is_read(migrate: Any, project: Path) -> None:
    (project / "broken.py").write_text("import tensorflow as tf\ndef (:\n", encoding="utf-8")
    said = migrate("assess", "legacy", "--format", "json")
    assert said.code == 0
    assert [skipped["file"] for skipped in said.json["skipped"]] == ["broken.py"]
    assert "tf.keras.layers.Dense" in {finding["api"] for finding in said.json["findings"]}


def test_an_out_folder_that_is_not_empty_is_left_as_it_is(migrate: Any, project: Path, tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "mine.txt").write_text("mine\n", encoding="utf-8")
    before = snapshot(tmp_path)
    for command in (["rewrite", "legacy", "--out", "taken"], ["run", "legacy", "--out", "taken"]):
        plain(migrate(*command), 2, "taken", "not an empty folder")
    assert snapshot(tmp_path) == before


def test_a_result_that_cannot_be_written_is_told(migrate: Any, project: Path) -> None:
    plain(migrate("assess", "legacy", "--output", "no/such/folder/a.txt"), 2, "cannot be written", "--output")


def test_a_report_of_a_folder_without_results(migrate: Any, tmp_path: Path) -> None:
    plain(migrate("report", "nowhere"), 2, "nowhere")
    (tmp_path / "empty").mkdir()
    plain(migrate("report", "empty"), 2, "empty")


# ---------------------------------------------------------------- pairs


@pytest.mark.parametrize("command", ["record", "parity", "bench"])
def test_no_configuration_says_how_to_get_one(migrate: Any, tmp_path: Path, command: str) -> None:
    plain(migrate(command), 2, "There is no migrate.toml", str(tmp_path), "migrate rewrite")
    plain(migrate(command, "--config", "other.toml"), 2, "other.toml")


@pytest.mark.parametrize("command", ["record", "parity", "bench"])
def test_an_unknown_key_of_the_configuration_is_named_with_its_file(migrate: Any, tmp_path: Path, command: str) -> None:
    text = '[[pair]]\nname = "a"\ntensorflow = "m.py:f"\ntorch = "t.py:f"\ninputs = ["float32[2]"]\nbtach = 3\n'
    (tmp_path / "migrate.toml").write_text(text, encoding="utf-8")
    plain(migrate(command), 2, "'btach'", "unknown", "'batch'", "migrate.toml")


def test_a_pair_that_does_not_exist_lists_those_that_do(migrate: Any, tmp_path: Path) -> None:
    text = '[[pair]]\nname = "net"\ntensorflow = "m.py:f"\ntorch = "t.py:f"\ninputs = ["float32[2]"]\n'
    (tmp_path / "migrate.toml").write_text(text, encoding="utf-8")
    plain(migrate("parity", "nett"), 2, "'nett'", "net")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("--tensorflow", "models.py:build", "--input", "float32[1]"), ("--torch is missing",)),
        (("--torch", "twin.py:build", "--input", "float32[1]"), ("--tensorflow is missing",)),
        (AD_HOC, ("--input",)),
        ((*AD_HOC, "--input", "float33[1]"), ("float33",)),
        ((*AD_HOC, "--input", "int32[8]"), ("int32[8]:int(0,1000)",)),
        ((*AD_HOC, "--input", "float32[8]", "--checks", "speed"), ("speed", "forward")),
        ((*AD_HOC, "--input", "float32[8]", "--checks", ","), ("check",)),
        ((*AD_HOC, "--input", "float32[8]", "--loss", "Huber(delta=x)"), ("--loss", "Name(argument=value)")),
        ((*AD_HOC, "--input", "float32[8]", "--tensorflow-args", "[1]"), ("--tensorflow-args",)),
        (("--tensorflow", "models.py", "--torch", "twin.py:build", "--input", "float32[8]"), ("names no callable",)),
    ],
)
def test_a_pair_stated_wrongly(migrate: Any, arguments: tuple[str, ...], words: tuple[str, ...]) -> None:
    plain(migrate("parity", *arguments), 2, *words)


@pytest.fixture
def pair(tmp_path: Path) -> tuple[str, ...]:
    """The command line of a pair whose TensorFlow model raises."""
    (tmp_path / "models.py").write_text("def build():\n    raise ValueError('no weights today')\n", encoding="utf-8")
    (tmp_path / "twin.py").write_text("def build():\n    pass\n", encoding="utf-8")
    return ("parity", *AD_HOC, "--input", "float32[2,4]", "--checks", "build")


def test_a_model_file_that_does_not_exist(migrate: Any, tmp_path: Path, pair: tuple[str, ...]) -> None:
    (tmp_path / "models.py").unlink()
    plain(migrate(*pair), 2, "models.py")


def test_an_interpreter_that_does_not_exist(migrate: Any, pair: tuple[str, ...]) -> None:
    plain(migrate(*pair, "--tensorflow-python", "no-python"), 2, "no-python", "cannot be started")


def test_a_model_that_raises_shows_its_last_lines_and_is_exit_1(migrate: Any, pair: tuple[str, ...]) -> None:
    said = migrate(*pair)
    told = said.out + said.err
    assert said.code == 1
    assert "ValueError: no weights today" in told
    assert "models.py" in told
    assert "Traceback" not in told
    assert "defect" not in told


@pytest.fixture
def bare_python(tmp_path: Path) -> Path:
    """An interpreter that has NumPy and no framework."""
    venv.create(tmp_path / "bare", symlinks=True)
    (site,) = (tmp_path / "bare" / "lib").glob("python*/site-packages")
    for folder in Path(numpy.__file__).parents[1].glob("numpy*"):
        (site / folder.name).symlink_to(folder)
    return tmp_path / "bare" / "bin" / "python"


@pytest.mark.skipif(sys.platform == "win32", reason="makes an environment with links")
def test_an_interpreter_without_its_framework_names_the_extra(
    migrate: Any, pair: tuple[str, ...], bare_python: Path
) -> None:
    plain(migrate(*pair, "--tensorflow-python", bare_python), 2, "tensorflow", "tf2torch-migrator[cpu]")


@pytest.mark.skipif(sys.platform == "win32", reason="makes an environment with links")
def test_an_interpreter_without_numpy_says_so(migrate: Any, pair: tuple[str, ...], tmp_path: Path) -> None:
    venv.create(tmp_path / "empty", symlinks=True)
    python = tmp_path / "empty" / "bin" / "python"
    plain(migrate(*pair, "--tensorflow-python", python), 2, "NumPy is not installed", "--tensorflow-python")
