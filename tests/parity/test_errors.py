"""What goes wrong is told in plain words: by an error before anything runs, or by the verdict `error`."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from migrator import parity
from migrator.errors import ExitCode, MigrateError
from migrator.facts import Accept, Pair, PairResult
from migrator.parity import recording
from migrator.worker import recorded as records

from .conftest import PAIRS, silent

PAIR = Pair("net", "source.py:build", "twin.py:build", ("float32[2,3]",))
QUICK = parity.Options(checks=("build", "weights"), ad_hoc=True)


def check(folder: Path, pair: Pair = PAIR, options: parity.Options = QUICK) -> PairResult:
    return parity.check(pair, folder, options, silent)


def write(folder: Path, source: str = "def build(): return None\n", twin: str = "def build(): return None\n") -> None:
    (folder / "source.py").write_text(source)
    (folder / "twin.py").write_text(twin)


@pytest.mark.parametrize(
    ("pair", "said"),
    [
        (replace(PAIR, torch="nowhere.py:build"), "There is no file .*nowhere.py"),
        (replace(PAIR, tensorflow="nowhere.py:build"), "There is no file .*nowhere.py"),
        (replace(PAIR, tensorflow="source.py"), "names no callable"),
        (replace(PAIR, inputs=("float33[2,3]",)), "float33"),
        (replace(PAIR, inputs=("float32[2,time]",)), "'time'.* has no size"),
        (replace(PAIR, accept=(Accept("no-such", "why"),)), "no known difference 'no-such'"),
    ],
)
def test_a_pair_that_cannot_be_meant_is_refused_before_anything_runs(tmp_path: Path, pair: Pair, said: str) -> None:
    write(tmp_path)
    with pytest.raises(MigrateError, match=said) as caught:
        check(tmp_path, pair)
    assert caught.value.code is ExitCode.UNABLE


def test_a_callable_that_is_not_there_is_refused(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(MigrateError, match=r"source\.py has no 'nothing'"):
        check(tmp_path, replace(PAIR, tensorflow="source.py:nothing"))


def test_a_side_that_raises_is_the_verdict_error_with_its_last_lines(tmp_path: Path) -> None:
    write(tmp_path, "def build():\n    raise KeyError('weights of 2019')\n")
    result = check(tmp_path)
    assert result.verdict == "error"
    assert "The TensorFlow side failed (source.py:2): KeyError: 'weights of 2019'" in result.reason
    assert result.checks == ()


def test_a_framework_that_is_missing_names_the_extra_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path)
    # a package that cannot be imported, in front of everything the workers see
    hidden = tmp_path / "hidden"
    hidden.mkdir()
    (hidden / "tensorflow.py").write_text("raise ModuleNotFoundError('No module', name='tensorflow')\n")
    shim = tmp_path / "python-without"
    shim.write_text(f'#!/bin/sh\nPYTHONPATH="{hidden}" exec "{sys.executable}" "$@"\n')
    shim.chmod(0o755)
    with pytest.raises(MigrateError, match=r"TensorFlow is not installed in .*tf2torch-migrator\[cpu\]"):
        check(tmp_path, options=replace(QUICK, interpreters={"tensorflow": str(shim)}))


def test_an_interpreter_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    write(tmp_path)
    with pytest.raises(MigrateError, match=r"interpreter .*no-python cannot be started"):
        check(tmp_path, options=replace(QUICK, interpreters={"tensorflow": str(tmp_path / "no-python")}))


def test_an_unknown_check_is_refused_with_the_known_ones() -> None:
    with pytest.raises(MigrateError, match=r"no check fourward\. Choose among build, weights"):
        parity.Options(checks=("fourward",))


def test_a_record_made_from_another_source_is_stale_and_names_the_file(recorded: Callable[[str], Path]) -> None:
    folder = recorded("strided")
    source = folder / "source.py"
    source.write_text(source.read_text().replace("0.3", "0.4"))
    result = check(folder, PAIRS["strided"], parity.Options(checks=("build",)))
    assert result.verdict == "error"
    assert "stale: source.py has changed" in result.reason
    assert "migrate record strided" in result.reason


def test_a_record_is_final_once_its_source_is_gone(recorded: Callable[[str], Path]) -> None:
    folder = recorded("strided")
    (folder / "source.py").unlink()
    kept = recording.read(PAIRS["strided"], folder, parity.Options(), recording.place(PAIRS["strided"], folder))
    assert kept.facts["dropout"] == [0.3]


def test_a_record_of_another_specification_is_stale(recorded: Callable[[str], Path]) -> None:
    folder = recorded("strided")
    with pytest.raises(MigrateError, match="specification has changed"):
        recording.read(replace(PAIRS["strided"], batch=9), folder, parity.Options(), folder / "migrate-records/strided")


@pytest.mark.parametrize("name", ["arrays.safetensors", "tensorflow.onnx", "record.json"])
def test_a_damaged_record_names_the_file(recorded: Callable[[str], Path], name: str) -> None:
    folder = recorded("strided")
    place = folder / "migrate-records/strided"
    (place / name).write_bytes((place / name).read_bytes()[:-40])
    with pytest.raises(MigrateError, match=f"damaged.*{name}"):
        recording.read(PAIRS["strided"], folder, parity.Options(), place)


def test_a_record_is_small_and_regenerates_its_weights(recorded: Callable[[str], Path]) -> None:
    place = recorded("strided") / "migrate-records/strided"
    assert sum(file.stat().st_size for file in place.iterdir()) < 300_000
    kept = records.Record(place)
    shapes = [tuple(variable["shape"]) for variable in kept.variables]
    assert [kept.weights()[index].shape for index in range(len(shapes))] == shapes
    assert not any(name.startswith("weight/") for name in kept.references("float64"))


def test_a_recording_that_fails_leaves_the_earlier_record_alone(recorded: Callable[[str], Path]) -> None:
    folder = recorded("strided")
    (folder / "source.py").write_text("def build():\n    raise RuntimeError('half way')\n")
    before = (folder / "migrate-records/strided/record.json").read_bytes()
    with pytest.raises(MigrateError, match="half way") as caught:
        parity.record(PAIRS["strided"], folder, parity.Options(), silent)
    assert caught.value.code is ExitCode.WORK
    assert (folder / "migrate-records/strided/record.json").read_bytes() == before
    assert [each.name for each in (folder / "migrate-records").iterdir()] == ["strided"]
