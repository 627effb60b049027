"""Arrays and facts on disk: safetensors written and read by hand, JSON written atomically.

By hand because these functions run in environments that hold NumPy and one framework and nothing of ours.
The layout is eight bytes of header length (little endian), a JSON header and the raw arrays, C order, little endian.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path
from typing import Any, Mapping, Union

import numpy as np

PathLike = Union[str, Path]

_DTYPES: dict[str, Any] = {
    "F64": np.dtype("<f8"),
    "F32": np.dtype("<f4"),
    "F16": np.dtype("<f2"),
    "I64": np.dtype("<i8"),
    "I32": np.dtype("<i4"),
    "I16": np.dtype("<i2"),
    "I8": np.dtype("i1"),
    "U64": np.dtype("<u8"),
    "U32": np.dtype("<u4"),
    "U16": np.dtype("<u2"),
    "U8": np.dtype("u1"),
    "BOOL": np.dtype("?"),
}
_NAMES = {dtype: name for name, dtype in _DTYPES.items()}


def write_arrays(path: PathLike, arrays: Mapping[str, np.ndarray], metadata: Mapping[str, str] | None = None) -> None:
    """Write named arrays as one safetensors file, atomically.

    Raises TypeError for a dtype that the format does not know (objects, strings, complex numbers).
    """
    header: dict[str, Any] = {"__metadata__": dict(metadata)} if metadata else {}
    blobs = []
    offset = 0
    for name, array in arrays.items():
        array = np.asarray(array)
        little = array.dtype.newbyteorder("<") if array.dtype.byteorder == ">" else array.dtype
        if little not in _NAMES:
            raise TypeError(f"array {name!r} has dtype {array.dtype}, which safetensors cannot hold")
        blob = array.astype(little, copy=False).tobytes(order="C")
        header[name] = {
            "dtype": _NAMES[little],
            "shape": list(array.shape),
            "data_offsets": [offset, offset + len(blob)],
        }
        blobs.append(blob)
        offset += len(blob)
    text = json.dumps(header, separators=(",", ":")).encode("utf-8")
    text += b" " * (-len(text) % 8)
    _write_atomically(Path(path), b"".join([len(text).to_bytes(8, "little"), text, *blobs]))


def read_arrays(path: PathLike) -> dict[str, np.ndarray]:
    """All arrays of a safetensors file, by name.

    Raises ValueError where the file is cut short or is no safetensors file.
    """
    data = Path(path).read_bytes()
    size = int.from_bytes(data[:8], "little")
    if len(data) < 8 or 8 + size > len(data):
        raise ValueError(f"{path} is damaged: its header is cut short")
    try:
        header = json.loads(data[8 : 8 + size].decode("utf-8"))
    except ValueError as error:
        raise ValueError(f"{path} is damaged: its header is not JSON") from error
    body = memoryview(data)[8 + size :]
    return {name: _array(path, name, entry, body) for name, entry in header.items() if name != "__metadata__"}


def _array(path: PathLike, name: str, entry: Mapping[str, Any], body: memoryview) -> np.ndarray:
    start, end = entry["data_offsets"]
    dtype = _DTYPES.get(entry["dtype"])
    if dtype is None:
        raise ValueError("{}: array {!r} has dtype {}, which NumPy lacks".format(path, name, entry["dtype"]))
    count = int(np.prod(entry["shape"], dtype=np.int64))
    if end > len(body) or end - start != count * dtype.itemsize:
        raise ValueError(f"{path} is damaged: array {name!r} is cut short")
    found: np.ndarray = np.frombuffer(body[start:end], dtype=dtype).reshape(entry["shape"]).copy()
    return found


def write_json(path: PathLike, value: Any) -> None:
    """Write one JSON value, atomically. Infinity and NaN are kept as Python's json spells them."""
    _write_atomically(Path(path), (json.dumps(value, indent=1, default=_plain) + "\n").encode("utf-8"))


def read_json(path: PathLike) -> Any:
    """The value of a JSON file; raises ValueError where it is damaged."""
    return json.loads(Path(path).read_text(encoding="utf-8"))


def digest(path: PathLike) -> str:
    """SHA-256 of a file's bytes, in hexadecimal."""
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def digest_array(array: np.ndarray) -> str:
    """SHA-256 of an array's dtype, shape and bytes, in hexadecimal."""
    array = np.ascontiguousarray(array)
    start = f"{array.dtype.str}{array.shape}".encode("ascii")
    return hashlib.sha256(start + array.tobytes()).hexdigest()


def _plain(value: Any) -> Any:
    if isinstance(value, (np.generic, np.ndarray)):
        return value.tolist()
    raise TypeError(f"{type(value).__name__} is not JSON")


def _write_atomically(path: Path, data: bytes) -> None:
    part = path.with_name(f"{path.name}.part{os.getpid()}")
    try:
        part.write_bytes(data)
        os.replace(str(part), str(path))
    finally:
        if part.exists():
            part.unlink()
