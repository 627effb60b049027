"""The audit adds up, can be traced line by line, and names what hurts at the place where it hurts."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import fields
from pathlib import Path

import keras.src.applications
import pytest

from migrator.assess import assess
from migrator.assess.table import Minutes, read_table
from migrator.catalogue import Catalogue, load_rules
from migrator.data import rules_folder
from migrator.facts import Assessment
from migrator.report import assess_json, terminal
from migrator.resolve import resolve
from migrator.scan import read


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_rules([rules_folder()])


def audit(folder: Path, catalogue: Catalogue, text: str = "", rate: float | None = None, **more: str) -> Assessment:
    for name, content in {"a": text, **more}.items():
        (folder / f"{name}.py").write_text(content, encoding="utf-8")
    return assess(resolve(read(folder)), catalogue, rate)


def adds_up(assessment: Assessment) -> None:
    """What the contract says about every assessment."""
    found = assess_json.to_json(assessment)
    json.dumps(found)
    calls = dict(found["calls"])
    assert calls.pop("total") == sum(calls.values()) == len(found["findings"])
    assert Counter(f["grade"] or "no_rule" for f in found["findings"]) == Counter({k: v for k, v in calls.items() if v})
    effort = found["effort"]
    assert sum(line["likely"] for line in effort["lines"]) == pytest.approx(effort["likely"])
    assert effort["low"] <= effort["likely"] <= effort["high"]
    assert all(line["low"] <= line["likely"] <= line["high"] for line in effort["lines"])
    of_calls = sum(line["likely"] for line in effort["lines"] if line["category"] == "calls")
    assert sum(f["minutes"] for f in found["findings"]) / 60 == pytest.approx(
        of_calls, abs=0.01 * len(found["findings"])
    )
    assert set(found["advice"]["evidence"]) == {"development", "training", "deployment", "staffing", "cost"}


MODEL = """
import tensorflow as tf
from tensorflow import keras
from tensorflow.keras import layers


class Scale(layers.Layer):
    def call(self, x):
        if tf.reduce_max(x) > 1:
            print(x.numpy())
        return tf.nn.relu(x)


def build():
    x = keras.Input((8, 8, 1))
    y = layers.Conv2D(4, 3, strides=2, padding="SAME")(x)
    y = layers.Conv2D(4, 3, padding="same")(y)
    y = layers.BatchNormalization()(y)
    return keras.Model(x, Scale()(y))


def train(ds):
    m = build()
    m.compile(keras.optimizers.Adam(lr=0.1), "mse")
    m.fit(1)
    m.save_weights("x")


def step(m, o, x):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(m(x))
    return loss.numpy()
