"""Whether to move, in words for people who decide: a verdict and one line of evidence for each of five dimensions.

The verdict follows from counts, in this order: without TensorFlow, or with most of it blocked, stay; code that is pure
Keras 3 could first run on Keras's torch backend; where a person has to do much, where much is unknown to the catalogue
or something decides everything else, try a part first; else migrate.
"""

from __future__ import annotations

from collections import Counter
from typing import Literal

from migrator.facts import Advice, Effort, Finding, Hazard, Project

Verdict = Literal["migrate", "pilot", "keras-torch", "stay"]

BLOCKED_SHARE = 0.2  # more calls than this without a counterpart: stay
HAND_SHARE = 0.35  # more calls than this for a person: try a part first
RAW_SHARE = 0.03  # fewer calls than this outside Keras: the torch backend of Keras 3 is within reach
UNDECIDED_SHARE = 0.25  # more uses than this that reading cannot decide: the figures are a lower bound
MANY_HOURS = 200.0
DECIDING = ("distribution", "tpu", "graph-and-session", "unusual-tensors", "hub-weights", "mobile")
DEPLOYMENT = {"serving": "SavedModels for serving", "mobile": "TFLite for devices"}
TRAINING = {
    "tensor-control-flow": "control flow on tensor values",
    "value-in-step": "values fetched inside steps",
    "heavy-input-map": "tf.data maps",
    "tfrecord": "TFRecord files",
    "distribution": "distributed training",
    "mixed-precision": "mixed precision",
}


def advise(
    project: Project, findings: tuple[Finding, ...], hazards: tuple[Hazard, ...], bill: Effort, rate: float | None
) -> Advice:
    """The verdict and its evidence."""
    undecided = sum(len(resolution.unknown) for resolution in project.resolutions.values())
    if not findings:
        return _nothing_found(project, undecided)
    counts: Counter[str] = Counter(finding.grade or "no_rule" for finding in findings)
    places = Counter(hazard.id for hazard in hazards)
    evidence = {
        "development": _development(findings, counts, undecided),
        "training": _training(places),
        "deployment": _deployment(places),
        "staffing": _staffing(findings, counts),
        "cost": _cost(bill, rate),
    }
    verdict = _verdict(project, findings, counts, places, bill)
    if verdict == "migrate" and undecided > UNDECIDED_SHARE * len(findings):
        verdict = "pilot"
    return Advice(verdict, evidence)


def _nothing_found(project: Project, undecided: int) -> Advice:
    nothing = f"No use of TensorFlow or Keras was found in {_counted(project.inventory.files, 'Python file')}."
    if undecided:
        nothing += f" But {_counted(undecided, 'use')} may be TensorFlow and cannot be decided by reading."
    dimensions = ("development", "training", "deployment", "staffing", "cost")
    return Advice("pilot" if undecided else "stay", dict.fromkeys(dimensions, nothing))


def _verdict(
    project: Project, findings: tuple[Finding, ...], counts: Counter[str], places: Counter[str], bill: Effort
) -> Verdict:
    total = len(findings)
    if counts["blocked"] / total > BLOCKED_SHARE:
        return "stay"
    by_hand = (counts["manual"] + counts["blocked"] + counts["no_rule"]) / total
    hard = by_hand > HAND_SHARE or bill.likely > MANY_HOURS or any(places[name] for name in DECIDING)
    if hard and _pure_keras_3(project, findings):
        return "keras-torch"
    return "pilot" if hard else "migrate"


def _pure_keras_3(project: Project, findings: tuple[Finding, ...]) -> bool:
    environment = project.inventory.environment
    known = environment.keras == 3 and not environment.keras_reason.startswith("unknown")
    raw = sum(not finding.call.api.startswith("tf.keras.") for finding in findings)
    return known and raw / len(findings) <= RAW_SHARE


def _development(findings: tuple[Finding, ...], counts: Counter[str], undecided: int) -> str:
    total = len(findings)
    moved = counts["exact"] + counts["review"]
    names = len({finding.call.api for finding in findings})
    share = f"{moved / total:.0%}, {names} different names in all"
    text = f"{moved} of {_counted(total, 'use')} of TensorFlow have a rule that rewrites them ({share})"
    rest = ", ".join(
        f"{words} {counts[grade]}"
        for grade, words in (
            ("manual", "by hand"),
            ("blocked", "without a counterpart"),
            ("no_rule", "not in the catalogue yet"),
        )
        if counts[grade]
    )
    text = f"{text}; {rest}." if rest else f"{text}."
    return f"{text} Reading cannot decide {undecided} more." if undecided else text


def _training(places: Counter[str]) -> str:
    found = [f"{words} ({_counted(places[name], 'place')})" for name, words in TRAINING.items() if places[name]]
    if not found:
        return (
            "Nothing was seen that keeps the PyTorch version from being compiled, or that makes the data pipeline "
            "the bottleneck; measure before expecting a gain."
        )
    return f"May slow the PyTorch version or keep it from compiling: {', '.join(found)}. Measure one model first."


def _deployment(places: Counter[str]) -> str:
    found = [f"{words} ({_counted(places[name], 'place')})" for name, words in DEPLOYMENT.items() if places[name]]
    if not found:
        return (
            "No export for serving or devices was found in the code; ask how models reach production before deciding."
        )
    return f"Models leave as {' and '.join(found)}: the receiving side has to change too (ONNX and Triton, ExecuTorch)."


def _staffing(findings: tuple[Finding, ...], counts: Counter[str]) -> str:
    hand = [f for f in findings if f.grade in ("manual", "blocked", None)]
    if not hand:
        return "A reviewer who reads PyTorch is enough: nothing has to be written by hand from scratch."
    files = Counter(finding.call.file for finding in hand)
    most, count = files.most_common(1)[0]
    where = f"{_counted(len(hand), 'use')} in {_counted(len(files), 'file')}"
    return f"Somebody who knows both frameworks is needed for {where}, {count} of them in {most}."


def _cost(bill: Effort, rate: float | None) -> str:
    text = f"About {bill.likely:.0f} hours, most likely between {bill.low:.0f} and {bill.high:.0f}"
    if rate is not None:
        text += f"; at {rate:g} an hour {bill.likely * rate:,.0f} ({bill.low * rate:,.0f} to {bill.high * rate:,.0f})"
    return text + "."


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
