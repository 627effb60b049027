"""What names of the project denote, by node, in their own file and in others."""

from __future__ import annotations

from pathlib import Path

import libcst as cst

from migrator.facts import Definition, Project, Resolution
from migrator.resolve import resolve
from migrator.scan import read


def project(folder: Path, **files: str) -> Project:
    for name, text in files.items():
        path = folder / (name.replace("__", "/") + ".py")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return resolve(read(folder))


def denoted(resolution: Resolution) -> set[tuple[str, str, str]]:
    """Text of the node, file and name of its definition."""
    code = cst.Module([]).code_for_node
    return {(code(node), where.file, where.name) for node, where in resolution.definitions.items()}


MODELS = """
import tensorflow as tf
WIDTH = 3
def block(x, n):
    return tf.keras.layers.Dense(n * WIDTH)(x)
def build(n=3):
    x = tf.keras.Input((3,))
    return tf.keras.Model(x, block(x, n))
class Net(tf.keras.Model):
    def call(self, x):
        return self.helper(x)
    def helper(self, x):
        return x
"""


def test_functions_classes_and_module_level_names_in_their_own_file(tmp_path: Path) -> None:
    found = denoted(project(tmp_path, models=MODELS).resolutions["models.py"])
    assert {("block", "models.py", "block"), ("WIDTH", "models.py", "WIDTH")} <= found
    assert ("self.helper", "models.py", "Net.helper") in found
    assert not {name for name, _, _ in found} & {"x", "n", "tf", "tf.keras.Model"}


def test_a_module_imported_whole_and_names_imported_from_it(tmp_path: Path) -> None:
    text = "import models\nfrom models import build as make, WIDTH\na = models.build()\nb = make(WIDTH)\n"
    found = denoted(project(tmp_path, models=MODELS, a=text).resolutions["a.py"])
    assert {
        ("models.build", "models.py", "build"),
        ("make", "models.py", "build"),
        ("WIDTH", "models.py", "WIDTH"),
        ("a", "a.py", "a"),
    } <= found


def test_relative_imports_and_re_exports_lead_to_where_the_function_is(tmp_path: Path) -> None:
    files = {
        "pkg____init__": "from .models import build\n",
        "pkg__models": MODELS,
        "pkg__train": "from . import build\nfrom . import models as m\nbuild()\nm.block(1, 2)\n",
        "run": "import pkg\npkg.build()\n",
    }
    (tmp_path / "pkg").mkdir()
    found = project(tmp_path, **{k: v for k, v in files.items() if "init" not in k}).resolutions
    assert ("build", "pkg/models.py", "build") not in denoted(found["pkg/train.py"])  # no __init__.py, no re-export
    (tmp_path / "pkg/__init__.py").write_text(files["pkg____init__"])
    found = resolve(read(tmp_path)).resolutions
    assert {("build", "pkg/models.py", "build"), ("m.block", "pkg/models.py", "block")} <= denoted(
        found["pkg/train.py"]
    )
    assert ("pkg.build", "pkg/models.py", "build") in denoted(found["run.py"])


def test_the_target_of_a_partial_is_denoted(tmp_path: Path) -> None:
    text = "from functools import partial\nimport models\nmake = partial(models.build, n=4)\nm = make()\nm.summary()\n"
    resolution = project(tmp_path, models=MODELS, a=text).resolutions["a.py"]
    assert ("models.build", "models.py", "build") in denoted(resolution)
    assert [call.api for call in resolution.calls] == ["tf.keras.Model.summary"]


def test_nested_functions_are_denoted_and_parameters_are_not(tmp_path: Path) -> None:
    text = (
        "import keras\n"
        "def outer(stack_fn):\n"
        "    def inner(x):\n"
        "        return keras.layers.ReLU()(x)\n"
        "    return stack_fn(inner(keras.Input((1,))))\n"
        "def helper(x):\n    return x\n"
        "outer(helper)\n"
    )
    found = denoted(project(tmp_path, a=text).resolutions["a.py"])
    assert ("inner", "a.py", "outer.inner") in found
    assert ("helper", "a.py", "helper") in found
    assert "stack_fn" not in {name for name, _, _ in found}


def test_imports_of_any_library_are_listed(tmp_path: Path) -> None:
    text = "import numpy as np\nimport os.path\nfrom keras import layers as L\nfrom .b import c\n"
    imports = project(tmp_path, a=text, b="import keras\nc = 1\n").resolutions["a.py"].imports
    assert dict(imports) == {"np": "numpy", "os": "os", "L": "keras.layers", "c": ".b.c"}


def test_a_definition_is_a_place_and_a_name() -> None:
    assert Definition("a.py", "f") == Definition("a.py", "f")


def test_calls_know_what_is_around_them(tmp_path: Path) -> None:
    text = (
        "import tensorflow as tf\n"
        "@tf.function\n"
        "def step(x):\n"
        "    if tf.reduce_sum(x) > 0:\n"
        "        return tf.nn.relu(x)\n"
        "class Net(tf.keras.Model):\n"
        "    def call(self, x):\n"
        "        while x > 0:\n"
        "            x = tf.nn.relu(x)\n"
        "        return x\n"
    )
    resolution = project(tmp_path, a=text).resolutions["a.py"]
    seen = {(call.line, call.api, call.within, call.role, call.site is not None) for call in resolution.calls}
    assert seen == {
        (2, "tf.function", "step", "decorator", False),
        (4, "tf.reduce_sum", "step", "test", True),
        (5, "tf.nn.relu", "step", "", True),
        (6, "tf.keras.Model", "Net", "base", False),
        (9, "tf.nn.relu", "Net.call", "", True),
    }
    assert [(test.line, test.text, test.within) for test in resolution.tests] == [
        (4, "tf.reduce_sum(x) > 0", "step"),
        (8, "x > 0", "Net.call"),
    ]
