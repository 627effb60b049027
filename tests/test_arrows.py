"""Imports run one way, frameworks stay where they belong, and only the command line prints or exits."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parent.parent / "migrator"
MODULES = sorted(PACKAGE.rglob("*.py"))
FRAMEWORKS = {"tensorflow", "keras", "tf_keras", "torch", "onnx", "onnxruntime", "onnxscript", "tf2onnx"}
HEAVY = {"numpy", "libcst", "rich", "jinja2", "matplotlib", "tomlkit", "migrator.pipeline"} | FRAMEWORKS

# Each part of the package, and the parts it may import. What is not listed here fails the test that uses it.
GROUND = {"errors", "facts", "data", "spec", "tables", "config", "tree"}
STAGES = {"scan", "resolve", "assess", "rewrite", "parity", "bench", "report", "doctor"}
MAY_IMPORT: dict[str, set[str]] = {
    "errors": set(),
    "facts": {"errors"},
    "data": {"errors"},
    "tables": {"errors"},
    "tree": set(),
    "spec": {"errors"},
    "config": {"errors", "facts", "tables", "spec"},
    "catalogue": {*GROUND},
    **{stage: {*GROUND, "catalogue", "worker"} for stage in STAGES},
    "proofs": {*GROUND, *STAGES, "catalogue", "worker"},
    "pipeline": {*GROUND, *STAGES, "catalogue", "worker", "proofs"},
    "cli": {*GROUND, *STAGES, "catalogue", "proofs", "pipeline"},
    "__main__": {"cli"},
    "__init__": set(),
    "worker": set(),
    "support": set(),
}


def part(module: Path) -> str:
    """`migrator/rewrite/calls.py` -> `rewrite`."""
    return module.relative_to(PACKAGE).parts[0].removesuffix(".py")


def shown(module: Path, node: ast.AST) -> str:
    return f"{module.relative_to(PACKAGE.parent).as_posix()}:{getattr(node, 'lineno', 1)}"


def imports(module: Path) -> Iterator[tuple[ast.AST, str]]:
    """Every import with the dotted name of what it brings, relative ones made absolute."""
    package = ["migrator", *module.relative_to(PACKAGE).with_suffix("").parts][:-1]
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from ((node, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            prefix = ".".join([*base, *([node.module] if node.module else [])])
            yield from ((node, f"{prefix}.{alias.name}") for alias in node.names)


def used_part(name: str) -> str | None:
    """`migrator.facts.Rule` -> `facts`; None for other packages and for names of `migrator` itself."""
    pieces = name.split(".")
    if pieces[0] != "migrator" or len(pieces) < 2 or pieces[1] == "__version__":
        return None
    return pieces[1]


def test_every_part_of_the_package_has_its_place_in_the_order() -> None:
    assert {part(module) for module in MODULES} <= set(MAY_IMPORT)


def test_imports_run_from_the_command_line_down_and_stages_do_not_know_one_another() -> None:
    wrong = [
        f"{shown(module, node)} imports {name}"
        for module in MODULES
        for node, name in imports(module)
        if (used := used_part(name)) is not None and used != part(module) and used not in MAY_IMPORT[part(module)]
    ]
    assert wrong == []


def test_frameworks_are_imported_only_by_workers_and_by_the_support_code() -> None:
    wrong = [
        f"{shown(module, node)} imports {name}"
        for module in MODULES
        if part(module) not in ("worker", "support")
        for node, name in imports(module)
        if name.split(".")[0] in FRAMEWORKS
    ]
    assert wrong == []


def test_whatever_runs_without_an_extra_is_a_declared_dependency() -> None:
    project = tomllib.loads((PACKAGE.parent / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    declared = {re.split(r"[^\w-]", requirement)[0].replace("-", "_") for requirement in project["dependencies"]}
    known = {"migrator", *declared, *sys.stdlib_module_names}
    wrong = [
        f"{shown(module, node)} imports {name}"
        for module in MODULES
        if part(module) not in ("worker", "support")
        for node, name in imports(module)
        if name.split(".")[0] not in known and not (part(module) == "report" and name.startswith("matplotlib"))
    ]
    assert wrong == []


def test_support_code_knows_only_torch_numpy_and_the_standard_library() -> None:
    known = {"torch", "numpy", *sys.stdlib_module_names}
    wrong = [
        f"{shown(module, node)} imports {name}"
        for module in MODULES
        if part(module) == "support"
        for node, name in imports(module)
        if name.split(".")[0] not in known
    ]
    assert wrong == []


def test_workers_need_nothing_but_numpy_and_their_framework() -> None:
    known = {"numpy", *FRAMEWORKS, *sys.stdlib_module_names}
    wrong = [
        f"{shown(module, node)} imports {name}"
        for module in MODULES
        if part(module) == "worker"
        for node, name in imports(module)
        if name.split(".")[0] not in known and not name.startswith("migrator.worker.")
    ]
    assert wrong == []


@pytest.mark.parametrize("module", [m for m in MODULES if part(m) == "worker"], ids=lambda m: f"{m.name} is Python 3.8")
def test_a_worker_runs_in_the_oldest_interpreter(module: Path) -> None:
    ast.parse(module.read_text(encoding="utf-8"), feature_version=(3, 8))


def test_only_the_command_line_and_the_workers_print_or_exit() -> None:
    wrong = [
        f"{shown(module, node)} calls {ast.unparse(node.func)}"
        for module in MODULES
        if part(module) not in ("cli", "worker")
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call)
        and ast.unparse(node.func) in ("print", "exit", "quit", "sys.exit", "os._exit", "click.echo")
    ]
    assert wrong == []


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["assess", "--help"], ["parity", "--help"]])
def test_nothing_heavy_is_imported_to_show_help(arguments: list[str]) -> None:
    program = f"import sys; from migrator import cli; cli.execute({arguments!r}); loaded = {HEAVY!r} & set(sys.modules)"
    program += "; print(sorted(loaded))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
