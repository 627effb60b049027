"""Which packages a tree asks for, and which Keras follows from that and from its imports."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrator.errors import MigrateError
from migrator.scan import read

FILES = {
    "requirements.txt": "# ours\ntensorflow==2.15.0  # old\nnumpy>=1.2,<2 ; sys_platform != 'x'\nscipy\n-r b.txt\n",
    "pyproject.toml": "[project]\ndependencies = ['tensorflow==2.15.0', 'numpy>=1.2,<2', 'scipy']\n",
    "setup.cfg": "[options]\ninstall_requires =\n    tensorflow==2.15.0\n    numpy>=1.2,<2\n    scipy\n",
    "setup.py": "from setuptools import *\nsetup(install_requires=['tensorflow==2.15.0', 'numpy>=1.2,<2', 'scipy'])\n",
    "environment.yml": "dependencies:\n  - tensorflow=2.15.0\n  - numpy>=1.2,<2\n  - pip:\n    - scipy\n",
}


@pytest.mark.parametrize("name", FILES)
def test_requirements_are_read_from(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text(FILES[name])
    (tmp_path / "a.py").write_text("import tensorflow\n")
    found = read(tmp_path).environment
    wanted = {"tensorflow": "==2.15.0", "numpy": ">=1.2,<2", "scipy": ""}
    if name == "environment.yml":
        wanted["tensorflow"] = "==2.15.0.*"  # conda's single sign allows later patches
    assert {key: value for key, value in found.requirements.items() if key in wanted} == wanted
    assert found.keras == 2


@pytest.mark.parametrize(
    ("requirement", "text", "keras", "words"),
    [
        ("tensorflow>=2.16,<3", "import tensorflow", 3, "tensorflow >=2.16,<3"),
        ("tensorflow-gpu==2.4.1", "import tensorflow", 2, "2.4.1"),
        ("tensorflow<2.16", "import tensorflow", 2, "<2.16"),
        ("tensorflow~=2.18", "import tensorflow", 3, "2.18"),
        ("tensorflow==2.18\nkeras<3", "import keras", 2, "keras <3"),
        ("keras==2.3.1", "import keras", 2, "2.3.1"),
        ("tensorflow==2.18\ntf-keras", "import tf_keras", 2, "tf-keras"),
        ("tensorflow>=2.0", "import tensorflow", 3, "unknown"),
        ("tensorflow", "from keras import ops", 3, "a.py, line 1"),
        ("", "import tensorflow.compat.v1 as tf", 2, "a.py, line 1"),
        ("", "from keras.layers.merge import add\nfrom keras import ops", 3, "unknown"),
        ("", "import keras", 3, "unknown"),
        ("tensorflow===what", "import keras", 3, "unknown"),
    ],
)
def test_which_keras_and_why(tmp_path: Path, requirement: str, text: str, keras: int, words: str) -> None:
    (tmp_path / "requirements.txt").write_text(requirement)
    (tmp_path / "a.py").write_text(text + "\n")
    found = read(tmp_path).environment
    assert found.keras == keras
    assert words in found.keras_reason


def test_what_the_caller_states_wins(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("tensorflow==2.18")
    (tmp_path / "a.py").write_text("import tensorflow\n")
    assert read(tmp_path, keras=2).environment.keras == 2
    with pytest.raises(MigrateError, match="Keras 4"):
        read(tmp_path, keras=4)


@pytest.mark.parametrize("name", ["requirements.txt", "pyproject.toml", "setup.cfg", "setup.py", "environment.yml"])
def test_a_broken_requirements_file_says_nothing_and_stops_nothing(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_bytes(b"[[[\xff\0 = (")
    (tmp_path / "a.py").write_text("import tensorflow\n")
    assert read(tmp_path).environment.keras == 3
