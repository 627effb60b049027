"""An Assessment as text: a picture of the project at a glance, drawn with rich."""

from __future__ import annotations

import io
from collections import Counter, defaultdict
from typing import TYPE_CHECKING

from migrator.facts import Assessment, Finding, Hazard
from migrator.report.assess_json import counts

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

WIDTH = 100
BAR = 40
FILES = 10
PLACES = 3
GRADE_WORDS = {
    "exact": "rewritten without a second look",
    "review": "rewritten, worth a look",
    "manual": "needs a person",
    "blocked": "has no counterpart",
    "no_rule": "not in the catalogue yet",
}
COLOURS = {"exact": "green", "review": "cyan", "manual": "yellow", "blocked": "red", "no_rule": "magenta"}
DIMENSIONS = {
    "development": "Development",
    "training": "Training",
    "deployment": "Deployment",
    "staffing": "Staffing",
    "cost": "Cost",
}


def render(assessment: Assessment, *, colour: bool = False, width: int = WIDTH) -> str:
    """The whole picture as text; plain by default, so that it can be written to a file."""
    from rich.console import Console

    console = Console(
        file=io.StringIO(), width=width, force_terminal=colour, highlight=False, emoji=False, no_color=not colour
    )
    for part in (_head, _grades, _files, _hours, _blockers, _hazards, _undecided, _advice):
        part(console, assessment)
    file = console.file
    assert isinstance(file, io.StringIO)
    return "\n".join(line.rstrip() for line in file.getvalue().splitlines()) + "\n"


def _print(console: Console, *parts: RenderableType) -> None:
    for part in parts:
        console.print(part, markup=False, soft_wrap=isinstance(part, str))  # names of files are never broken


def _title(console: Console, text: str) -> None:
    from rich.text import Text

    _print(console, "", Text(text, style="bold"))


def _head(console: Console, assessment: Assessment) -> None:
    total = len(assessment.findings)
    using = len({finding.call.file for finding in assessment.findings})
    environment = assessment.environment
    if not total:
        _print(console, f"No use of TensorFlow was found in {_counted(assessment.files, 'Python file')}.")
        return
    _print(
        console, f"{_counted(total, 'use')} of TensorFlow in {using} of {_counted(assessment.files, 'Python file')}."
    )
    _print(console, f"Keras {environment.keras}: {environment.keras_reason}.")


def _grades(console: Console, assessment: Assessment) -> None:
    from rich.text import Text

    found = counts(assessment)
    if not found["total"]:
        return
    _title(console, "What moves")
    for grade, words in GRADE_WORDS.items():
        count = found[grade]
        filled = max(round(BAR * count / found["total"]), 1 if count else 0)
        line = Text(f"  {words:<32}")
        line.append("█" * filled, style=COLOURS[grade])
        line.append("·" * (BAR - filled), style="dim")
        line.append(f" {count:>6} {count / found['total']:>5.0%}")
        _print(console, line)


def _files(console: Console, assessment: Assessment) -> None:
    """The most expensive files: everything on the bill that names them."""
    hours: dict[str, float] = defaultdict(float)
    for line in assessment.effort.lines:
        if line.file != ".":
            hours[line.file] += line.likely
    uses = Counter(finding.call.file for finding in assessment.findings)
    dearest = sorted(hours, key=lambda file: (-hours[file], file))[:FILES]
    if not dearest:
        return
    _title(console, "Most expensive files" if len(hours) > FILES else "Hours by file")
    longest = max(hours[file] for file in dearest)
    for file in dearest:
        bar = "█" * max(round(20 * hours[file] / longest), 1)
        _print(console, f"  {hours[file]:>6.1f} h  {bar:<20}  {_shown(file)} ({_counted(uses[file], 'use')})")


def _hours(console: Console, assessment: Assessment) -> None:
    effort = assessment.effort
    if not effort.lines:
        return
    _title(console, f"Hours: {effort.likely:.1f} (between {effort.low:.1f} and {effort.high:.1f})")
    categories: dict[str, float] = defaultdict(float)
    for line in effort.lines:
        categories[line.category] += line.likely
    for name, hours in sorted(categories.items(), key=lambda item: -item[1]):
        _print(console, f"  {hours:>6.1f} h  {name}")


def _blockers(console: Console, assessment: Assessment) -> None:
    """APIs without a counterpart, the most used first."""
    grouped: dict[str, list[Finding]] = defaultdict(list)
    for finding in assessment.findings:
        if finding.grade == "blocked":
            grouped[finding.call.api].append(finding)
    if not grouped:
        return
    _title(console, "Blockers")
    for api, found in sorted(grouped.items(), key=lambda item: (-len(item[1]), item[0]))[:FILES]:
        first = found[0].call
        _print(console, f"  {api} ({_counted(len(found), 'use')}, first in {_shown(first.file)}:{first.line})")
        _wrapped(console, found[0].message, "    ")


def _hazards(console: Console, assessment: Assessment) -> None:
    grouped: dict[str, list[Hazard]] = defaultdict(list)
    for hazard in assessment.hazards:
        grouped[hazard.id].append(hazard)
    if not grouped:
        return
    _title(console, "What will hurt")
    for name, places in sorted(grouped.items(), key=lambda item: (-len(item[1]), item[0])):
        shown = ", ".join(
            f"{_shown(place.file)}:{place.line}" if place.line else "the project" for place in places[:PLACES]
        )
        more = f" and {len(places) - PLACES} more" if len(places) > PLACES else ""
        _print(console, f"  {name} ({shown}{more})")
        _wrapped(console, places[0].why, "    ")
        _wrapped(console, f"→ {places[0].do}", "    ")


def _undecided(console: Console, assessment: Assessment) -> None:
    if assessment.unknown:
        _title(console, f"Cannot be decided by reading ({len(assessment.unknown)})")
        for item in assessment.unknown[:FILES]:
            _print(console, f"  {_shown(item.file)}:{item.line}  {item.text}: {item.reason}")
        if len(assessment.unknown) > FILES:
            _print(console, f"  and {len(assessment.unknown) - FILES} more; --format json lists all")
    if assessment.skipped:
        _title(console, f"Not read ({len(assessment.skipped)})")
        for skipped in assessment.skipped[:FILES]:
            _print(console, f"  {_shown(skipped.file)}: {skipped.reason}")
        if len(assessment.skipped) > FILES:
            _print(console, f"  and {len(assessment.skipped) - FILES} more; --format json lists all")


def _advice(console: Console, assessment: Assessment) -> None:
    _title(console, f"Advice: {assessment.advice.verdict}")
    if not assessment.findings:
        return
    for name, words in DIMENSIONS.items():
        _wrapped(console, f"{words}: {assessment.advice.evidence[name]}", "  ")


def _wrapped(console: Console, text: str, indent: str) -> None:
    from rich.padding import Padding
    from rich.text import Text

    _print(console, Padding(Text(text), (0, 0, 0, len(indent))))


def _shown(name: str) -> str:
    """A file's name on one line, whatever characters it holds."""
    return name if name.isprintable() else name.encode("unicode_escape").decode("ascii")


def _counted(count: int, word: str) -> str:
    return f"{count} {word}{'' if count == 1 else 's'}"
