"""The text of a Python file becomes a parsed Source, or a record that says why it did not.

Two parsers look at it. The standard one only guards: it refuses deep nesting with an error, where the parser of
libcst, which is needed to keep comments and reads newer grammars, would end the process.
"""

from __future__ import annotations

import ast
import warnings

from migrator.facts import Skipped, Source
from migrator.scan.text import Text

SKIP_MARK = "migrate: skip"
LARGEST = 4_000_000  # characters; the parser needs about five seconds for each million
TOO_DEEP = ("too many nested parentheses", "too many levels of indentation", "nested too deeply", "too many statically")


def parse(path: str, text: Text) -> Source | Skipped:
    """`path` is relative to the root and only labels the result."""
    content = text.content
    if asks_to_be_left(content):
        return Skipped(path, f"asks to be left alone (# {SKIP_MARK})")
    if len(content) > LARGEST:
        return Skipped(path, f"is larger than {LARGEST // 1_000_000} million characters; split it to have it read")
    if "\r" in content.replace("\r\n", ""):
        return Skipped(path, "ends lines with bare carriage returns; save it with usual line ends to have it read")
    if _too_deep(content):
        return Skipped(path, "is nested too deeply to be read")
    return _parse(path, text)


def asks_to_be_left(content: str) -> bool:
    """Whether a comment above the first statement says `# migrate: skip`."""
    for line in content.splitlines():
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            return False
        if stripped.lstrip("#").strip() == SKIP_MARK:
            return True
    return False


def _too_deep(content: str) -> bool:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            ast.parse(content)
    except SyntaxError as error:
        return any(words in str(error) for words in TOO_DEEP)
    except (RecursionError, MemoryError):
        return True
    except ValueError:
        return False
    return False


def _parse(path: str, text: Text) -> Source | Skipped:
    import libcst as cst

    try:
        return Source(path, text.content, cst.parse_module(text.content), text.encoding)
    except cst.ParserSyntaxError as error:
        return Skipped(path, f"does not parse as Python 3 (line {error.raw_line})")
    except RecursionError:
        return Skipped(path, "is nested too deeply to be read")
