"""Arrays and facts on disk."""

from pathlib import Path

import numpy as np
import pytest
import safetensors.numpy

from migrator.worker import files

ARRAYS = {
    "whole": np.arange(6, dtype=np.float64).reshape(2, 3),
    "single": np.array(1.5, dtype=np.float32),
    "none": np.zeros((0, 4), dtype=np.int32),
    "flags": np.array([True, False, True]),
    "half": np.array([1, 2], dtype=np.float16),
    "transposed": np.arange(6, dtype=np.int64).reshape(2, 3).T,
}


def same(one: dict[str, np.ndarray], other: dict[str, np.ndarray]) -> bool:
    return one.keys() == other.keys() and all(
        one[k].dtype == other[k].dtype and np.array_equal(one[k], other[k]) for k in one
    )


def test_arrays_written_by_hand_are_read_by_the_safetensors_library(tmp_path: Path) -> None:
    files.write_arrays(tmp_path / "a.safetensors", ARRAYS)
    assert same(safetensors.numpy.load_file(tmp_path / "a.safetensors"), ARRAYS)


def test_arrays_written_by_the_safetensors_library_are_read_by_hand(tmp_path: Path) -> None:
    contiguous = {name: np.ascontiguousarray(array).reshape(array.shape) for name, array in ARRAYS.items()}
    safetensors.numpy.save_file(contiguous, tmp_path / "a.safetensors", metadata={"made": "here"})
    assert same(files.read_arrays(tmp_path / "a.safetensors"), ARRAYS)


@pytest.mark.parametrize("keep", [4, 20, -1])
def test_a_file_cut_short_is_said_to_be_damaged(tmp_path: Path, keep: int) -> None:
    path = tmp_path / "a.safetensors"
    files.write_arrays(path, ARRAYS)
    path.write_bytes(path.read_bytes()[:keep])
    with pytest.raises(ValueError, match="damaged"):
        files.read_arrays(path)


def test_an_array_of_objects_is_refused_and_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="cannot hold"):
        files.write_arrays(tmp_path / "a.safetensors", {"x": np.array([{}])})
    assert list(tmp_path.iterdir()) == []


def test_json_keeps_numbers_of_numpy(tmp_path: Path) -> None:
    files.write_json(tmp_path / "a.json", {"n": np.int64(3), "x": np.array([1.5, 2.0])})
    assert files.read_json(tmp_path / "a.json") == {"n": 3, "x": [1.5, 2.0]}
