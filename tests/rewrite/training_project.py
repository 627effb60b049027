"""A small project on disk, resolved, with the models of `models.py` taken as rewritten; and running either side."""

from __future__ import annotations

import runpy
import sys
from contextlib import contextmanager
from pathlib import Path

import libcst as cst

from migrator.catalogue import load_rules
from migrator.data import rules_folder
from migrator.facts import Definition
from migrator.resolve import resolve
from migrator.rewrite.session import FileContext, ModelFacts, apply
from migrator.rewrite.structures.fit_loop import propose
from migrator.scan import read

TWINS = Path(__file__).parent / "twins"
CATALOGUE = load_rules([rules_folder()])
FACTS = {
    "build_classifier": ModelFacts("Classifier", outputs=("softmax",)),
    "build_regressor": ModelFacts("Regressor", outputs=(None,), has_penalty=True),
    "build_detector": ModelFacts("Detector", outputs=("sigmoid",)),
    "build_pair": ModelFacts("Pair", inputs=("left", "right"), outputs=(None,)),
}


def project_of(folder: Path, **files: str):
    """Writes the files beside the Keras models and resolves them."""
    (folder / "models.py").write_text((TWINS / "keras_models.py").read_text())
    for name, text in files.items():
        (folder / f"{name}.py").write_text(text)
    return resolve(read(folder))


def context_of(project, path: str, keras: int = 3, profile: str = "idiomatic", models=FACTS) -> FileContext:
    """What the structure is given for one file."""
    known = {Definition("models.py", name): facts for name, facts in models.items()}
    resolution = project.resolutions[path]
    return FileContext(resolution.source, resolution, project, CATALOGUE, profile, keras, known)


def rewritten(context: FileContext) -> str:
    """The file with all edits made and what they need imported."""
    (proposal,) = propose(context)
    text = apply(context.source.module, proposal.edits).code
    lines = sorted(proposal.imports)
    if proposal.support:
        lines.append(f"from torch_support import {', '.join(sorted(proposal.support))}")
    module = cst.parse_module(text)
    at = 1 if module.get_docstring() else 0
    new = [cst.parse_statement(line) for line in lines]
    return module.with_changes(body=[*module.body[:at], *new, *module.body[at:]]).code


def left(context: FileContext) -> list[tuple[int, str, str]]:
    """(line, rule, reason) of what stays."""
    return [(item.line, item.rule, item.reason) for proposal in propose(context) for item in proposal.left]


def run(path: Path, models: str, *arguments):
    """Runs `main` of a file against the Keras models or their twins."""
    with _modules(models):
        return runpy.run_path(str(path))["main"](*arguments)


@contextmanager
def _modules(models: str):
    sys.modules["models"] = _load(TWINS / f"{models}_models.py")
    sys.modules["torch_support"] = _support()
    try:
        yield
    finally:
        del sys.modules["models"], sys.modules["torch_support"]


def _load(path: Path):
    from types import ModuleType

    module = ModuleType(path.stem)
    exec(compile(path.read_text(), str(path), "exec"), module.__dict__)
    return module


def _support():
    from importlib import import_module
    from types import ModuleType

    import migrator.support as package

    module = ModuleType("torch_support")
    for path in Path(package.__file__).parent.glob("*.py"):
        if path.stem != "__init__":
            module.__dict__.update(import_module(f"migrator.support.{path.stem}").__dict__)
    return module
