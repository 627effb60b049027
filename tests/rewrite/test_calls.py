"""Plain operations rewritten in whole files; what must stay comes first."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from migrator.catalogue import Catalogue, load_rules
from migrator.data import rules_folder
from migrator.facts import Resolution
from migrator.resolve import resolve
from migrator.rewrite.calls import Replacements, rewrite_calls
from migrator.rewrite.precedence import replace
from migrator.scan import read

HEAD = "import tensorflow as tf\nfrom tensorflow import keras\nfrom tensorflow.keras import backend as K\n\n"


@pytest.fixture(scope="module")
def catalogue() -> Catalogue:
    return load_rules([rules_folder()])


def resolution_of(text: str, folder: Path) -> Resolution:
    (folder / "a.py").write_text(HEAD + text, encoding="utf-8")
    return resolve(read(folder / "a.py")).resolutions["a.py"]


def rewritten(text: str, folder: Path, catalogue: Catalogue, keras: int = 3) -> tuple[str, Replacements]:
    resolution = resolution_of(text, folder)
    found = rewrite_calls(resolution.source.module, resolution, catalogue, keras)
    module = replace(resolution.source.module, found.nodes)
    code = module.code  # type: ignore[attr-defined]
    ast.parse(code)
    return code.removeprefix(HEAD), found


LEFT = {
    "an operation without a rule": ("y = tf.raw_ops.Bessel(x)", "no rule yet"),
    "an operation beside one without a rule": (
        "def f(x):\n    y = tf.abs(x)\n    return tf.raw_ops.Bessel(y)",
        "shares",
    ),
    "an operation in a helper of what stays": (
        "def g(x):\n    return tf.abs(x)\n\ndef f(x):\n    return tf.raw_ops.Bessel(g(x))",
        "shares tensors with tf.raw_ops.Bessel in line 9",
    ),
    "a helper of a helper of what stays": (
        "def h(x):\n    return tf.abs(x)\ndef g(x):\n    return h(tf.exp(x))\ndef f(x):\n    return tf.Bessel(g(x))",
        "shares",
    ),
    "a module variable of what stays": (
        "c = tf.constant(1.0)\ndef f(x):\n    return tf.raw_ops.Bessel(x, c)",
        "shares",
    ),
    "an operation in a class that stays": (
        "class A(keras.layers.Layer):\n    def call(self, x):\n        return tf.abs(x)",
        "shares",
    ),
    "an operation next to a layer that nobody rewrites": (
        "def f(x):\n    return tf.abs(keras.layers.Dense(3)(x))",
        "shares",
    ),
    "hidden arguments": ("def f(x, **k):\n    return tf.reduce_sum(x, **k)", "hides"),
    "a starred argument": ("def f(x):\n    return tf.add(*x)", "hides"),
    "a keyword of another version": ("y = tf.reduce_sum(x, keep_dims=True)", "no parameter `keep_dims`"),
    "an argument with no translation": ("y = tf.nn.embedding_lookup(a, b, max_norm=1.0)", "`max_norm=1.0`"),
    "a dtype that only running tells": ("def f(x, d):\n    return tf.cast(x, d)", "which dtype"),
    "a mode with no translation": ("y = tf.pad(x, p, mode='SYMMETRIC')", "no faithful translation"),
    "a value evaluated twice": ("y = tf.transpose(f(x))", "evaluated 2 times"),
    "an operation passed on as a value": ("y = map(tf.gather, a)", "passed on as a value"),
    "a comment that would be lost": ("y = tf.abs(x, name='a'  # why\n)", "comment"),
    "a guide": ("with tf.GradientTape() as tape:\n    y = tf.abs(x)", "loss.backward()"),
    "text that is no number": ("y = tf.constant('a')", "no faithful translation"),
}


@pytest.mark.parametrize("case", LEFT, ids=lambda case: f"{case} is left alone with a reason")
def test_left(case: str, tmp_path: Path, catalogue: Catalogue) -> None:
    text, reason = LEFT[case]
    code, found = rewritten(text, tmp_path, catalogue)
    assert code == text
    assert found.nodes == {}
    assert found.imports == set()
    assert any(reason in left.reason for left in found.left)
    assert all(left.line > 0 for left in found.left)


def test_code_that_is_nested_too_deeply_is_left_alone_with_a_reason(tmp_path: Path, catalogue: Catalogue) -> None:
    resolution = resolution_of("y = tf.abs(" + "+".join("x" * 900) + ")", tmp_path)
    found = rewrite_calls(resolution.source.module, resolution, catalogue, 3)
    assert found.nodes == {}
    assert any("too deeply" in left.reason for left in found.left)


REWRITTEN = {
    "nested calls": (
        "y = tf.sqrt(tf.reduce_sum(tf.square(x), axis=-1))",
        "y = torch.sqrt(torch.sum(torch.square(x), dim=-1))",
    ),
    "a number where PyTorch wants a tensor": (
        "y = tf.maximum(0.5, tf.abs(x))",
        "y = torch.clamp(torch.tensor(0.5), min=torch.abs(x))",
    ),
    "a dtype by text": ("y = K.cast(x, 'float32')", "y = x.to(torch.float32)"),
    "a sum that needs parentheses": ("y = tf.cast(a + b, tf.int32)", "y = (a + b).to(torch.int32)"),
    "an operation that another one indexes": ("n = tf.shape(x)[0]", "n = x.shape[0]"),
    "a size in arithmetic": (
        "n = tf.cast(tf.shape(x)[0] * 2, tf.float32)",
        "n = torch.tensor(x.shape[0] * 2, dtype=torch.float32)",
    ),
    "an activation passed on": ("f = g(tf.nn.relu)", "f = g(F.relu)"),
    "a method of a tensor": ("y = tf.abs(x).numpy()", "y = torch.abs(x).detach().cpu().numpy()"),
    "a method of a sum": ("y = tf.abs(x)\nz = (y + 1).numpy()", "y = torch.abs(x)\nz = (y + 1).detach().cpu().numpy()"),
    "an annotation": (
        "def f(x: tf.Tensor) -> tf.Tensor:\n    return x",
        "def f(x: torch.Tensor) -> torch.Tensor:\n    return x",
    ),
    "an operation inside a project's own call": (
        "y = g(tf.abs(x), key=tf.exp(x))",
        "y = g(torch.abs(x), key=torch.exp(x))",
    ),
    "comments and line breaks": (
        "y = tf.concat(\n    [a, b],  # both\n    axis=-1,  # channels\n)",
        "y = torch.cat(\n    [a, b],  # both\n    dim=-1,  # channels\n)",
    ),
    "functions that do not touch what stays": (
        "def f(x):\n    return tf.abs(x)\n\ndef g(x):\n    return tf.raw_ops.Bessel(x)",
        "def f(x):\n    return torch.abs(x)\n\ndef g(x):\n    return tf.raw_ops.Bessel(x)",
    ),
    "a shadowed name": ("def f(tf, x):\n    return tf.abs(x)", "def f(tf, x):\n    return tf.abs(x)"),
}


@pytest.mark.parametrize("case", REWRITTEN, ids=lambda case: f"{case} comes out right")
def test_rewritten(case: str, tmp_path: Path, catalogue: Catalogue) -> None:
    before, after = REWRITTEN[case]
    assert rewritten(before, tmp_path, catalogue)[0] == after


def test_a_layer_that_somebody_rewrites_holds_nothing_back(tmp_path: Path, catalogue: Catalogue) -> None:
    resolution = resolution_of("def f(x):\n    return tf.abs(keras.layers.Dense(3)(x))", tmp_path)
    handled = [node for node, api in resolution.apis.items() if api == "tf.keras.layers.Dense"]
    assert handled
    found = rewrite_calls(resolution.source.module, resolution, catalogue, 3, handled)
    assert "torch.abs(keras.layers.Dense(3)(x))" in replace(resolution.source.module, found.nodes).code  # type: ignore[attr-defined]


def test_imports_are_those_that_the_new_code_needs(tmp_path: Path, catalogue: Catalogue) -> None:
    assert rewritten("y = tf.nn.relu(F.x)", tmp_path, catalogue)[1].imports == {"import torch.nn.functional as F"}
    assert rewritten("y = tf.abs(F.x)", tmp_path, catalogue)[1].imports == {"import torch"}


def test_one_name_means_what_its_keras_means(tmp_path: Path, catalogue: Catalogue) -> None:
    text = "y = keras.activations.hard_sigmoid(x)"
    assert rewritten(text, tmp_path, catalogue, keras=3)[0] == "y = F.hardsigmoid(x)"
    assert rewritten(text, tmp_path, catalogue, keras=2)[0] == "y = torch.clamp(0.2 * x + 0.5, min=0.0, max=1.0)"


ATTENTION = """def attention(q, k, v, mask):
    score = tf.matmul(q, k, transpose_b=True)
    depth = tf.cast(tf.shape(k)[-1], q.dtype)
    score = score / tf.math.sqrt(depth) - 1e9 * tf.cast(tf.logical_not(mask), q.dtype)
    weights = tf.nn.softmax(score, axis=-1)
    heads = tf.reshape(tf.matmul(weights, v), [tf.shape(q)[0], -1])
    return K.concatenate([heads, tf.reduce_mean(q, axis=[1, 2], keepdims=True)[:, 0]]), tf.argmax(weights, axis=-1)
"""


def test_a_whole_function_computes_the_same_after_rewriting(tmp_path: Path, catalogue: Catalogue) -> None:
    import numpy as np
    import tensorflow as tf
    import torch

    code, found = rewritten(ATTENTION, tmp_path, catalogue)
    assert found.left == []
    sides: list[dict[str, object]] = [{}, {}]
    exec(HEAD + ATTENTION, sides[0])
    exec("\n".join(found.imports) + "\n" + code, sides[1])
    generator = np.random.default_rng(0)
    arrays = [generator.standard_normal((2, 3, 4)) for _ in range(3)]
    mask = generator.random((2, 3, 3)) < 0.7
    one = sides[0]["attention"](*map(tf.constant, [*arrays, mask]))  # type: ignore[operator]
    other = sides[1]["attention"](*map(torch.from_numpy, [*arrays, mask]))  # type: ignore[operator]
    np.testing.assert_allclose(other[0].numpy(), one[0].numpy(), rtol=1e-9)
    np.testing.assert_array_equal(other[1].numpy(), one[1].numpy())
