"""Where the support module of a file lives, and how the file imports it."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from migrator.facts import Project
from migrator.rewrite.support import MODULE


def support_place(path: str, project: Project) -> tuple[str, str]:
    """The support module's path, and the module name in the file's import statement.

    In a package it stands in the topmost package and is imported relatively; a plain folder that others import by its
    dotted name shares the one at the root; every other plain folder is on the path by itself and has its own.
    """
    root = project.inventory.root
    folder = PurePosixPath(path).parent
    if _is_package(root, folder):
        top = folder
        while top != PurePosixPath(".") and _is_package(root, top.parent):
            top = top.parent
        depth = len(folder.parts) - len(top.parts)
        return str(top / f"{MODULE}.py"), "." * (depth + 1) + MODULE
    if folder != PurePosixPath(".") and _imported_from_root(folder, project):
        return f"{MODULE}.py", MODULE
    return str(folder / f"{MODULE}.py"), MODULE


def _is_package(root: Path, folder: PurePosixPath) -> bool:
    return (root / folder / "__init__.py").is_file()


def _imported_from_root(folder: PurePosixPath, project: Project) -> bool:
    dotted = ".".join(folder.parts)
    return any(_starts(names, dotted) for names in (r.imports.values() for r in project.resolutions.values()))


def _starts(names: Iterable[str], dotted: str) -> bool:
    return any(name == dotted or name.startswith(dotted + ".") for name in names)
