"""Mistakes planted in entries are caught; each changes one entry the way a person might get it wrong."""

from __future__ import annotations

import copy
import json
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from migrator.catalogue import Catalogue
from migrator.catalogue.catalogue import catalogue_of
from migrator.catalogue.loader import rule_of
from migrator.data import rules_folder
from migrator.proofs.prove import prove

Entry = dict[str, Any]
Change = Callable[[Entry], None]


def template(old: str, new: str) -> Change:
    """Replaces text in every template and in the example's result, so that the text test alone cannot catch it."""

    def change(entry: Entry) -> None:
        for table in (entry, *entry.get("variant", [])):
            table["torch"] = table["torch"].replace(old, new)
        entry["example"]["after"] = None

    return change


def key(name: str, value: Any) -> Change:
    def change(entry: Entry) -> None:
        entry[name] = value
        entry["example"]["after"] = None

    return change


def lost(parameter: str, argument: str) -> Change:
    """The argument is gone from the templates and its parameter declared harmless."""

    def change(entry: Entry) -> None:
        template(argument, "")(entry)
        for table in entry.get("variant", []):
            table["when"].pop(parameter, None)
        entry.get("when", {}).pop(parameter, None)
        entry["variant"] = [table for table in entry.get("variant", []) if table["when"]]
        entry["ignore"] = [*entry.get("ignore", []), parameter]

    return change


def signature(old: str, new: str) -> Change:
    def change(entry: Entry) -> None:
        assert old in entry["tf"]
        entry["tf"] = entry["tf"].replace(old, new)

    return change


def text(entry: Entry) -> None:
    entry["example"]["after"] = "torch.cos(b)"


MISTAKES: dict[str, tuple[str, Change]] = {
    "a wrong default axis": ("softmax", key("fill", {"axis": "0"})),
    "another wrong default axis": ("argmax", key("fill", {"axis": "-1"})),
    "swapped arguments": ("subtract", template("{x}, {y}", "{y}, {x}")),
    "swapped limits": (
        "clip-by-value",
        template("min={clip_value_min}, max={clip_value_max}", "min={clip_value_max}, max={clip_value_min}"),
    ),
    "the inverse function": ("exp", template("torch.exp", "torch.log")),
    "a related function": ("log1p", template("torch.log1p", "torch.log")),
    "the opposite function": ("maximum", template("min={y}", "max={y}")),
    "a gradient that ties share": ("minimum", template("torch.clamp({x}, max={y})", "torch.minimum({x}, {y})")),
    "a lost keepdims": ("reduce-mean", lost("keepdims", ", keepdim={keepdims}")),
    "a lost axis": ("reduce-max", lost("axis", ", dim={axis}")),
    "a lost axis of a position": ("gather", lost("axis", ":, ")),
    "a lost dtype": ("zeros", lost("dtype", ", dtype={dtype}")),
    "a wrong result dtype": ("one-hot", template(".to(torch.float32)", "")),
    "a wrong integer width": ("range", template("dtype=torch.int32", "dtype=torch.int64")),
    "a sample instead of a population": ("reduce-std", template(", correction=0", "")),
    "a gradient that should be stopped": ("stop-gradient", template("torch.detach", "torch.clone")),
    "a gradient that should pass": ("identity", template("torch.clone", "torch.detach")),
    "a wrong slope": ("leaky-relu", key("fill", {"alpha": "0.01"})),
    "an approximation for the exact function": (
        "gelu",
        template("F.gelu({features})", "F.gelu({features}, approximate='tanh')"),
    ),
    "axes counted from the wrong end": ("pad", template("reversed({paddings})", "{paddings}")),
    "tiling for repeating": (
        "repeat",
        template(
            "torch.repeat_interleave({input}, {repeats}, dim={axis})", "torch.cat([{input}] * {repeats}, dim={axis})"
        ),
    ),
    "sizes for a number of parts": ("split", template("torch.chunk(", "torch.split(")),
    "strictly less or not": ("sequence-mask", template("torch.lt", "torch.le")),
    "another grid order": ("meshgrid", key("fill", {"indexing": "'ij'"})),
    "pixel corners": ("resize", template("mode='bilinear'", "mode='bilinear', align_corners=True")),
    "a wrong range of random numbers": (
        "random-uniform",
        template("torch.rand({shape}, dtype={dtype})", "2 * torch.rand({shape}, dtype={dtype})"),
    ),
    "mean and deviation exchanged": (
        "random-normal",
        template("normal_({mean}, {stddev})", "normal_({stddev}, {mean})"),
    ),
    "an effect that does not happen": ("set-seed", template("torch.manual_seed", "abs")),
    "an invented parameter": ("log-softmax", signature("name=None", "name=None, dim=None")),
    "a default nobody has": ("expand-dims", signature("axis,", "axis=0,")),
    "a parameter's wrong name": ("squeeze", signature("name=None", "names=None")),
    "an alias that does not exist": ("tile", lambda entry: entry.update(also=["tf.tiled"])),
    "a text that says something else": ("cos", text),
}


