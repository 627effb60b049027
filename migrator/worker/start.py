"""Entry point of every worker: `python start.py request.json`. Always leaves a `result.json` unless it is killed.

The request is a JSON object with `module` (a module of this folder that has `main(request) -> facts`) and `out` (an
existing folder). The result is `{"status": "ok", ...facts}`, or one of
`missing` (a REF names nothing), `framework` (the framework is not installed), `raised` (the user's code or ours raised)
with `message`, the `last_lines` of the traceback and, where it is known, the user's `file` and `line`.
This folder is loaded as a package called `migrate_worker` and taken off the path: a user's own `files.py` must stay
importable, and so must the interpreter's own libraries.
"""

from __future__ import annotations

import importlib
import importlib.util
import json
import os
import sys
import threading
import traceback
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PACKAGE = "migrate_worker"


def _load_package() -> None:
    sys.path[:] = [entry for entry in sys.path if Path(entry or ".").resolve() != HERE]
    spec = importlib.util.spec_from_file_location(
        PACKAGE, str(HERE / "__init__.py"), submodule_search_locations=[str(HERE)]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules[PACKAGE] = package
    spec.loader.exec_module(package)


def _end_with_parent() -> None:
    """Leaves as soon as whoever started us is gone: our standard input is a pipe that they hold open.

    The user's code sees an empty standard input instead.
    """
    ours = os.dup(0)
    with open(os.devnull) as nothing:
        os.dup2(nothing.fileno(), 0)

    def watch() -> None:
        while os.read(ours, 1):
            pass
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def run(request: dict[str, Any]) -> dict[str, Any]:
    """Run the request and turn whatever happens into a result."""
    loading = importlib.import_module(PACKAGE + ".loading")
    try:
        facts = importlib.import_module("{}.{}".format(PACKAGE, request["module"])).main(request)
        return dict(facts or {}, status="ok")
    except loading.Missing as error:
        return {"status": "missing", "message": str(error)}
    except BaseException as error:  # a model may call sys.exit; that too must become a result
        return _failure(error, request.get("frameworks", []))


def _failure(error: BaseException, frameworks: Any) -> dict[str, Any]:
    package = (error.name or "").split(".")[0] if isinstance(error, ModuleNotFoundError) else ""
    if package in frameworks:
        return {"status": "framework", "package": package, "message": str(error)}
    frames = traceback.extract_tb(error.__traceback__)
    theirs = [frame for frame in frames if HERE not in Path(frame.filename).parents] or list(frames)
    text = "".join([*traceback.format_list(theirs), *traceback.format_exception_only(type(error), error)])
    result = {
        "status": "raised",
        "message": f"{type(error).__name__}: {error}".strip().splitlines()[0],
        "last_lines": [line for line in text.splitlines() if line.strip()][-8:],
    }
    for frame in reversed(frames):
        path = Path(frame.filename)
        if HERE not in path.parents and "site-packages" not in path.parts and path.is_file():
            return dict(result, file=frame.filename, line=frame.lineno)
    return result


def main() -> None:
    """Read the request, run it, write the result beside what it made."""
    request = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    if request.get("watched"):
        _end_with_parent()
    _load_package()
    try:
        files = importlib.import_module(PACKAGE + ".files")
    except ModuleNotFoundError as error:  # NumPy: without it nothing here can be loaded
        missing = {"status": "framework", "package": error.name, "message": str(error)}
        Path(request["out"], "result.json").write_text(json.dumps(missing), encoding="utf-8")
        sys.exit(1)
    result = run(request)
    files.write_json(Path(request["out"], "result.json"), result)
    sys.exit(0 if result["status"] == "ok" else 1)


if __name__ == "__main__":
    main()
