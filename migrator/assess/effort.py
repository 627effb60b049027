"""The bill: every line of work with its hours, and the range of the whole by drawing what is uncertain.

Within a kind of work all lines are drawn together: if reading one rewritten call takes longer than thought, so do all.
Kinds are drawn independently and the team's pace on top of all. The seed is fixed, so that the same project always
gets the same figures.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Iterable, Iterator

from migrator.assess.table import EffortTable, Minutes
from migrator.facts import Effort, EffortLine, Finding, Hazard, Structure

DRAWS = 2_000
SEED = 20240229
LOW, HIGH = 0.1, 0.9  # the range leaves out one draw in ten on each side
GRADE_WORDS = {
    "exact": "rewritten calls to read",
    "review": "rewritten calls to judge",
    "manual": "calls to move by hand",
    "blocked": "calls without a counterpart",
    "no_rule": "calls without a rule",
}


def effort(
    findings: Iterable[Finding], structures: Iterable[Structure], hazards: Iterable[Hazard], table: EffortTable
) -> Effort:
    """The bill of a project; empty where nothing of TensorFlow was found."""
    found = tuple(findings)
    if not found:
        return Effort(0.0, 0.0, 0.0, ())
    lines = (*_calls(found, table), *_structures(structures, table), *_hazards(hazards, table), *_fixed(found, table))
    likely = sum(line.likely for line in lines)
    low, high = _range(lines, table.pace)
    return Effort(min(low, likely), likely, max(high, likely), lines)


def _line(what: str, category: str, file: str, count: int, minutes: Minutes) -> EffortLine:
    return EffortLine(what, category, file, count, minutes.low / 60, minutes.expected / 60, minutes.high / 60)


def _calls(findings: tuple[Finding, ...], table: EffortTable) -> Iterator[EffortLine]:
    counted: dict[tuple[str, str, int], int] = defaultdict(int)
    seen: set[str] = set()
    for finding in findings:
        counted[finding.call.file, finding.grade or "no_rule", int(finding.call.api in seen)] += 1
        seen.add(finding.call.api)
    for (file, grade, again), count in sorted(counted.items()):
        words = GRADE_WORDS[grade] + (", known by then" if again else ", first of their name")
        yield _line(words, "calls", file, count, table.grades[grade][again].times(count))


def _structures(structures: Iterable[Structure], table: EffortTable) -> Iterator[EffortLine]:
    grouped: dict[tuple[str, str], list[Structure]] = defaultdict(list)
    for one in structures:
        grouped[one.file, one.kind].append(one)
    for (file, kind), group in sorted(grouped.items()):
        cost = table.structures[kind]
        inside = sum(one.size for one in group)
        yield _line(
            cost.words, "structures", file, len(group), cost.minutes.times(len(group)).plus(cost.per_call * inside)
        )


def _hazards(hazards: Iterable[Hazard], table: EffortTable) -> Iterator[EffortLine]:
    """A hazard is understood once in a project; the line names the first place."""
    grouped: dict[str, list[Hazard]] = defaultdict(list)
    for hazard in hazards:
        grouped[hazard.id].append(hazard)
    for name, group in sorted(grouped.items()):
        words = name.replace("-", " ")
        yield _line(words, "hazards", group[0].file, len(group), table.hazards[name].minutes)


def _fixed(findings: tuple[Finding, ...], table: EffortTable) -> Iterator[EffortLine]:
    for file in sorted({finding.call.file for finding in findings}):
        yield _line("imports, tests and review of the file", "files", file, 1, table.file)
    yield _line("environments, continuous integration, first full run", "project", ".", 1, table.project)


def _range(lines: tuple[EffortLine, ...], pace: tuple[float, float]) -> tuple[float, float]:
    kinds: dict[str, tuple[float, float, float]] = {}
    for line in lines:
        low, likely, high = kinds.get(line.what, (0.0, 0.0, 0.0))
        kinds[line.what] = (low + line.low, likely + line.likely, high + line.high)
    draw = random.Random(SEED)
    totals = sorted(
        _drawn(draw, pace[0], 1.0, pace[1]) * sum(_drawn(draw, *kind) for kind in kinds.values()) for _ in range(DRAWS)
    )
    return totals[int(DRAWS * LOW)], totals[int(DRAWS * HIGH) - 1]


def _drawn(draw: random.Random, low: float, mean: float, high: float) -> float:
    """One draw of a beta distribution between low and high whose mean is `mean` (PERT)."""
    if high <= low:
        return low
    share = (mean - low) / (high - low)
    return low + (high - low) * draw.betavariate(6 * share, 6 * (1 - share))
