"""What the page shows of parity, training and bench: JSON values turned into bars, curves and sentences."""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from migrator.errors import MigrateError
from migrator.report import figures, words

Json = Mapping[str, Any]
SIDES = {"tensorflow": "TensorFlow", "torch": "PyTorch"}
BUSY = 0.15  # share of the machine that other programs may take before the figures need a warning
MEMORY = {"vram": "Peak GPU memory (vram)", "rss": "Peak growth of resident memory (rss)"}


def apis(assess: Json) -> list[dict[str, Any]]:
    """One entry an API: uses, worst grade, rule, minutes; the most used first."""
    found: dict[str, dict[str, Any]] = {}
    for finding in assess["findings"]:
        entry = found.setdefault(finding["api"], {"name": finding["api"], "uses": 0, "minutes": 0.0})
        entry["uses"] += 1
        entry["minutes"] += finding["minutes"]
        entry |= {"grade": finding["grade"] or "no rule", "rule": finding["rule"]}
    return sorted(found.values(), key=lambda entry: (-entry["uses"], entry["name"]))


# ---------------------------------------------------------------- training


def training(pair: Json, number: int) -> dict[str, Any]:
    """Curves and the table of test metrics of one pair."""
    seeds = sorted({run["seed"] for run in pair["runs"]})
    sides = [_side(pair, side, seeds) for side in SIDES if any(run["side"] == side for run in pair["runs"])]
    view = {**pair, "seeds": seeds, "sides": sides, "figures": [], "no_figures": ""}
    try:
        view["figures"] = [_curve(pair, curve, f"c{number}-{place}") for place, curve in enumerate(_curves(pair))]
    except MigrateError as error:
        view["no_figures"] = error.message
    return view


def _side(pair: Json, side: str, seeds: Sequence[int]) -> dict[str, Any]:
    tests = {run["seed"]: run["test"] for run in pair["runs"] if run["side"] == side}
    known = [value for value in tests.values() if value is not None]
    middle = statistics.median(known) if known else None
    return {"name": SIDES[side], "side": side, "tests": [tests.get(seed) for seed in seeds], "median": middle}


def _curves(pair: Json) -> list[str]:
    """The names of the curves that both sides have, losses first."""
    named = [set(run["curves"]) for run in pair["runs"]]
    shared = set.intersection(*named) if named else set()
    return sorted(shared, key=lambda name: ("loss" not in name, name.startswith("val"), name))


def _curve(pair: Json, curve: str, identifier: str) -> dict[str, str]:
    series: dict[str, list[list[float]]] = {}
    for run in pair["runs"]:
        values = [float("nan") if value is None else value for value in run["curves"][curve]]
        series.setdefault(run["side"], []).append(values)
    label = curve.replace("val_", "validation ").replace("_", " ")
    ends = ", ".join(
        f"{SIDES[side]} ends at {words.number(runs[-1])}"
        for side, values in series.items()
        if (runs := figures.median(values))
    )
    caption = f"{label.capitalize()} by epoch. Thin: each seed; thick: their median. Medians: {ends}."
    return {"svg": figures.curves(series, label, identifier, caption), "caption": caption}


# ---------------------------------------------------------------- bench


def bench(pair: Json) -> dict[str, Any]:
    """Bars, sentences and notes of one measured pair."""
    view = {**pair, "step_bars": [], "memory_bars": [], "sentences": [], "notes": [], "how": _how(pair["machine"])}
    if pair["rows"]:
        kinds = {row["memory_kind"] for row in pair["rows"]}
        view["memory_words"] = " / ".join(MEMORY.get(kind, kind) for kind in sorted(kinds))
        view["step_bars"] = _step_bars(pair["rows"])
        view["memory_bars"] = _memory_bars(pair["rows"])
        view["sentences"] = _sentences(pair["deltas"])
        view["notes"] = [f"{_name(row)}: {row['note']}" for row in pair["rows"] if row["note"]]
    return view


def _name(row: Json) -> str:
    return f"{SIDES.get(row['side'], row['side'])} {row['mode']}"


def _step_bars(rows: Sequence[Json]) -> list[dict[str, Any]]:
    widest = max(row["step_ms"]["high"] for row in rows) or 1.0
    bars = []
    for row in rows:
        step = {name: 100 * value / widest for name, value in row["step_ms"].items()}
        span = (round(step["low"], 2), round(step["high"] - step["low"], 2))
        text = f"{words.fixed(row['step_ms']['median'], 2)} ms"
        bars.append(
            {"name": _name(row), "side": row["side"], "width": round(step["median"], 2), "range": span, "text": text}
        )
    return bars


def _memory_bars(rows: Sequence[Json]) -> list[dict[str, Any]]:
    widest = max(row["memory_bytes"] for row in rows) or 1
    return [
        {
            "name": _name(row),
            "side": row["side"],
            "width": round(100 * row["memory_bytes"] / widest, 2),
            "range": None,
            "text": words.size(row["memory_bytes"]),
        }
        for row in rows
    ]


def _sentences(deltas: Json) -> list[str]:
    """The deltas in words, each with its interval."""
    if not deltas:
        return []
    base = deltas["against"].replace("tensorflow", "TensorFlow")
    said = []
    for mode, speed in deltas["speed"].items():
        low, middle, high = (words.times(speed[name]) for name in ("low", "median", "high"))
        clear = "" if speed["low"] > 1 or speed["high"] < 1 else ", so no difference is proven"
        said.append(f"PyTorch {mode} runs at {middle} the speed of {base} (95% interval {low} to {high}{clear}).")
    for mode, memory in deltas["memory"].items():
        if memory is not None:
            said.append(f"PyTorch {mode} needs {words.times(memory)} the memory of {base}.")
    even = deltas["break_even"]
    if even["steps"]:
        low, middle, high = (words.fixed(even["steps"][name], 0) for name in ("low", "median", "high"))
        said.append(f"Compiling has paid for itself after {middle} steps ({low} to {high}), against eager PyTorch.")
    elif even["reason"]:
        said.append(even["reason"])
    return said


def _how(machine: Json) -> str:
    """How it was measured, in a sentence or two; empty where the result does not say."""
    if not machine:
        return ""
    threads = words.counted(machine["threads"], "thread")
    said = f"{machine['rounds']} alternating rounds on {threads}, every variant in its own process."
    if disturbed(machine):
        others = words.percent(machine["others"], 0)
        said += f" Other programs took {others} of the machine meanwhile: measure again when it is idle."
    return said


def disturbed(machine: Json) -> bool:
    """Whether other programs took so much of the machine that the figures need a warning."""
    return (machine.get("others") or 0.0) > BUSY
