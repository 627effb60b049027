"""Hazards: places where a port goes wrong silently, slows down, or needs a decision.

Which uses are hazards stands in `rules/effort.toml`; `when` narrows them to calls whose arguments or surroundings
matter:

    same_and_strided   padding 'same' (in any case) with a stride that is not literally 1
    keyword:NAME       the keyword NAME is given
    in_step            inside a compiled function, a training step, a layer's `call`, or a function with a tape
    pretrained         `weights` is not given as None
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from fnmatch import translate

import libcst as cst

from migrator.assess import arguments
from migrator.assess.table import EffortTable, HazardRule
from migrator.facts import Call, Hazard, Project, Resolution

ONES = (1, (1,), (1, 1), (1, 1, 1), (1, 1, 1, 1))
STEPS = frozenset(("call", "train_step", "test_step", "predict_step", "compute_loss", "update_state"))
COMPILED = ("tf.function", "tf.autograph.experimental.convert")


def hazards(project: Project, table: EffortTable) -> tuple[Hazard, ...]:
    """All hazards with their places, in the order of files and lines."""
    matchers = {rule.id: _pattern(rule) for rule in table.hazards.values() if rule.apis}
    found: list[Hazard] = []
    for path in sorted(project.resolutions):
        found.extend(_of_file(project.resolutions[path], table, matchers))
    if any(resolution.calls for resolution in project.resolutions.values()):
        found.extend(_of_project(project, table))
    return tuple(sorted(set(found), key=lambda one: (one.file, one.line, one.id)))


def _of_file(resolution: Resolution, table: EffortTable, matchers: Mapping[str, re.Pattern[str]]) -> Iterator[Hazard]:
    steps = _steps(resolution)
    for call in resolution.calls:
        for name, pattern in matchers.items():
            rule = table.hazards[name]
            if pattern.match(call.api) and _holds(rule.when, call, steps):
                yield Hazard(rule.id, call.file, call.line, rule.why, rule.do)
    for rule in table.hazards.values():
        if rule.tests:
            yield from (Hazard(rule.id, test.file, test.line, rule.why, rule.do) for test in resolution.tests)


def _of_project(project: Project, table: EffortTable) -> Iterator[Hazard]:
    for rule in table.hazards.values():
        if rule.project == "unlocked" and not _locked(project.inventory.environment.requirements):
            yield Hazard(rule.id, ".", 0, rule.why, rule.do)


def _locked(requirements: Mapping[str, str]) -> bool:
    """Whether any package that brings TensorFlow is pinned to one release."""
    framework = re.compile(r"tensorflow(-cpu|-gpu|-macos|-intel)?$|keras$|tf-keras$")
    return any(framework.match(name) and version.startswith("==") for name, version in requirements.items())


def _pattern(rule: HazardRule) -> re.Pattern[str]:
    return re.compile("|".join(translate(pattern) for pattern in rule.apis))


def _steps(resolution: Resolution) -> frozenset[str]:
    """Definitions whose code runs in every step."""
    compiled = {call.within for call in resolution.calls if call.role == "decorator" and call.api in COMPILED}
    taped = {call.within for call in resolution.calls if call.api == "tf.GradientTape"}
    return frozenset(compiled | taped) - {""}  # at the top of a script the whole file would count


def _holds(when: str, call: Call, steps: frozenset[str]) -> bool:
    if not when:
        return True
    word, _, value = when.partition(":")
    if word == "in_step":
        parts = call.within.split(".")
        return bool(STEPS & set(parts)) or any(".".join(parts[:end]) in steps for end in range(1, len(parts) + 1))
    if call.use != "call":
        return False
    return _CONDITIONS[word](call, value)


def _has_keyword(call: Call, name: str) -> bool:
    return name in arguments.keywords(call)


def _same_and_strided(call: Call, _: str) -> bool:
    found = arguments.keywords(call)
    padding = arguments.literal(found.get("padding"))
    if not isinstance(padding, str) or padding.lower() != "same":
        return False
    pooled = "Pool" in call.api or "pool" in call.api
    stride = found.get("strides")
    if stride is None:
        stride = _third(call) if "Conv" in call.api else None
    value = arguments.literal(stride)
    return pooled if value is None else value not in (1, (1,), (1, 1), (1, 1, 1), (1, 1, 1, 1))


def _third(call: Call) -> cst.BaseExpression | None:
    """The strides of a convolution that gives them by position: filters, size, strides."""
    positional = [argument.value for argument in call.site.args if argument.keyword is None] if call.site else []
    return positional[2] if len(positional) > 2 else None


def _pretrained(call: Call, _: str) -> bool:
    last = call.api.rpartition(".")[2]
    if not last[:1].isupper():
        return False
    found = arguments.keywords(call)
    return "weights" not in found or arguments.literal(found["weights"]) is not None


_CONDITIONS: dict[str, Callable[[Call, str], bool]] = {
    "keyword": _has_keyword,
    "same_and_strided": _same_and_strided,
    "pretrained": _pretrained,
}
