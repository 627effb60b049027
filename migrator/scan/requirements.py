"""Which packages a project asks for, from the files that say so: package -> version specifier as written.

Files are read as data (setup.py through its syntax tree); nothing is installed and no network is used. A file that
cannot be read says nothing.
"""

from __future__ import annotations

import ast
import configparser
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][\w.-]*)\s*(?:\[[^\]]*\])?\s*([=<>!~][^;#@]*)?")
CONDA = re.compile(r"^\s*-\s*[\"']?([A-Za-z0-9][\w.-]*)\s*([=<>!~][^\"'#\n]*)?", re.MULTILINE)
TENSORFLOW_BUILDS = ("tensorflow-cpu", "tensorflow-gpu", "tensorflow-intel", "tensorflow-macos", "tf-nightly")


def requirements(root: Path, others: Sequence[str]) -> dict[str, str]:
    """All requirements of a tree; where files disagree, the outermost one that states a version wins.

    Args:
        others: relative paths of the files that are not Python; `setup.py` is looked for beside them.
    """
    found: dict[str, str] = {}
    files = sorted((*others, "setup.py"), key=lambda path: (path.count("/"), path))
    for path in files:
        reader = _reader(PurePosixPath(path))
        if reader is None:
            continue
        try:
            pairs = list(reader((root / path).read_text(encoding="utf-8", errors="replace")))
        except (OSError, ValueError, SyntaxError, configparser.Error, RecursionError, MemoryError):
            continue
        for name, specifier in pairs:
            if not found.get(name):
                found[name] = specifier
    return found


def tensorflow_specifier(found: Mapping[str, str]) -> str | None:
    """The specifier of whichever TensorFlow build is required; None where none is."""
    for name in ("tensorflow", *TENSORFLOW_BUILDS):
        if name in found:
            return found[name]
    return None


def _reader(path: PurePosixPath) -> Any:
    name = path.name.lower()
    listed = "requirement" in name or "constraints" in name or path.parent.name == "requirements"
    if listed and name.endswith((".txt", ".in")):
        return _lines
    if name in ("environment.yml", "environment.yaml", "conda.yml", "conda.yaml"):
        return _conda
    return {"pyproject.toml": _pyproject, "setup.cfg": _setup_cfg, "setup.py": _setup_py, "pipfile": _pipfile}.get(name)


def _lines(text: str | Iterable[str]) -> Iterator[tuple[str, str]]:
    for line in text.splitlines() if isinstance(text, str) else text:
        match = REQUIREMENT.match(line)
        if match and "://" not in line.split("#")[0]:
            yield _normal(match[1]), (match[2] or "").strip()


def _conda(text: str) -> Iterator[tuple[str, str]]:
    for name, specifier in CONDA.findall(text):
        version = specifier.strip()
        if re.match(r"=[^=]", version):  # conda writes name=2.4=build for any 2.4
            version = "==" + version[1:].split("=")[0] + ("" if version.count("=") > 1 else ".*")
        yield _normal(name), version


def _pyproject(text: str) -> Iterator[tuple[str, str]]:
    data = tomllib.loads(text)
    project = data.get("project", {})
    yield from _lines(project.get("dependencies", ()))
    for extra in project.get("optional-dependencies", {}).values():
        yield from _lines(extra)
    for name, value in data.get("tool", {}).get("poetry", {}).get("dependencies", {}).items():
        yield _normal(name), _poetry(value)


def _pipfile(text: str) -> Iterator[tuple[str, str]]:
    for name, value in tomllib.loads(text).get("packages", {}).items():
        yield _normal(name), _poetry(value)


def _poetry(value: Any) -> str:
    """Poetry's `^2.4` and `2.4` as ordinary specifiers; `*` says nothing."""
    text = value.get("version", "") if isinstance(value, dict) else value
    if not isinstance(text, str) or text in ("", "*"):
        return ""
    if text.startswith("^"):
        return f">={text[1:]},<{int(text[1:].split('.')[0]) + 1}"
    return text if text[0] in "=<>!~" else f"=={text}"


def _setup_cfg(text: str) -> Iterator[tuple[str, str]]:
    parser = configparser.ConfigParser(interpolation=None)
    parser.read_string(text)
    yield from _lines(parser.get("options", "install_requires", fallback=""))
    if parser.has_section("options.extras_require"):
        for _, value in parser.items("options.extras_require"):
            yield from _lines(value)


def _setup_py(text: str) -> Iterator[tuple[str, str]]:
    """String literals in lists that are passed as, or assigned to, something called `…requires…`."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.keyword):
            names = [node.arg or ""]
        elif isinstance(node, ast.Assign):
            names = [ast.unparse(target).lower() for target in node.targets]
        else:
            continue
        if any("require" in name for name in names):
            yield from _lines(_strings(node.value))


def _strings(node: ast.expr) -> list[str]:
    return [part.value for part in ast.walk(node) if isinstance(part, ast.Constant) and isinstance(part.value, str)]


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
