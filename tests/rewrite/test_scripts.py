"""Models that no factory returns: at the top of a script, or inside `main`. Both are run and their models compared."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import numpy as np
import pytest

from tests.rewrite.both_sides import difference, load, rewritten

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "scripts"
CASES = sorted(path.parent for path in FIXTURES.glob("*/before.py"))


@pytest.mark.parametrize("case", CASES, ids=[path.name for path in CASES])
def test_both_scripts_make_the_same_model(case: Path, tmp_path: Path) -> None:
    (tmp_path / "legacy").mkdir()
    source, out = tmp_path / "legacy/script.py", tmp_path / "ported/script.py"
    shutil.copy(case / "before.py", source)
    result = rewritten(tmp_path / "legacy", tmp_path / "ported")
    assert not result.left, [f"{item.line}: {item.reason}" for item in result.left]
    if os.environ.get("UPDATE_FIXTURES"):
        shutil.copy(out, case / "after.py")
    assert (case / "after.py").read_text() == out.read_text()
    asked = json.loads((case / "calls.json").read_text())
    rng = np.random.default_rng(1)
    inputs = [rng.normal(size=shape) for shape in asked["inputs"]]
    error = difference(
        lambda: getattr(load(source), asked["variable"]), lambda: getattr(load(out), asked["variable"]), inputs
    )
    assert error < 1e-9