"""


def test_an_assessment_adds_up(tmp_path: Path, catalogue: Catalogue) -> None:
    adds_up(audit(tmp_path, catalogue, MODEL, rate=100))


def test_a_tree_without_tensorflow_costs_nothing_and_says_so(tmp_path: Path, catalogue: Catalogue) -> None:
    found = audit(tmp_path, catalogue, "import torch\n")
    adds_up(found)
    assert (found.findings, found.effort.likely, found.hazards, found.advice.verdict) == ((), 0.0, (), "stay")
    assert "No use of TensorFlow" in terminal.render(found)


def test_hazards_are_named_at_their_places(tmp_path: Path, catalogue: Catalogue) -> None:
    lines = MODEL.splitlines()
    found = {
        (hazard.id, lines[hazard.line - 1].strip() if hazard.line else "")
        for hazard in audit(tmp_path, catalogue, MODEL).hazards
    }
    assert found == {
        ("tensor-control-flow", "if tf.reduce_max(x) > 1:"),
        ("value-in-step", "print(x.numpy())"),
        ("value-in-step", "return loss.numpy()"),
        ("same-padding-stride", 'y = layers.Conv2D(4, 3, strides=2, padding="SAME")(x)'),
        ("batchnorm-defaults", "y = layers.BatchNormalization()(y)"),
        ("adam-epsilon", 'm.compile(keras.optimizers.Adam(lr=0.1), "mse")'),
        ("old-learning-rate", 'm.compile(keras.optimizers.Adam(lr=0.1), "mse")'),
        ("unlocked-versions", ""),
    }


@pytest.mark.parametrize(
    ("line", "hazard"),
    [
        ("layers.MaxPool2D(2, padding='same')", "same-padding-stride"),
        ("layers.Conv2D(4, 3, 2, padding='same')", "same-padding-stride"),
        ("layers.Conv2D(4, 3, strides=(n, n), padding='same')", "same-padding-stride"),
        ("layers.LayerNormalization()", "layernorm-epsilon"),
        ("tf.keras.optimizers.RMSprop(1e-3)", "rmsprop-epsilon"),
        ("tf.keras.optimizers.SGD(clipnorm=1.0)", "clipnorm"),
        ("tf.keras.regularizers.l2(1e-4)", "l2-regularizer"),
        ("tf.py_function(n, [], tf.float32)", "python-function"),
        ("tf.distribute.MirroredStrategy().scope()", "distribution"),
        ("tf.data.TFRecordDataset('x')", "tfrecord"),
        ("tf.data.Dataset.range(3).map(n)", "heavy-input-map"),
        ("tf.keras.mixed_precision.set_global_policy('mixed_float16')", "mixed-precision"),
        ("tf.keras.applications.ResNet50()", "pretrained-weights"),
        ("tf.saved_model.save(n, 'x')", "serving"),
        ("tf.lite.TFLiteConverter.from_keras_model(n)", "mobile"),
        ("tf.compat.v1.Session().run(n)", "graph-and-session"),
        ("tf.ragged.constant([[1]])", "unusual-tensors"),
    ],
)
def test_a_line_carries_its_hazard(tmp_path: Path, catalogue: Catalogue, line: str, hazard: str) -> None:
    text = f"import tensorflow as tf\nfrom tensorflow.keras import layers\nn = 2\n{line}\n"
    assert (hazard, 4) in {(one.id, one.line) for one in audit(tmp_path, catalogue, text).hazards}


@pytest.mark.parametrize(
    "line",
    [
        "layers.Conv2D(4, 3, strides=1, padding='same')",
        "layers.Conv2D(4, 3, strides=(1, 1), padding='same')",
        "layers.Conv2D(4, 3, padding='same')",
        "layers.Conv2D(4, 3, 2)",
        "layers.MaxPool2D(2, strides=1, padding='same')",
        "tf.keras.optimizers.SGD(learning_rate=1.0, global_clipnorm=2.0)",
        "tf.keras.applications.ResNet50(weights=None)",
        "tf.zeros(3).numpy()",
        "print('x') if n > 1 else None",
    ],
)
def test_a_harmless_line_carries_none(tmp_path: Path, catalogue: Catalogue, line: str) -> None:
    (tmp_path / "requirements.txt").write_text("tensorflow==2.18.0\n")
    text = f"import tensorflow as tf\nfrom tensorflow.keras import layers\nn = 2\n{line}\n"
    assert audit(tmp_path, catalogue, text).hazards == ()


def test_a_value_fetched_at_the_top_of_a_script_is_not_in_a_step(tmp_path: Path, catalogue: Catalogue) -> None:
    text = "import tensorflow as tf\nwith tf.GradientTape() as t:\n    y = tf.ones(1)\ny.numpy()\n"
    assert "value-in-step" not in {one.id for one in audit(tmp_path, catalogue, text).hazards}


def test_blockers_are_listed_first_of_all_work(tmp_path: Path, catalogue: Catalogue) -> None:
    rule = next(rule for rule in catalogue if rule.grade == "blocked" and 3 in rule.keras and rule.tf.startswith("tf."))
    found = audit(tmp_path, catalogue, f"import tensorflow as tf\nx = {rule.tf}\n")
    assert [finding.grade for finding in found.findings] == ["blocked"]
    text = terminal.render(found)
    assert text.index("Blockers") < text.index("What will hurt")
    assert f"{rule.tf} (1 use, first in a.py:2)" in text


def test_structures_are_what_a_person_would_count(tmp_path: Path, catalogue: Catalogue) -> None:
    found = audit(tmp_path, catalogue, MODEL)
    assert {(one.kind, one.name) for one in found.structures} == {
        ("layer_class", "Scale"),
        ("model", "build"),
        ("fit", "train"),
        ("checkpoint", "train"),
        ("tape_loop", "step"),
    }
    sizes = {one.name: one.size for one in found.structures}
    assert sizes["build"] == 5  # Input, two convolutions, batch normalisation, Model
    assert sizes["Scale"] == 4  # the base class counts


def test_an_argument_that_the_rule_refuses_makes_the_call_work_for_a_person(
    tmp_path: Path, catalogue: Catalogue
) -> None:
    rule = next(rule for rule in catalogue if rule.refuse and rule.torch and rule.grade in ("exact", "review"))
    keras_version = rule.keras[-1]
    text = f"import tensorflow as tf\n{rule.tf}({rule.refuse[0]}=object())\n{rule.tf}()\n"
    (tmp_path / "a.py").write_text(text)
    found = assess(resolve(read(tmp_path, keras=keras_version)), catalogue)
    grades = {finding.call.line: finding.grade for finding in found.findings if finding.rule == rule.id}
    assert grades == {2: "manual", 3: rule.grade}
    assert rule.refuse[0] in next(f.message for f in found.findings if f.call.line == 2)


@pytest.mark.parametrize(
    ("arguments", "automatic"),
    [
        ("3, name='head', input_shape=(4,), trainable=True", True),
        ("3, activation='relu', activity_regularizer=None", True),
        ("3, trainable=False", False),
        ("3, dtype='float16'", False),
        ("3, activity_regularizer='l2'", False),
        ("3, colour='red'", False),
        ("**options", False),
        ("*options", False),
    ],
)
def test_the_grade_of_a_layer_depends_on_what_it_is_given(
    tmp_path: Path, catalogue: Catalogue, arguments: str, automatic: bool
) -> None:
    found = audit(tmp_path, catalogue, f"import keras\noptions = []\nkeras.layers.Dense({arguments})\n")
    assert (found.findings[0].grade in ("exact", "review")) == automatic


def test_further_uses_of_an_api_cost_less_than_the_first(tmp_path: Path, catalogue: Catalogue) -> None:
    found = audit(tmp_path, catalogue, "import tensorflow as tf\ntf.foo(1)\ntf.foo(2)\n")
    first, again = (finding.minutes for finding in found.findings)
    assert first > again > 0
    assert [finding.grade for finding in found.findings] == [None, None]


def test_money_appears_only_where_a_rate_is_given(tmp_path: Path, catalogue: Catalogue) -> None:
    assert "at 80 an hour" in audit(tmp_path, catalogue, MODEL, rate=80).advice.evidence["cost"]
    assert "an hour" not in audit(tmp_path, catalogue, MODEL).advice.evidence["cost"]


def test_the_same_project_always_gets_the_same_figures(tmp_path: Path, catalogue: Catalogue) -> None:
    assert audit(tmp_path, catalogue, MODEL).effort == audit(tmp_path, catalogue, MODEL).effort


def test_the_text_shows_every_part_and_no_line_holds_colour_codes(tmp_path: Path, catalogue: Catalogue) -> None:
    text = terminal.render(audit(tmp_path, catalogue, MODEL + "\n\ndef f(m):\n    m.fit(1)\n"))
    for title in ("What moves", "Hours by file", "Hours:", "What will hurt", "Cannot be decided", "Advice:"):
        assert title in text
    assert "\x1b" not in text
    assert "\x1b" in terminal.render(audit(tmp_path, catalogue, MODEL), colour=True)


def test_names_of_files_cannot_break_the_text(tmp_path: Path, catalogue: Catalogue) -> None:
    text = terminal.render(audit(tmp_path, catalogue, "", **{"[bold]x\n\x1b[31m": "import keras\nkeras.Input((1,))\n"}))
    assert "\x1b" not in text
    assert "[bold]x\\n" in text


def test_every_grade_and_structure_has_its_cost() -> None:
    table = read_table()
    costs = [minutes for pair in table.grades.values() for minutes in pair]
    costs += [structure.minutes for structure in table.structures.values()]
    costs += [hazard.minutes for hazard in table.hazards.values()] + [table.file, table.project]
    assert all(cost.low <= cost.mode <= cost.high for cost in costs)
    assert [field.name for field in fields(Minutes)] == ["low", "mode", "high"]
    assert set(table.grades) == {"exact", "review", "manual", "blocked", "no_rule"}


def test_the_model_families_of_keras_itself_are_read_whole(catalogue: Catalogue) -> None:
    folder = Path(keras.src.applications.__file__).parent
    found = assess(resolve(read(folder)), catalogue)
    adds_up(found)
    assert found.skipped == ()
    uses = Counter(finding.call.file for finding in found.findings)
    assert uses["resnet.py"] > 40
    counted = (folder / "resnet.py").read_text().count("layers.Conv2D(")
    assert sum(f.call.api == "tf.keras.layers.Conv2D" and f.call.file == "resnet.py" for f in found.findings) == counted
