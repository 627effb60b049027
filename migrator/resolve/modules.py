"""Which file of the project an import means.

An absolute import is looked for as Python would find it: from the package that holds the root, beside the importing
file (scripts), in the root, in each folder above the importing file, and in folders such as `src/` that hold
packages. Regular packages and modules win over folders without `__init__.py`, so a folder that happens to be called
`keras` does not hide the library.
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path, PurePosixPath

from migrator.resolve.values import Module


class Modules:
    """The importable files of one project."""

    def __init__(self, root: Path, paths: Collection[str]) -> None:
        self.paths = frozenset(paths)
        self.folders = {str(parent) + "/" for path in paths for parent in PurePosixPath(path).parents}
        self.folders.discard("./")
        self.prefix = _package_of(root)
        self.import_roots = self._import_roots()

    def _import_roots(self) -> tuple[str, ...]:
        """Folders that are no package themselves but hold one: `src/`."""
        packages = {str(PurePosixPath(path).parent) for path in self.paths if path.endswith("/__init__.py")}
        parents = {str(PurePosixPath(package).parent) for package in packages} - packages
        return tuple(sorted("" if parent == "." else parent + "/" for parent in parents))

    def absolute(self, dotted: str, importer: str) -> Module | None:
        """The module that `import dotted` means inside the file `importer`; None where it is not the project's."""
        for prefix in self.prefix:
            if dotted == prefix or dotted.startswith(prefix + "."):
                inside = dotted[len(prefix) + 1 :].replace(".", "/")
                return self._regular("", inside, importer) if inside else self._package("")
        place = dotted.replace(".", "/")
        folders = self._folders_above(importer)
        for folder in dict.fromkeys((*folders, *self.import_roots)):
            top = place.partition("/")[0]
            if self._regular(folder, top, importer) or self._regular(folder, place, importer):
                return self._regular(folder, place, importer)
        for folder in folders:
            if f"{folder}{place}/" in self.folders and place.partition("/")[0] not in ("tensorflow", "keras"):
                return Module(f"{folder}{place}/")
        return None

    def relative(self, dots: int, dotted: str, importer: str) -> Module | None:
        """The module that `from ..dotted import` means inside the file `importer`."""
        parts = PurePosixPath(importer).parts[:-1]
        if dots - 1 > len(parts):
            return None
        folder = "".join(part + "/" for part in parts[: len(parts) - dots + 1])
        place = dotted.replace(".", "/")
        return self._regular(folder, place, "") or self._namespace(folder, place)

    def below(self, module: Module, name: str) -> Module | None:
        """The submodule `name` of a package."""
        if module.path.endswith("/__init__.py") or module.path in ("__init__.py",):
            folder = module.path[: -len("__init__.py")]
        elif module.path.endswith("/") or module.path == "":
            folder = module.path
        else:
            return None
        return self._regular(folder, name, "") or self._namespace(folder, name)

    def _regular(self, folder: str, place: str, importer: str) -> Module | None:
        if not place:
            return self._package(folder)
        for path in (f"{folder}{place}/__init__.py", f"{folder}{place}.py"):
            if path in self.paths and path != importer:
                return Module(path)
        return None

    def _package(self, folder: str) -> Module:
        init = f"{folder}__init__.py"
        return Module(init if init in self.paths else folder)

    def _namespace(self, folder: str, place: str) -> Module | None:
        if not place:
            return Module(folder)
        return Module(f"{folder}{place}/") if f"{folder}{place}/" in self.folders else None

    @staticmethod
    def _folders_above(importer: str) -> tuple[str, ...]:
        parts = PurePosixPath(importer).parts[:-1]
        return tuple("".join(part + "/" for part in parts[:end]) for end in range(len(parts), -1, -1))


def _package_of(root: Path) -> tuple[str, ...]:
    """Dotted names under which the root itself can be imported: it and the packages it lies in."""
    if not (root / "__init__.py").exists():
        return ()
    parts = [root.name]
    for parent in root.parents:
        if not (parent / "__init__.py").exists():
            break
        parts.insert(0, parent.name)
    return (".".join(parts),)
