"""Where and why: for the first check that fails, the layer, its line on the PyTorch side, and the confirmed cause."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from migrator.facts import Check
from migrator.parity import judge, requests
from migrator.parity.checks import Both
from migrator.parity.options import Options
from migrator.worker import files

Found = dict[str, Any]


def locate(both: Both, made: Sequence[Check], asked: Mapping[str, Any], work: Path, options: Options) -> Found | None:
    """The first divergence as JSON, or None where the failing checks have no place.

    Keys, where they are known: `check`, `layer` (Keras), `torch` (module or function), `file` (relative to the pair's
    folder) and `line`, `cause` (an id of rules/differences.toml) with `write`, what to write instead.
    """
    failing = [check for check in made if check.verdict == "fail"]
    for check in sorted(failing, key=lambda each: ORDER.index(each.id)):
        found = FINDERS[check.id](Search(both, check, asked, work, options)) if check.id in FINDERS else None
        if found:
            return {"check": check.id, **_relative(found, Path(asked["folder"]))}
    return None


ORDER = ("weights", "build", "forward", "init", "gradient", "train", "state", "onnx", "compile")


class Search:
    """What a finder may look at."""

    def __init__(self, both: Both, check: Check, asked: Mapping[str, Any], work: Path, options: Options) -> None:
        self.both = both
        self.check = check
        self.asked = asked
        self.work = work
        self.options = options

    def experiment(self, *names: str) -> tuple[dict[str, Any], dict[str, Any]]:
        """Facts and arrays of another run of the PyTorch side with the named experiments."""
        request = {**self.asked, "experiments": names, "mapping": self.both.torch["mapping"]}
        request["loose"] = bool(self.both.constants())
        out = self.work / "-".join(["locate", *names])
        facts = requests.ask("torch_locate", request, out, self.options, "torch")
        return facts, dict(files.read_arrays(out / "arrays.safetensors"))

    def at_variable(self, text: str) -> Found:
        """The place of a variable as `Both.variable` writes it."""
        for index, variable in enumerate(self.both.record.variables):
            if self.both.variable(f"variable/{index}") == text:
                return {
                    "layer": variable["layer"],
                    "class": variable["class"],
                    **self.at_tensor(text),
                    "variable": text,
                }
        return {}

    def at_tensor(self, text: str) -> Found:
        """Module, file and line of the tensor named in brackets."""
        module = text.partition("(")[2].rstrip(")").rpartition(".")[0]
        place = self.both.torch.get("places", {}).get(module)
        return {"torch": module, **({"file": place[0], "line": place[1]} if place else {})}


def _forward(search: Search) -> Found | None:
    if search.both.record.facts["double"]:
        return None
    facts, _ = search.experiment("forward")
    return facts["divergence"] or None


def _weights(search: Search) -> Found | None:
    first = search.both.torch.get("unmatched", [{}])[0]
    if not first:
        return None
    side = "layer" if first["side"] == "tensorflow" else "torch"
    return {side: first["path"], "candidates": ", ".join(first["candidates"])}


def _build(search: Search) -> Found | None:
    theirs, ours = search.both.record.facts["dropout"], search.both.torch["dropout"]
    if sorted(theirs) == sorted(ours):
        return None
    layers = search.both.record.facts["dropout_layers"]
    places = search.both.torch["dropout_places"]
    pairs = enumerate(zip(theirs, ours, strict=False))
    index = next((place for place, (one, other) in pairs if one != other), min(len(theirs), len(ours)))
    found: Found = {"layer": layers[index]} if index < len(layers) else {}
    if index < len(places) and places[index]:
        found.update({"file": places[index][0], "line": places[index][1]})
    return found


def _worst(search: Search) -> Found | None:
    return search.at_variable(search.check.details.get("worst", "")) or None


def _gradient(search: Search) -> Found | None:
    found = _worst(search) or {}
    facts = search.both.record.facts
    if facts.get("regularised") and search.both.torch.get("penalty") is None:
        found.update(cause="missing-penalty", write="a penalty() that returns what the Keras regularisers add")
    return found or None


def _train(search: Search) -> Found | None:
    found = _gradient(search) or {}
    step = search.check.details.get("first_step")
    return {**found, **({"step": step} if step is not None else {})} or None


def _state(search: Search) -> Found | None:
    found = _worst(search) or {}
    variances = search.both.ours(f"{search.both.precision}/removed")
    if variances and _settles(search.both, variances):
        found.update(cause="batchnorm-variance", write="accept it in migrate.toml, or correct running_var")
        return found
    facts, arrays = search.experiment("momentum")
    prefix = f"{search.both.precision}/momentum/"
    ours = {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
    if ours and _settles(search.both, ours):
        now = ", ".join(sorted({f"{value:g}" for value in facts["momentum"].values()}))
        found.update(cause="batchnorm-momentum", write=f"1 - the Keras momentum in place of momentum={now}")
    return found or None


def _settles(both: Both, ours: judge.Arrays) -> bool:
    """Whether trained state would agree with these arrays."""
    untrained = {f"variable/{index}" for index, v in enumerate(both.record.variables) if not v["trainable"]}
    theirs = {
        name: ref for name, ref in both.record.references(f"{both.precision}/trained").items() if name in untrained
    }
    kept = {name: array for name, array in ours.items() if name in untrained}
    return judge.exact("state", judge.tally(theirs, kept), both.constants(), judge.NAMED).verdict == "pass"


def _init(search: Search) -> Found | None:
    found = _worst(search)
    return {**found, "cause": "initialiser"} if found else None


def _relative(found: Found, folder: Path) -> Found:
    if not found.get("file"):
        return {key: value for key, value in found.items() if key not in ("file", "line")}
    relative = os.path.relpath(found["file"], folder.resolve()).replace(os.sep, "/")
    return {**found, "file": relative}


FINDERS: Mapping[str, Callable[[Search], Found | None]] = {
    "weights": _weights,
    "build": _build,
    "forward": _forward,
    "init": _init,
    "gradient": _gradient,
    "train": _train,
    "state": _state,
}
