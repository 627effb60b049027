"""Functional and Sequential models: every fixture is rewritten, compared with its `after.py`, and run on both sides.

`UPDATE_FIXTURES=1 pytest tests/rewrite/test_models.py` writes the `after.py` files anew; read the difference.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.rewrite.both_sides import difference, load, rewritten

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
CASES = sorted(path.parent for kind in ("functional", "sequential") for path in FIXTURES.glob(f"{kind}/*/before.py"))

# Constants that TensorFlow keeps in single precision even inside float64 graphs.
SINGLE_PRECISION = {
    "a slope for every layer": "the slope of LeakyReLU",
    "early return of a helper": "the slope of LeakyReLU",
    "dense on images": "the constants of GELU",
}
pytestmark = pytest.mark.filterwarnings("ignore:Do not pass an `input_shape`:UserWarning")


def _tuples(value: Any) -> Any:
    return tuple(_tuples(item) for item in value) if isinstance(value, list) else value


@pytest.fixture
def project(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[Path, Path]:
    """The case as a project of its own, and where its copy goes."""
    source = tmp_path / "legacy"
    source.mkdir()
    for file in request.param.glob("*.py"):
        if not file.name.startswith("after"):
            shutil.copy(file, source / file.name)
    return source, tmp_path / "ported"


@pytest.mark.parametrize("project", CASES, indirect=True, ids=[path.name for path in CASES])
def test_both_sides_agree(project: tuple[Path, Path], request: pytest.FixtureRequest) -> None:
    case: Path = request.node.callspec.params["project"]
    source, out = project
    result = rewritten(source, out)
    assert not result.left, [f"{item.line}: {item.reason}" for item in result.left]
    _compare_text(case, out)
    rng = np.random.default_rng(1)
    for factory, arguments, shapes in json.loads((case / "calls.json").read_text()):
        given = {name: _tuples(value) for name, value in arguments.items()}
        before = getattr(load(source / "before.py"), factory)
        after = getattr(load(out / "before.py"), factory)
        inputs = [rng.normal(size=shape) for shape in shapes]
        error = difference(lambda f=before, g=given: f(**g), lambda f=after, g=given: f(**g), inputs)
        assert error < (1e-6 if case.name in SINGLE_PRECISION else 1e-9), f"{factory}({arguments}): {error:.1e}"


def _compare_text(case: Path, out: Path) -> None:
    for file in sorted(out.glob("*.py")):
        if file.name == "torch_support.py":
            continue
        name = "after.py" if file.name == "before.py" else f"after_{file.name}"
        text = file.read_text()
        if os.environ.get("UPDATE_FIXTURES"):
            (case / name).write_text(text)
        assert (case / name).read_text() == text
