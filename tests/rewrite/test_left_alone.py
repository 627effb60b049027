"""Constructs that must stay as they were, each with its reason: a guess would be a different network without a word."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.rewrite.both_sides import rewritten

HEAD = "from tensorflow import keras\nfrom tensorflow.keras import layers\n\n\n"
BODY = "    return keras.Model(inputs, x)\n"
CASES = {
    "a list grows while layers are chosen by it": (
        """
def build():
    inputs = x = keras.Input((8,))
    seen = []
    for k in (4, 5, 4):
        if k in seen:
            x = layers.ReLU()(x)
        x = layers.Dense(k)(x)
        seen.append(k)
""",
        "carried from one iteration to the next",
    ),
    "a dictionary changes between two activations": (
        """
def build():
    inputs = x = keras.Input((8,))
    cfg = {"act": "relu"}
    x = layers.Dense(4, activation=cfg["act"])(x)
    cfg["act"] = "tanh"
    x = layers.Dense(4, activation=cfg["act"])(x)
""",
        "changes between two places",
    ),
    "a list is reversed between two loops that forward walks": (
        """
def build():
    widths = [4, 5, 6]
    inputs = x = keras.Input((8,))
    for k in widths:
        x = layers.Dense(k)(x)
        if k > 5:
            x = layers.ReLU()(x)
    widths.reverse()
""",
        "changed in place",
    ),
    "an iterator is walked over": (
        """
def build():
    todo = reversed([4, 5, 6])
    inputs = x = keras.Input((8,))
    for w in todo:
        x = layers.Dense(w)(x)
        if w > 4:
            x = layers.ReLU()(x)
""",
        "walked over only once",
    ),
    "a coin is tossed in a loop": (
        """
import random


def build():
    inputs = x = keras.Input((8,))
    for w in (3, 4):
        x = layers.Dense(w)(x)
        if random.random() > 0.5:
            x = layers.ReLU()(x)
""",
        "cannot be asked again",
    ),
    "a flag is carried from one iteration to the next": (
        """
def build():
    inputs = x = keras.Input((8,))
    first = True
    for w in (3, 4):
        x = layers.Dense(w)(x)
        if not first:
            x = layers.ReLU()(x)
        first = False
""",
        "carried from one iteration to the next",
    ),
    "a slope that shrinks": (
        """
def build():
    inputs = x = keras.Input((8,))
    slope = 0.5
    for w in (3, 4):
        x = layers.LeakyReLU(slope)(layers.Dense(w)(x))
        slope = slope / 2
""",
        "carried from one iteration to the next",
    ),
    "an activation rebound by itself": (
        """
def build(act="RELU"):
    inputs = x = keras.Input((8,))
    for w in (3, 4):
        act = act.lower()
        x = layers.Dense(w, activation=act)(x)
""",
        "carried from one iteration to the next",
    ),
    "a variable called like PyTorch's functional module": (
        """
def build():
    inputs = x = keras.Input((8,))
    for F in (3, 4):
        x = layers.Dense(F, 'relu')(x)
""",
        "`F` is a variable here",
    ),
    "a helper that returns more than tensors": (
        """
def down(x, f):
    return layers.Dense(f)(x), f * 2


def build():
    inputs = x = keras.Input((8,))
    x, f = down(x, 4)
""",
        "is no tensor",
    ),
    "a layer without a rule": (
        """
def build():
    inputs = x = keras.Input((8, 3))
    x = layers.LSTM(4)(x)
""",
        "LSTM",
    ),
    "an argument without a translation": (
        """
def build():
    inputs = x = keras.Input((8,))
    x = layers.Dense(4, activity_regularizer='l2')(x)
""",
        "activity_regularizer",
    ),
    "arguments hidden behind two stars": (
        """
def build(**kwargs):
    inputs = x = keras.Input((8,))
    x = layers.Dense(4, **kwargs)(x)
""",
        "hides which arguments",
    ),
    "a layer called in training mode": (
        """
def build():
    inputs = x = keras.Input((8,))
    x = layers.Dropout(0.5)(x, training=True)
""",
        "training=True",
    ),
    "a while loop around layers": (
        """
def build(f=4):
    inputs = x = keras.Input((8,))
    while f < 20:
        x = layers.Dense(f)(x)
        f *= 2
""",
        "while",
    ),
    "two models in one function": (
        """
def build():
    inputs = x = keras.Input((8,))
    other = keras.Model(inputs, layers.Dense(2)(x))
""",
        "several models",
    ),
    "softmax along an axis that only a run can tell": (
        """
def build(axis=-1):
    inputs = x = keras.Input((8,))
    x = layers.Softmax(axis=axis)(x)
""",
        "only known when the program runs",
    ),
    "channels-first data": (
        """
def build():
    inputs = x = keras.Input((3, 8, 8))
    x = layers.Conv2D(4, 3, data_format='channels_first')(x)
""",
        "channels_last",
    ),
}


@pytest.mark.parametrize(("source", "reason"), CASES.values(), ids=CASES.keys())
def test_it_stays_with_its_reason(source: str, reason: str, tmp_path: Path) -> None:
    (tmp_path / "legacy").mkdir()
    (tmp_path / "legacy/model.py").write_text(HEAD + source.lstrip() + BODY)
    result = rewritten(tmp_path / "legacy", tmp_path / "out")
    text = (tmp_path / "out/model.py").read_text()
    assert any(reason in item.reason for item in result.left), [item.reason for item in result.left]
    assert "nn.Module" not in text
    assert "keras.Model(inputs, x)" in text
    assert not result.pairs


def test_a_size_that_is_asked_for_once_is_evaluated_once(tmp_path: Path) -> None:
    source = (
        "def build():\n    widths = iter([4, 5])\n    inputs = x = keras.Input((8,))\n"
        "    x = layers.Dense(next(widths))(x)\n    x = layers.Dense(next(widths))(x)\n"
    )
    (tmp_path / "legacy").mkdir()
    (tmp_path / "legacy/model.py").write_text(HEAD + source.lstrip() + BODY)
    result = rewritten(tmp_path / "legacy", tmp_path / "out")
    assert not result.left
    assert (tmp_path / "out/model.py").read_text().count("next(widths)") == 2


def test_an_empty_file_among_the_sources_changes_nothing(tmp_path: Path) -> None:
    (tmp_path / "legacy/net").mkdir(parents=True)
    (tmp_path / "legacy/net/__init__.py").write_text("# nothing here\n")
    (tmp_path / "legacy/net/blocks.py").write_text(HEAD + "def build():\n    return layers.Dense(2)\n")
    (tmp_path / "legacy/use.py").write_text("from net import blocks\n\nlayer = blocks.build()\n")
    result = rewritten(tmp_path / "legacy", tmp_path / "out")
    assert {item.status for item in result.files} <= {"unchanged", "partial"}
    assert (tmp_path / "out/net/__init__.py").read_text() == "# nothing here\n"
