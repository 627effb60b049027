"""Code of extreme shape is resolved like any other, and reading never runs it."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrator.facts import Project
from migrator.resolve import resolve
from migrator.scan import read

SHAPES = {
    "calls nested 90 deep": "x = " + "tf.nn.relu(" * 90 + "1" + ")" * 90 + "\n",
    "a sum of 900 terms": "x = " + " + ".join(["tf.ones(1)"] * 900) + "\n",
    "150 alternatives": "if x: tf.ones(1)\n" + "elif x: tf.ones(1)\n" * 150,
    "a chain of 150 methods": "x = tf.data.Dataset.range(3)" + ".repeat(1)" * 150 + "\n",
    "a line of 200,000 characters": "x = [" + "tf.ones(1), " * 17000 + "]\n",
    "blocks nested 18 deep": "".join("    " * i + "for i in x:\n" for i in range(18)) + "    " * 18 + "tf.ones(1)\n",
    "a literal of 20,000 numbers": "x = [" + "1, " * 20000 + "]\ntf.ones(1)\n",
}


def resolved(folder: Path, text: str) -> Project:
    (folder / "a.py").write_text("import tensorflow as tf\n" + text, encoding="utf-8")
    return resolve(read(folder))


@pytest.mark.parametrize("shape", SHAPES)
def test_every_use_is_found_in(shape: str, tmp_path: Path) -> None:
    project = resolved(tmp_path, SHAPES[shape])
    text = SHAPES[shape]
    assert project.inventory.skipped == ()
    uses = text.count("tf.") + text.count(".repeat(")
    assert len(project.resolutions["a.py"].calls) == uses


def test_modules_that_import_each_other(tmp_path: Path) -> None:
    (tmp_path / "b.py").write_text("from a import tf, f\ndef g():\n    return tf.ones(1), f\n")
    project = resolved(tmp_path, "from b import g\ndef f():\n    return g()\n")
    assert [call.api for call in project.resolutions["b.py"].calls] == ["tf.ones"]


def test_functions_that_call_themselves_and_each_other(tmp_path: Path) -> None:
    text = (
        "def even(m, n):\n    return m if n == 0 else odd(m, n - 1)\n"
        "def odd(m, n):\n    return m if n == 1 else even(m, n - 1)\n"
        "def grow(x):\n    return grow([x])\n"
        "even(tf.keras.Sequential(), 3).fit(1)\n"
        "grow(1)\n"
    )
    apis = {call.api for call in resolved(tmp_path, text).resolutions["a.py"].calls}
    assert apis == {"tf.keras.Sequential", "tf.keras.Model.fit"}


def test_classes_that_derive_from_themselves(tmp_path: Path) -> None:
    text = "class A(tf.keras.Model):\n    pass\nclass A(A):\n    def f(self):\n        return self.layers\nA().fit(1)\n"
    apis = [call.api for call in resolved(tmp_path, text).resolutions["a.py"].calls]
    assert apis == ["tf.keras.Model", "tf.keras.Model.layers", "tf.keras.Model.fit"]


def test_nothing_that_is_resolved_is_run(tmp_path: Path) -> None:
    trace = tmp_path / "trace"
    resolved(tmp_path, f"import pathlib\npathlib.Path({str(trace)!r}).write_text('ran')\nimport a\n")
    assert not trace.exists()
