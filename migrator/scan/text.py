"""Bytes become text the way Python itself reads a source file: byte order mark, coding line, UTF-8 otherwise."""

from __future__ import annotations

import io
import tokenize
from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """A decoded file; `encoding` writes it back byte for byte (`utf-8-sig` restores a byte order mark)."""

    content: str
    encoding: str


def decode(data: bytes) -> Text | str:
    """The text of a Python file, or one plain reason why it cannot be read."""
    if b"\0" in data:
        return "holds null bytes, so it is not text"
    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError as error:
        return _reason(error)
    try:
        content = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        return f"is not valid {encoding} on line {line}; declare its encoding or save it as UTF-8"
    return Text(content, encoding)


def _reason(error: SyntaxError) -> str:
    """`detect_encoding` says in many words either that the coding line is unknown or that UTF-8 is invalid."""
    if "unknown encoding" in str(error):
        return f"declares an encoding that Python does not know ({str(error).rsplit(':', 1)[-1].strip()})"
    return "is not valid utf-8; declare its encoding or save it as UTF-8"
