"""One self-contained page from the results in a folder: no script, no external resource, everything escaped."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from migrator.errors import MigrateError
from migrator.report import difftext, folder, views, words

TEMPLATES = Path(__file__).resolve().parent / "templates"
GRADES = ("exact", "review", "manual", "blocked", "no_rule")
SECTIONS = (
    ("assess", "Assessment"),
    ("rewrite", "Rewrite"),
    ("parity", "Parity"),
    ("training", "Training"),
    ("bench", "Speed and memory"),
    ("setting", "Versions and machine"),
)

Json = Mapping[str, Any]


def write(place: Path) -> Path:
    """Renders the results found in the folder `place` into its report.html.

    Raises MigrateError where there is no result, one that cannot be read, or the page cannot be written.
    """
    page = place / folder.PAGE
    folder.write_text(page, render(folder.read_results(place), place.resolve().name))
    return page


def render(results: Json, title: str) -> str:
    """The page. `results` maps `assess`, `rewrite`, `parity`, `training`, `bench`, `run` to what those files hold,
    and `diff` to text; what is missing is said to be missing. Raises MigrateError where a result lacks a key."""
    import jinja2

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {**words.FILTERS, "plain": plain, "when": when, "score": score, "side": side}
    try:
        return environment.get_template("page.html").render(context(results, title))
    except (jinja2.UndefinedError, KeyError) as error:
        said = str(error).strip("'")
        raise MigrateError(f"A result lacks a part that this page shows ({said}). Run its command again.") from None


def context(results: Json, title: str) -> dict[str, Any]:
    """Everything that the templates name."""
    from markupsafe import Markup

    found: dict[str, Any] = {name: results.get(name) for name, _ in SECTIONS} | {"run": results.get("run")}
    if found["training"]:
        pairs = [views.training(pair, number) for number, pair in enumerate(found["training"]["pairs"])]
        for pair in pairs:  # drawn by us, with every word in it escaped there
            pair["figures"] = [{**figure, "svg": Markup(figure["svg"])} for figure in pair["figures"]]
        found["training"] = {"reason": "", **found["training"], "pairs": pairs}
    if found["bench"]:
        found["bench"] = {**found["bench"], "pairs": [views.bench(pair) for pair in found["bench"]["pairs"]]}
    if found["parity"]:
        found["parity"] = {"reason": "", **found["parity"]}
    return {
        **found,
        "title": found["run"]["project"] if found["run"] else title,
        "css": Markup((TEMPLATES / "page.css").read_text(encoding="utf-8")),
        "sections": SECTIONS,
        "grades": GRADES,
        "apis": views.apis(found["assess"]) if found["assess"] else [],
        "diff": None if results.get("diff") is None else difftext.parse(results["diff"]),
        "cards": cards(found),
        "settings": settings(found),
    }


def cards(found: Json) -> list[dict[str, str]]:
    """The summary at the top: one figure for each section that has one."""
    made = []
    if assess := found["assess"]:
        hazards = words.counted(len(assess["hazards"]), "hazard")
        hours = f"{words.fixed(assess['effort']['likely'])} hours of work, {hazards}"
        made.append(_card("Assessment", assess["advice"]["verdict"], hours))
    if rewrite := found["rewrite"]:
        full = sum(file["status"] == "full" for file in rewrite["files"])
        left = f"{words.counted(len(rewrite['left']), 'construct')} left for a person"
        touched = full + sum(file["status"] == "partial" for file in rewrite["files"])
        made.append(_card("Rewrite", f"{full} of {words.counted(touched, 'file')} in full", left))
    if found["parity"]:
        made += [_parity_card(pair) for pair in found["parity"]["pairs"]]
    if found["training"]:
        made += [card for pair in found["training"]["pairs"] if (card := _training_card(pair))]
    if found["bench"]:
        made += [card for pair in found["bench"]["pairs"] if (card := _speed_card(pair))]
    return made


def _card(name: str, figure: str, note: str, tone: str = "") -> dict[str, str]:
    return {"name": name, "figure": figure, "note": note, "tone": tone}


def _parity_card(pair: Json) -> dict[str, str]:
    verdict = pair["verdict"]
    passed = sum(check["verdict"] == "pass" for check in pair["checks"])
    note = f"{pair['name']}: {passed} of {words.counted(len(pair['checks']), 'check')} passed"
    return _card("Parity", f"{words.sign(verdict)} {verdict}", note, verdict)


def _training_card(pair: Json) -> dict[str, str] | None:
    medians = {side["side"]: side["median"] for side in pair["sides"]}
    if medians.get("torch") is None:
        return None
    metric = pair["metric"]
    note = f"PyTorch test {metric}; TensorFlow {score(medians.get('tensorflow'), metric)}"
    return _card("Training", score(medians["torch"], metric), note)


def _speed_card(pair: Json) -> dict[str, str] | None:
    speed = pair["deltas"].get("speed") if pair["deltas"] else None
    if not speed:
        return None
    mode = max(speed, key=lambda name: speed[name]["median"])
    note = f"PyTorch {mode} against {pair['deltas']['against'].replace('tensorflow', 'TensorFlow')}"
    note += ", on a machine that was busy" if views.disturbed(pair["machine"]) else ""
    return _card("Speed", words.times(speed[mode]["median"]), note)


def settings(found: Json) -> list[tuple[str, dict[str, Any]]]:
    """Groups of facts about versions and machines: of the run, of what the code asks for, of each measured pair."""
    groups: list[tuple[str, dict[str, Any]]] = []
    if run := found["run"]:
        groups.append(("This run", {**run["versions"], "machine": run["machine"]}))
        groups.append(("Seconds by stage", run["seconds"]))
    if assess := found["assess"]:
        environment = assess["environment"]
        asked = {name: version or "not locked" for name, version in environment["requirements"].items()}
        groups.append(
            ("What the code asks for", {"Keras": f"{environment['keras']} ({environment['keras_reason']})", **asked})
        )
    for pair in found["bench"]["pairs"] if found["bench"] else ():
        if pair["machine"]:
            groups.append((f"Measuring {pair['name']}", dict(pair["machine"])))
    return groups


def plain(value: Any) -> str:
    """Any JSON value as one line of text."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {plain(item)}" for name, item in value.items())
    if isinstance(value, list | tuple):
        return ", ".join(plain(item) for item in value)
    if isinstance(value, float):
        return words.number(value)
    return words.NONE if value is None else str(value)


def when(stamp: str) -> str:
    """`1 December 2026, 04:05 UTC`; the text itself where it is no date."""
    try:
        moment = datetime.fromisoformat(stamp)
    except ValueError:
        return stamp
    return f"{moment.day} {moment:%B %Y, %H:%M} UTC"


def score(value: float | None, metric: str) -> str:
    """A test metric: an accuracy as a percentage, anything else as a number."""
    return words.percent(value, 2) if "accuracy" in metric else words.number(value)


def side(name: str) -> str:
    """`torch` -> `PyTorch`."""
    return views.SIDES.get(name, name)
