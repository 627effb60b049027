"""Structures: the things a person would count. Models, layer classes, training loops, input pipelines …

They are read off the resolved uses: what a class derives from, what a function builds or calls. The size of a
structure is the number of TensorFlow uses inside the definition that holds it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

from migrator.facts import Call, Project, Structure

BASES = (  # what a class derives from -> what it is
    (re.compile(r"tf\.keras\.(Model|Sequential|models\.\w+|Functional)$"), "model_class"),
    (
        re.compile(r"tf(\.compat\.v1)?\.(keras\.)?(\w+\.)*layers\.(\w+\.)*\w+$|tf\.Module$|tf\.keras\.Layer$"),
        "layer_class",
    ),
    (re.compile(r"tf\.keras\.callbacks\.\w+$"), "callback_class"),
    (re.compile(r"tf\.keras\.(metrics|losses)\.\w+$|tf\.keras\.(Metric|Loss)$"), "metric_class"),
    (re.compile(r"tf\.keras\.optimizers\.(\w+\.)*\w+$"), "optimizer_class"),
)
USES = (  # what is called -> one structure for each call
    (re.compile(r"tf\.keras\.(Model|Sequential|models\.(Model|Sequential)|applications\.(\w+\.)*[A-Z]\w+)$"), "model"),
    (re.compile(r"tf\.keras\.Model\.(fit|fit_generator|train_on_batch)$"), "fit"),
)
GROUPED = (  # what is used -> one structure for each definition that uses it
    (re.compile(r"tf\.GradientTape$"), "tape_loop"),
    (re.compile(r"tf\.data\.|tf\.keras\.(utils|preprocessing)\.\w+_dataset_from_directory$"), "input_pipeline"),
    (re.compile(r"tf\.keras\.preprocessing\.image\.ImageDataGenerator(\.|$)"), "input_pipeline"),
    (re.compile(r"tf\.distribute\.|tf\.tpu\."), "distribution"),
    (re.compile(r"tf(\.compat\.v1)?\.Session(\.|$)|tf\.compat\.v1\.InteractiveSession"), "session"),
    (re.compile(r"tf\.saved_model\.|tf\.lite\.|tf\.keras\.Model\.export$|tf\.keras\.models\.save_model$"), "export"),
    (
        re.compile(
            r"tf\.train\.Checkpoint|tf\.keras\.Model\.(load_weights|save_weights|save)$|tf\.keras\.models\.load_model$"
        ),
        "checkpoint",
    ),
)
OVERRIDDEN = ("train_step", "test_step")


def structures(project: Project) -> tuple[Structure, ...]:
    """All structures, in the order of files and lines."""
    found = [one for path in sorted(project.resolutions) for one in _of_file(project.resolutions[path].calls)]
    return tuple(found)


def _of_file(calls: tuple[Call, ...]) -> list[Structure]:
    inside = Counter(call.within for call in calls)
    found: dict[tuple[str, str, int], Structure] = {}
    for call in calls:
        for kind, name, line, grouped in _kinds(call):
            key = (kind, name, 0 if grouped else line)
            size = sum(count for within, count in inside.items() if within == name or within.startswith(name + "."))
            found.setdefault(key, Structure(kind, call.file, line, name or "(module)", size if name else inside[""]))
    return sorted(found.values(), key=lambda one: (one.line, one.kind))


def _kinds(call: Call) -> Iterator[tuple[str, str, int, bool]]:
    """Kind, name of the definition, line, and whether the definition counts once however often it is used."""
    if call.role == "base":
        kind = next((kind for pattern, kind in BASES if pattern.match(call.api)), None)
        if kind is not None:
            yield kind, call.within, call.line, True
        return
    outer = call.within.rpartition(".")[2]
    if outer in OVERRIDDEN:
        yield "train_step", call.within, call.line, True
    if call.use != "reference":
        for pattern, kind in USES:
            if pattern.match(call.api):
                yield kind, call.within, call.line, False
    for pattern, kind in GROUPED:
        if pattern.match(call.api) and not (kind == "tape_loop" and outer in OVERRIDDEN):
            yield kind, call.within, call.line, True
