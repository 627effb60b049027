"""The `onnx` check: both exports, run by ONNX Runtime, against their own framework and against each other.

Four edges, so that an exporter's fault is told from a rewrite's, each judged in float32 by the noise floor.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from migrator.facts import Check, Verdict
from migrator.parity import judge, requests
from migrator.parity.checks import Both
from migrator.parity.options import Options
from migrator.worker import batches, compare, files

Side = Mapping[str, compare.Reference]
EDGES = (
    ("tensorflow", "tensorflow-onnx", "the export by tf2onnx"),
    ("torch", "torch-onnx", "the export by torch.onnx"),
    ("tensorflow-onnx", "torch-onnx", "the two graphs"),
    ("tensorflow", "torch", "the rewrite"),
)


def judge_sides(truth: Side, sides: Mapping[str, Side]) -> Check:
    """The four edges; the distance of `sides["floor"]` from `truth` is the floor.

    An edge may be as long as eight floors, like everything in float32. Outputs are compared by their place.
    """
    floor = max([judge.ROUNDING, *(compare.error(truth[name], sides["floor"][name]) for name in truth)])
    lengths: dict[str, float] = {}
    failed = []
    for one, other, whose in EDGES:
        name = f"{one} - {other}"
        try:
            lengths[name] = _length(sides[one], sides[other])
        except compare.Mismatch as mismatch:
            failed.append(f"{name}: {mismatch} ({whose})")
            continue
        if not (math.isfinite(lengths[name]) and lengths[name] <= judge.FACTOR * floor):
            failed.append(f"{name} is off by {lengths[name]:.2g} ({whose})")
    worst = max(lengths.values(), default=None)
    verdict: Verdict = "fail" if failed else "pass"
    if failed:
        failed.append(f"{judge.FACTOR:.0f} times the noise floor {floor:.2g} is allowed")
    reason = "; ".join(failed)
    return Check("onnx", verdict, worst, floor, worst, reason, {"edges": lengths})


def _length(one: Side, other: Side) -> float:
    if len(one) != len(other):
        raise compare.Mismatch(f"{len(other)} outputs against {len(one)}")
    pairs = zip(one.values(), other.values(), strict=True)
    return max((compare.error(theirs, ours) for theirs, ours in pairs), default=0.0)


def judge_edges(both: Both, options: Options, work: Path) -> Check:
    """Run both graphs and judge the edges. A graph that cannot be made or run is `unsupported`, with whose it is."""
    theirs, ours = both.record.facts.get("onnx"), both.torch.get("onnx")
    for side, facts in (("TensorFlow", theirs), ("PyTorch", ours)):
        if facts is None or "unsupported" in facts:
            return Check("onnx", "unsupported", reason=f"{side} side: {(facts or {}).get('unsupported', 'no graph')}")
    assert theirs is not None
    assert ours is not None
    out = work / "onnx"
    out.mkdir()
    graphs = _graphs(both, theirs, ours, work)
    files.write_arrays(out / "feeds.safetensors", _feeds(both))
    asked = {"feeds": str(out / "feeds.safetensors"), "graphs": graphs}
    facts = requests.ask("onnx_side", asked, out, options, "onnxruntime")
    if facts["unsupported"]:
        reason = "; ".join(f"{name}: {text}" for name, text in facts["unsupported"].items())
        return Check("onnx", "unsupported", reason=reason)
    ran = files.read_arrays(out / "arrays.safetensors")
    sides: dict[str, Side] = {
        "tensorflow": both.record.references("float32/output"),
        "torch": both.ours("float32/output"),
        **{name: _by_place(ran, name) for name in graphs},
    }
    if both.precision == "float32":
        return judge_sides(sides["tensorflow"], {**sides, "floor": both.record.references("float32/nudged-output")})
    return judge_sides(both.record.references("float64/output"), {**sides, "floor": sides["tensorflow"]})


def _by_place(arrays: Mapping[str, np.ndarray], name: str) -> dict[str, np.ndarray]:
    found = {int(key.rpartition("/")[2]): array for key, array in arrays.items() if key.startswith(name + "/")}
    return {str(place): found[place] for place in sorted(found)}


def _graphs(both: Both, theirs: Mapping[str, Any], ours: Mapping[str, Any], work: Path) -> dict[str, Any]:
    weights = theirs["weights"] or []
    names = [name for name in theirs["inputs"] if name not in weights]
    inputs = {**{name: name for name in weights}, **{name: f"input_{place}" for place, name in enumerate(names)}}
    return {
        "tensorflow-onnx": {"file": str(both.record.folder / theirs["file"]), "inputs": inputs},
        "torch-onnx": {"file": str(work / "torch" / ours["file"]), "inputs": {name: name for name in ours["inputs"]}},
    }


def _feeds(both: Both) -> dict[str, np.ndarray]:
    inputs = batches.inputs(both.record.request, 0)
    feeds = {f"input_{place}": _single(array) for place, array in enumerate(inputs)}
    return {**feeds, **{f"weight_{index}": array for index, array in both.record.weights().items()}}


def _single(array: np.ndarray) -> np.ndarray:
    return array.astype(np.float32) if array.dtype.kind == "f" else array
