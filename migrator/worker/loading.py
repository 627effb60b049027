"""Import what a REF names, make the arrays that SPECs mean, and call a model the way `--call` says.

A file inside a package is imported by its dotted name with the package's parent on the path; any other file with its
own folder on the path; `package.module:callable` with the configuration's folder on the path.
"""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import sys
from pathlib import Path
from typing import Any, Callable, Mapping, Sequence

import numpy as np

from . import drawing


class Missing(Exception):
    """A REF names a file, module or callable that is not there: the user's to mend, nothing was run."""


def load(ref: str, folder: str) -> Callable[..., Any]:
    """The callable that `path/to/file.py:callable` or `package.module:callable` names.

    `folder` is what relative paths start from. Raises Missing; whatever the module itself raises passes through.
    """
    target, _, dotted = ref.rpartition(":")
    if not target or not dotted:
        raise Missing(f"{ref!r} is no reference: write path/to/file.py:callable or package.module:callable.")
    module = _import_file(Path(folder, target)) if target.endswith(".py") else _import_module(target, folder)
    found: Any = module
    for part in dotted.split("."):
        if not hasattr(found, part):
            raise Missing(f"{target} has no {dotted!r}.")
        found = getattr(found, part)
    if not callable(found):
        raise Missing(f"{ref} is not callable.")
    result: Callable[..., Any] = found
    return result


def module_name(path: Path) -> tuple[str, Path]:
    """The dotted name by which a file is imported, and the folder that must be on the path."""
    names = [] if path.name == "__init__.py" else [path.stem]
    parent = path.parent
    while (parent / "__init__.py").exists():
        names.insert(0, parent.name)
        parent = parent.parent
    return ".".join(names), parent


def _import_file(path: Path) -> Any:
    path = path.resolve()
    if not path.is_file():
        raise Missing(f"There is no file {path}.")
    name, parent = module_name(path)
    _on_path(parent)
    module = importlib.import_module(name) if _resolves_to(name, path) else None
    return module if module is not None else _import_under_own_name(name, path)


def _resolves_to(name: str, path: Path) -> bool:
    """Whether importing `name` gives this very file, and not a library of the same name."""
    loaded = sys.modules.get(name)
    if loaded is not None:
        return Path(getattr(loaded, "__file__", None) or "/").resolve() == path
    spec = importlib.util.find_spec(name)
    return spec is not None and Path(spec.origin or "/").resolve() == path


def _import_under_own_name(name: str, path: Path) -> Any:
    own = "user_" + name.replace(".", "_")
    spec = importlib.util.spec_from_file_location(own, str(path))
    if spec is None or spec.loader is None:
        raise Missing(f"{path} cannot be imported.")
    module = importlib.util.module_from_spec(spec)
    sys.modules[own] = module
    spec.loader.exec_module(module)
    return module


def _import_module(name: str, folder: str) -> Any:
    _on_path(Path(folder).resolve())
    try:
        found = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        found = None
    if found is None:
        raise Missing(f"There is no module {name!r} (looked from {folder}).")
    return importlib.import_module(name)


def _on_path(folder: Path) -> None:
    if str(folder) in sys.path:
        sys.path.remove(str(folder))
    sys.path.insert(0, str(folder))


def forget(root: Path) -> None:
    """Drop the modules that were imported from below `root`, so that the next import runs their code again."""
    for name, _path in _modules_below(root).items():
        if name != "__main__":
            del sys.modules[name]


def imported_files(root: Path) -> list[str]:
    """The Python files below `root` that have been imported, sorted, installed packages left out."""
    return sorted({str(path) for path in _modules_below(root).values() if "site-packages" not in path.parts})


def _modules_below(root: Path) -> dict[str, Path]:
    own = Path(__file__).resolve().parent
    found = {}
    for name, module in list(sys.modules.items()):
        file = getattr(module, "__file__", None)
        path = Path(file).resolve() if file else None
        if path and root in path.parents and own not in path.parents and "site-packages" not in path.parts:
            found[name] = path
    return found


def arrays(specs: Sequence[Mapping[str, Any]], sizes: Mapping[str, int], seed: int, stream: str) -> list[np.ndarray]:
    """One array per parsed SPEC, in call order; `sizes` gives the named dimensions, `stream` tells batches apart.

    A spec is a mapping with `dtype`, `dims` (numbers or names) and what `drawing.array` reads.
    Raises ValueError for a named dimension without a size.
    """
    made = []
    for index, spec in enumerate(specs):
        shape = [_dimension(dim, sizes) for dim in spec["dims"]]
        made.append(drawing.array(spec, shape, seed, f"{stream}/{index}"))
    return made


def _dimension(dim: Any, sizes: Mapping[str, int]) -> int:
    if isinstance(dim, str) and not dim.isdigit():
        if dim not in sizes:
            raise ValueError(f"the dimension {dim!r} has no size: write a number, or `batch`")
        return int(sizes[dim])
    return int(dim)


def arranged(values: Sequence[Any], names: Sequence[str | None], form: str) -> tuple[list[Any], dict[str, Any]]:
    """Positional and keyword arguments that hand `values` over in the form `single|list|tuple|dict|args`."""
    if form == "single" and len(values) == 1:
        return [values[0]], {}
    if form == "list":
        return [list(values)], {}
    if form == "tuple":
        return [tuple(values)], {}
    if form == "dict":
        if not all(names):
            raise ValueError("to call with a dict every input needs a name: write name=dtype[dims]")
        return [dict(zip([str(name) for name in names], values))], {}
    if form == "args":
        return list(values), {}
    raise ValueError(f"{len(values)} inputs cannot be handed over as {form!r}")


def form_for(function: Callable[..., Any], count: int, names: Sequence[str | None]) -> str:
    """How a function of `count` inputs wants them, judged by its signature: `single`, `args` or `list`."""
    if count == 1:
        return "single"
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return "args"
    if any(p.kind is p.VAR_POSITIONAL for p in parameters):
        return "args"
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    required = [p for p in positional if p.default is p.empty]
    if len(required) <= count <= len(positional):
        return "args"
    return "dict" if all(names) else "list"


def leaves(value: Any, path: str = "") -> list[tuple[str, Any]]:
    """The leaves of nested lists, tuples and dicts (keys sorted) with their paths: `0`, `boxes.1`; None is dropped."""
    if isinstance(value, Mapping):
        children = [(str(key), value[key]) for key in sorted(value)]
    elif isinstance(value, (list, tuple)):
        children = [(str(index), child) for index, child in enumerate(value)]
    else:
        return [] if value is None else [(path or "output", value)]
    return [leaf for key, child in children for leaf in leaves(child, f"{path}.{key}".lstrip("."))]
