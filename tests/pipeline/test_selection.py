"""Pairs from the command line: what is missing or unreadable is a sentence, never a guess."""

import pytest

from migrator.errors import MigrateError
from migrator.pipeline.selection import FROM_COMMAND_LINE, from_config, from_options, named

REFS = ("legacy/models.py:build", "ported/models.py:Net.small")


def test_a_pair_is_named_after_the_pytorch_callable():
    [pair] = from_options(*REFS, ["float32[4,8]"]).pairs
    assert (pair.name, pair.tensorflow, pair.torch) == ("models-Net-small", *REFS)


@pytest.mark.parametrize(
    ("spec", "batch"), [("float32[4,8]", 4), ("float32[batch,8]", 32), ("float32[]", 32)], ids=["4", "named", "scalar"]
)
def test_the_batch_is_the_first_dimension_where_it_is_a_number(spec, batch):
    assert from_options(*REFS, [spec]).pairs[0].batch == batch


def test_accepted_differences_say_where_they_come_from():
    [pair] = from_options(*REFS, ["float32[4]"], accept=["batchnorm-variance"]).pairs
    assert [(accept.id, accept.because) for accept in pair.accept] == [("batchnorm-variance", FROM_COMMAND_LINE)]


@pytest.mark.parametrize(
    ("text", "name", "arguments"),
    [
        ("Adam", "Adam", {}),
        ("Adam(learning_rate=1e-2)", "Adam", {"learning_rate": 0.01}),
        ("SparseCategoricalCrossentropy(from_logits=True)", "SparseCategoricalCrossentropy", {"from_logits": True}),
    ],
)
def test_a_loss_or_optimizer_is_read_with_its_arguments(text, name, arguments):
    found = named(text, "--loss")
    assert (found.name, dict(found.arguments)) == (name, arguments)


@pytest.mark.parametrize(
    "text", ["", "Adam(0.01)", "Adam(**x)", "Adam(learning_rate=rate)", "keras.Adam()", "1 +", "__import__('os')"]
)
def test_anything_else_is_refused_and_nothing_is_evaluated(text):
    with pytest.raises(MigrateError, match="--optimizer"):
        named(text, "--optimizer")


@pytest.mark.parametrize(
    ("tensorflow", "torch", "inputs", "words"),
    [
        (REFS[0], None, ["float32[1]"], "--torch is missing"),
        (None, REFS[1], ["float32[1]"], "--tensorflow is missing"),
        (*REFS, [], "--input"),
        (REFS[0], "models.py", ["float32[1]"], "--torch"),
        (*REFS, ["float33[1]"], "float33"),
    ],
    ids=["no twin", "no original", "no inputs", "a file without a callable", "an unknown type"],
)
def test_what_is_missing_or_wrong_is_named(tensorflow, torch, inputs, words):
    with pytest.raises(MigrateError, match=words):
        from_options(tensorflow, torch, inputs)


@pytest.mark.parametrize("text", ["{", "[1]", "3"])
def test_arguments_that_are_no_json_object_are_refused(text):
    with pytest.raises(MigrateError, match="--tensorflow-args"):
        from_options(*REFS, ["float32[1]"], tensorflow_args=text)


def test_a_folder_without_configuration_is_named(tmp_path):
    with pytest.raises(MigrateError, match=r"migrate\.toml"):
        from_config(tmp_path)
