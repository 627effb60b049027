"""The catalogue rejects every unsound entry, naming file and entry; sound ones become rules."""

from collections.abc import Callable
from pathlib import Path

import pytest

from migrator.catalogue import load_rules
from migrator.errors import MigrateError

SOUND = """
[[rule]]
id = "softmax"
tf = "tf.nn.softmax(logits, axis=None, name=None)"
also = ["tf.math.softmax"]
torch = "torch.softmax({logits}, dim={axis})"
fill = { axis = "-1" }
ignore = ["name"]
grade = "exact"
doc = "Normalises scores along one axis."
[rule.example]
before = "tf.nn.softmax(a, axis=1)"
after = "torch.softmax(a, dim=1)"
given = { a = "float32[2,3]" }
"""
OTHER = SOUND.replace('"softmax"', '"other"').replace("tf.nn.softmax(l", "tf.nn.other(l")


def load(tmp_path: Path, text: str, name: str = "nn.toml") -> object:
    (tmp_path / name).write_text(text, encoding="utf-8")
    return load_rules([tmp_path])


def swapped(old: str, new: str) -> str:
    assert old in SOUND
    return SOUND.replace(old, new)


FAULTS = {
    "a parameter without a fate": (swapped('ignore = ["name"]\n', ""), "`name` has no fate"),
    "a misspelt key": (swapped("ignore", "ignores"), "unknown key `ignores`"),
    "an unknown key in the example": (swapped("before", "befor"), "unknown key `befor`"),
    "two kinds at once": (SOUND.replace("grade", 'guide = "x"\ngrade'), "found `torch` and `guide`"),
    "no kind at all": (swapped('torch = "torch.softmax({logits}, dim={axis})"\n', ""), "found none of them"),
    "a missing example": (SOUND.split("[rule.example]")[0], "the example is missing"),
    "a placeholder that is no parameter": (swapped("dim={axis}", "dim={axes}"), "uses {axes}"),
    "a stray brace": (swapped("dim={axis}", "dim={axis}}"), "stray brace"),
    "a fill for no parameter": (swapped("fill = { axis", "fill = { axes"), "`fill` names `axes`"),
    "a parameter used and ignored": (swapped('["name"]', '["name", "axis"]'), "also ignored or refused"),
    "a grade that does not exist": (swapped('"exact"', '"sure"'), "grade 'sure' is unknown"),
    "an automatic rule without a grade": (swapped('grade = "exact"\n', ""), "states `grade`"),
    "a builder that does not exist": (
        swapped('torch = "torch.softmax({logits}, dim={axis})"', 'build = "no_such"'),
        "no builder `no_such`",
    ),
    "a signature that is none": (swapped("axis=None, name=None)", "axis=, name)"), "no signature"),
    "a text where a list belongs": (swapped('["name"]', '"name"'), "`ignore` has the wrong type str"),
    "a number where a text belongs": (swapped('axis = "-1"', "axis = -1"), "must be a text in quotes"),
    "a Keras that does not exist": (SOUND.replace("grade", "keras = [4]\ngrade"), "generations 2 and 3"),
    "a tolerance without a reason": (SOUND + "atol = 1e-3\n", "needs a `reason`"),
    "a condition outside the vocabulary": (SOUND.replace("grade", 'when = { axis = "odd" }\ngrade'), "'odd'"),
    "a name claimed twice": (SOUND + OTHER, "tf.math.softmax already belongs to entry `softmax`"),
    "an id used twice": (SOUND + OTHER.replace('"other"', '"softmax"').replace("tf.math.softmax", "tf.b"), "taken"),
    "a missing sentence": (swapped('doc = "Normalises scores along one axis."\n', ""), "`doc` is missing"),
    "a default that is TensorFlow code": (
        swapped('fill = { axis = "-1" }\n', "").replace("axis=None", "axis=tf.a").replace("dim={axis}", "{axis}"),
        "TensorFlow code",
    ),
}


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: f"{fault} is rejected")
def test_a_fault(fault: str, tmp_path: Path) -> None:
    text, message = FAULTS[fault]
    with pytest.raises(MigrateError) as raised:
        load(tmp_path, text)
    assert message in raised.value.message
    assert "nn.toml" in raised.value.message


@pytest.mark.parametrize(
    "text", ["[[rule", "", "family = 3", "[[rules]]\nid = 'x'", "[[rule]]\nid = 'x'", "rule = [1]"]
)
def test_a_file_without_sound_entries_is_rejected_by_name(text: str, tmp_path: Path) -> None:
    with pytest.raises(MigrateError, match=r"nn\.toml"):
        load(tmp_path, text)


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    with pytest.raises(MigrateError, match="no rules folder"):
        load_rules([tmp_path / "nowhere"])


def test_a_sound_entry_is_found_under_all_its_names(tmp_path: Path) -> None:
    catalogue = load_rules([_written(tmp_path, SOUND)])
    rule = catalogue.find("tf.nn.softmax")
    assert rule is not None
    assert catalogue.find("tf.math.softmax", keras=2) is rule
    assert [parameter.name for parameter in rule.parameters] == ["logits", "axis", "name"]
    assert catalogue.find("tf.nn.softmaxx") is None
    assert rule.family == "nn"
    assert rule.automatic


def test_one_name_may_mean_two_things_in_two_generations_of_keras(tmp_path: Path) -> None:
    old = SOUND.replace("grade", "keras = [2]\ngrade")
    new = SOUND.replace('"softmax"', '"softmax-new"').replace("grade", "keras = [3]\ngrade")
    catalogue = load_rules([_written(tmp_path, old + new)])
    found = [catalogue.find("tf.nn.softmax", keras=keras) for keras in (2, 3)]
    assert [rule.id for rule in found if rule] == ["softmax", "softmax-new"]


def test_a_guide_needs_no_more_than_its_words(tmp_path: Path) -> None:
    catalogue = load_rules(
        [_written(tmp_path, "[[rule]]\nid = 'tape'\ntf = 'tf.GradientTape'\nguide = 'Use autograd.'")]
    )
    rule = catalogue.find("tf.GradientTape")
    assert rule is not None
    assert rule.grade == "manual"
    assert not rule.automatic


def test_a_changed_entry_has_another_digest(tmp_path: Path) -> None:
    digests: Callable[[str], str] = lambda text: load_rules([_written(tmp_path, text)]).rules[0].digest  # noqa: E731
    assert digests(SOUND) == digests(SOUND + "\n# a comment\n")
    assert digests(SOUND) != digests(swapped('"-1"', '"0"'))


def _written(folder: Path, text: str) -> Path:
    (folder / "nn.toml").write_text(text, encoding="utf-8")
    return folder
