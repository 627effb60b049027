"""migrate.toml: what is read, what is refused and in which words, and that what is written reads back the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from migrator import config
from migrator.errors import MigrateError
from migrator.facts import Accept, Named, Pair, Training
from migrator.spec import Spec, parse_spec

MINIMAL = """
[[pair]]
name = "net"
tensorflow = "legacy/models.py:build"
torch = "models.py:build"
inputs = ["float32[batch,8]"]
"""

FULL = Pair(
    name="digits-cnn",
    tensorflow="legacy/models.py:build",
    torch="models.py:Net.build",
    inputs=("image=float32[batch,28,28,1]:uniform(0,1)", "float32[batch,3]"),
    batch=16,
    target="int64[batch]:int(0,10)",
    loss=Named("SparseCategoricalCrossentropy", {"from_logits": False}),
    optimizer=Named("Adam", {"learning_rate": 1e-3}),
    training=Training("train.py:load", 20, "accuracy", 64),
    weights="legacy/trained.h5",
    accept=(Accept("batchnorm-variance", "below 1e-4"), Accept("adam-epsilon", "early steps only")),
    budget={"speed": 1.0, "memory": 0.9},
    call="list",
    torch_call="args",
    tensorflow_args={"width": 4, "names": ["a", "b"]},
)


def write(folder: Path, text: str, name: str = "migrate.toml") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def refusal(folder: Path, text: str) -> str:
    with pytest.raises(MigrateError) as caught:
        config.load(write(folder, text))
    assert "\n" not in caught.value.message
    return caught.value.message


def test_what_is_written_reads_back_the_same(tmp_path: Path) -> None:
    small = Pair("small", "a.py:build", "b.py:build", ("float32[2,3]",))
    text = config.dump([FULL, small], "Written for these models.\nEdit freely.")
    assert text.startswith("# Written for these models.\n# Edit freely.\n")
    assert config.load(write(tmp_path, text)).pairs == (FULL, small)


def test_no_pairs_at_all_read_back_as_none(tmp_path: Path) -> None:
    assert config.load(write(tmp_path, config.dump([], "none"))).pairs == ()


def test_none_cannot_be_written_silently_as_a_default() -> None:
    pair = Pair("p", "a.py:f", "b.py:f", ("float32[2]",), loss=Named("Huber", {"reduction": None}))
    with pytest.raises(MigrateError, match=r"Huber\(reduction=None\)"):
        config.dump([pair])


def test_the_training_batch_is_the_pairs_where_it_is_left_out(tmp_path: Path) -> None:
    text = MINIMAL + 'batch = 7\n[pair.training]\ndata = "train.py:load"\nepochs = 2\nmetric = "accuracy"\n'
    (pair,) = config.load(write(tmp_path, text)).pairs
    assert pair.training == Training("train.py:load", 2, "accuracy", 7)


def test_a_folder_stands_for_the_file_in_it(tmp_path: Path) -> None:
    write(tmp_path, MINIMAL)
    assert config.load(tmp_path).path == tmp_path / "migrate.toml"


def test_a_pyproject_counts_where_it_has_a_table_for_it(tmp_path: Path) -> None:
    write(tmp_path, '[project]\nname = "x"\n', "pyproject.toml")
    assert config.find(tmp_path) is None
    pair = MINIMAL.replace("[[pair]]", "[[tool.migrate.pair]]")
    write(tmp_path, '[tool.migrate]\nrules = ["ours/"]\n' + pair, "pyproject.toml")
    found = config.load(tmp_path)
    assert found.rules == ("ours/",)
    assert [pair.name for pair in found.pairs] == ["net"]


def test_an_interpreter_is_found_from_the_files_folder_unless_it_is_a_bare_name(tmp_path: Path) -> None:
    text = '[interpreters]\ntensorflow = "../old/bin/python"\ntorch = "python3.12"\n'
    found = config.load(write(tmp_path, text)).interpreters
    assert found == {"tensorflow": str(tmp_path / "../old/bin/python"), "torch": "python3.12"}


@pytest.mark.parametrize(
    ("text", "key"),
    [
        (MINIMAL + "acept = []\n", "acept"),
        (MINIMAL + "[pair.training]\ndata = 'a.py:f'\nepochs = 1\nmetric = 'm'\npatience = 3\n", "patience"),
        (MINIMAL + "accept = [{ id = 'a', because = 'b', why = 'c' }]\n", "why"),
        (MINIMAL + "[pair.budget]\ntime = 1.0\n", "time"),
        ("[interpreter]\ntensorflow = 'python'\n", "interpreter"),
        ("[interpreters]\njax = 'python'\n", "jax"),
    ],
)
def test_an_unknown_key_is_named_with_its_file(tmp_path: Path, text: str, key: str) -> None:
    message = refusal(tmp_path, text)
    assert f"'{key}'" in message
    assert "unknown" in message
    assert str(tmp_path / "migrate.toml") in message


def test_a_misspelt_key_is_answered_with_the_one_meant(tmp_path: Path) -> None:
    assert "did you mean 'accept'" in refusal(tmp_path, MINIMAL + "acept = []\n")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("pair = 3", "list of tables"),
        ("[[pair]]\nname = 'x'\n", "'tensorflow' is missing"),
        (MINIMAL.replace('["float32[batch,8]"]', "[]"), "is empty"),
        (MINIMAL.replace("batch,8", "batch,width"), "'width'"),
        (MINIMAL.replace("float32", "float33"), "float33"),
        (MINIMAL + "batch = '32'\n", "whole number"),
        (MINIMAL + "batch = true\n", "whole number"),
        (MINIMAL + "batch = 0\n", "above 0"),
        (MINIMAL + "call = 'kwargs'\n", "one of single, list"),
        (MINIMAL + "torch_call = 'both'\n", "one of single, list"),
        (MINIMAL.replace("legacy/models.py:build", "legacy/models.py"), "names no callable"),
        (MINIMAL.replace("net", "../net"), "names a folder"),
        (MINIMAL + MINIMAL, "Two pairs"),
        (MINIMAL + "[pair.loss]\nfrom_logits = true\n", "'name' is missing"),
        (MINIMAL + "[pair.loss.price]\nname = 'MeanSquaredError'\n", "one loss per output"),
        (MINIMAL + "loss = { ref = { tensorflow = 'a.py:f', torch = 'b.py:f' } }\n", "functions of its own"),
        ("[[pair]\n", "not valid TOML"),
    ],
)
def test_a_wrong_value_is_a_sentence_and_not_a_guess(tmp_path: Path, text: str, says: str) -> None:
    assert says in refusal(tmp_path, text)


def test_a_missing_file_says_how_to_get_one(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "migrate.toml"):
        with pytest.raises(MigrateError, match="migrate rewrite"):
            config.load(path)


def test_bytes_that_are_no_text_are_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "migrate.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(MigrateError, match="cannot be read"):
        config.load(tmp_path)


def test_pairs_are_chosen_by_name_and_an_unknown_name_lists_the_known(tmp_path: Path) -> None:
    found = config.load(write(tmp_path, config.dump([FULL, Pair("b", "a.py:f", "b.py:f", ("float32[1]",))])))
    assert found.chosen([]) == found.pairs
    assert [pair.name for pair in found.chosen(["b"])] == ["b"]
    with pytest.raises(MigrateError, match=r"no pair 'c' in .*; it holds b, digits-cnn"):
        found.chosen(["c"])


# ---------------------------------------------------------------- SPEC


@pytest.mark.parametrize(
    ("text", "spec"),
    [
        ("float32[8,28,28,1]", Spec(None, "float32", (8, 28, 28, 1), "normal")),
        ("float32[8,3]:uniform(0,1)", Spec(None, "float32", (8, 3), "uniform", 0.0, 1.0)),
        ("float64[2] : uniform( -1e-3 , 2 )", Spec(None, "float64", (2,), "uniform", -1e-3, 2.0)),
        ("int32[batch,64]:int(0,1000)", Spec(None, "int32", ("batch", 64), "int", 0, 1000)),
        ("mask=bool[8,64]:bernoulli(0.8)", Spec("mask", "bool", (8, 64), "bernoulli", p=0.8)),
        ("bool[8]", Spec(None, "bool", (8,), "bernoulli", p=0.5)),
        ("float32[]", Spec(None, "float32", (), "normal")),
    ],
)
def test_a_spec_is_read(text: str, spec: Spec) -> None:
    assert parse_spec(text) == spec


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("float33[1]", "float33"),
        ("float32", "describes no input"),
        ("float32[1,]", "no size"),
        ("float32[0]", "no size"),
        ("float32[-1]", "no size"),
        ("int32[8]", "int32[8]:int(0,1000)"),
        ("int32[8]:uniform(0,1)", "does not go with int32"),
        ("float32[8]:int(0,3)", "does not go with float32"),
        ("float32[8]:normal(0,1)", "does not go with float32"),
        ("int32[8]:int(5)", "two numbers"),
        ("int32[8]:int(5,5)", "lower one first"),
        ("int32[8]:int(0,1.5)", "whole numbers"),
        ("bool[8]:bernoulli(1.5)", "from 0 to 1"),
        ("float32[8]:uniform(a,b)", "should hold numbers"),
        ("float32[8] trailing", "describes no input"),
    ],
)
def test_a_wrong_spec_says_how_it_is_written(text: str, says: str) -> None:
    with pytest.raises(MigrateError) as caught:
        parse_spec(text)
    assert says in caught.value.message
