"""The bundled project really trains: to a good accuracy, in few epochs, whatever the seed."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parent.parent / "fixtures" / "projects" / "digits"
TRAIN = """
import json
from tensorflow import keras
import train

found = []
(x_train, y_train), (x_test, y_test) = train.load()
for seed in range(3):
    keras.utils.set_random_seed(seed)
    model, history = train.train(x_train, y_train)
    found.append({"accuracy": model.evaluate(x_test, y_test, verbose=0)[1], "epochs": len(history.history["loss"])})
low, high = float(x_train.min()), float(x_train.max())
facts = {"shape": x_train.shape[1:], "dtype": str(x_train.dtype), "low": low, "high": high}
print(json.dumps({"runs": found, "data": facts, "halves": [len(x_train), len(x_test)]}))
"""


@pytest.mark.proof
def test_three_seeds_reach_97_percent_within_30_epochs_on_half_of_the_data(tmp_path: Path) -> None:
    folder = tmp_path / "digits"
    shutil.copytree(PROJECT, folder)
    (folder / "measure.py").write_text(TRAIN, encoding="utf-8")
    done = subprocess.run([sys.executable, "measure.py"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])

    assert found["data"] == {"shape": [8, 8, 1], "dtype": "float32", "low": 0.0, "high": 1.0}
    assert sum(found["halves"]) == 1797
    assert abs(found["halves"][0] - found["halves"][1]) <= 1
    assert min(run["accuracy"] for run in found["runs"]) >= 0.97
    assert max(run["epochs"] for run in found["runs"]) <= 30