def planted(catalogue: Catalogue, name: str) -> Any:
    identity, change = MISTAKES[name]
    rule = next(rule for rule in catalogue if rule.id == identity)
    content = tomllib.loads((rules_folder() / Path(rule.file).name).read_text(encoding="utf-8"))
    entry = copy.deepcopy(next(entry for entry in content["rule"] if entry["id"] == identity))
    change(entry)
    assert json.dumps(entry) != json.dumps(next(item for item in content["rule"] if item["id"] == identity))
    if entry["example"]["after"] is None:
        entry["example"]["after"] = _rewritten(catalogue, entry, rule.file, rule.family)
    if "names=None" in entry["tf"]:
        entry["ignore"] = ["names"]
    if "dim=None" in entry["tf"]:
        entry["ignore"] = ["name", "dim"]
    return rule_of(entry, rule.file, rule.family)


def _rewritten(catalogue: Catalogue, entry: Entry, file: str, family: str) -> str:
    from migrator.proofs.examples import translated

    entry["example"]["after"] = ""
    rule = rule_of(entry, file, family)
    others = tuple(other for other in catalogue if other.id != rule.id)
    return translated(entry["example"]["before"], catalogue_of((*others, rule)), 3)


@pytest.fixture(scope="module")
def found(catalogue: Catalogue) -> dict[str, tuple[str, ...]]:
    """Failures by rule id, all mistakes planted at once: each in an entry of its own."""
    rules = tuple(planted(catalogue, name) for name in MISTAKES)
    ids = [rule.id for rule in rules]
    assert len(set(ids)) == len(ids)
    mixed = catalogue_of((*(rule for rule in catalogue if rule.id not in ids), *rules))
    return {name: outcome.failures for name, outcome in prove(rules, mixed, quick=True).outcomes.items()}


def test_every_planted_mistake_is_caught_and_named(found: dict[str, tuple[str, ...]]) -> None:
    missed = [name for name, (identity, _) in MISTAKES.items() if not found[identity]]
    assert missed == []
    assert all(failure.endswith(".") for failures in found.values() for failure in failures)


@pytest.mark.parametrize(
    ("identity", "words"),
    [
        ("stop-gradient", "gradient with respect to a differs"),
        ("one-hot", "the dtype is float32 in TensorFlow and int64"),
        ("reduce-mean", "the shape is"),
        ("random-normal", "the distributions differ"),
        ("set-seed", "the effect does not show"),
        ("log-softmax", "signature of tf.nn.log_softmax"),
        ("tile", "tf.tiled does not exist"),
        ("cos", "the entry says torch.cos(b)"),
    ],
    ids=lambda value: f"a failure says: {value}" if " " in value or "." in value else value,
)
def test_a_failure_says_what_is_wrong(found: dict[str, tuple[str, ...]], identity: str, words: str) -> None:
    assert any(words in failure for failure in found[identity])
