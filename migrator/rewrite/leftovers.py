"""What stays TensorFlow in a file: every remaining use has a reason, every reason a marker above its statement."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import libcst as cst

from migrator.catalogue import Catalogue
from migrator.facts import Call, Left, Resolution
from migrator.rewrite.aliases import alias_lines
from migrator.rewrite.annotations import annotation_apis
from migrator.rewrite.models.binding import Function, own_nodes
from migrator.rewrite.positions import Lines

_SHORT = 400  # characters of a reason in a comment
_FOLLOWS = "the model stays TensorFlow"  # what training code says where its model was refused


class Leftovers:
    """The uses of one file that no edit has taken away."""

    def __init__(self, resolution: Resolution, catalogue: Catalogue, keras: int, alive: set[int], lines: Lines) -> None:
        self.resolution, self.catalogue, self.keras = resolution, catalogue, keras
        self.remaining: list[Call] = [call for call in resolution.calls if id(call.node) in alive]
        self.alive = alive
        self.lines = lines

    @property
    def any(self) -> bool:
        """Whether anything of TensorFlow is left."""
        return bool(self.remaining)

    def left(self, told: Sequence[Left], operations: Sequence[Left], refused: Collection[Function]) -> list[Left]:
        """The reasons that structures and rules gave, and one for every remaining use that none of them speaks of.

        Within a function whose models were refused, the reason for that speaks for all that is in it.
        """
        spans = self._spans()
        silent = [self._span(function, spans) for function in refused]
        found = [item for item in told if not (item.reason.startswith(_FOLLOWS) and _within(item.line, silent))]
        found += [replace(item, rule=item.rule or "no_rule") for item in operations if not _within(item.line, silent)]
        found = list(dict.fromkeys(found))
        spoken = {item.line for item in found}
        covered = [span for span in spans if any(span[0] <= item.line <= span[1] for item in found)]
        quiet = {id(value) for _, _, value in alias_lines(self.resolution)}
        annotated = {id(node) for node in annotation_apis(self.resolution)}
        for call in self.remaining:
            if call.line in spoken or id(call.node) in quiet or _within(call.line, [*covered, *silent]):
                continue
            spoken.add(call.line)
            found.append(self._reason(call, id(call.node) in annotated))
        fullest: dict[tuple[int, str], Left] = {}
        for item in found:  # two parts may speak of one call: the longer reason holds the shorter one
            known = fullest.setdefault((item.line, item.rule), item)
            if len(item.reason) > len(known.reason):
                fullest[(item.line, item.rule)] = item
        return sorted(fullest.values(), key=lambda item: (item.line, item.rule))

    def _spans(self) -> list[tuple[int, int]]:
        """First and last line of every top-level function and class."""
        return [span for span, item in self._statements() if isinstance(item, (cst.FunctionDef, cst.ClassDef))]

    def _statements(self) -> list[tuple[tuple[int, int], cst.CSTNode]]:
        body = self.resolution.source.module.body
        total = self.resolution.source.text.count("\n") + 1
        starts = [self.lines.line(item) for item in body]
        ends = [*(start - 1 for start in starts[1:]), total][: len(body)]  # an empty file has no last statement
        return [((start, max(start, end)), item) for start, end, item in zip(starts, ends, body, strict=True)]

    def _span(self, function: Function, spans: Sequence[tuple[int, int]]) -> _Span:
        """The lines of a refused function; those outside all functions and classes where it is a script."""
        if isinstance(function.node, cst.Module):
            return _Span(spans, outside=True)
        line = self.lines.line(function.node)
        return _Span([span for span in spans if span[0] == line])

    def _reason(self, call: Call, annotated: bool) -> Left:
        rule = self.catalogue.find(call.api, self.keras)
        name = rule.id if rule is not None else "no_rule"
        if annotated:
            return Left(call.file, call.line, name, f"{call.api} annotates code that was not rewritten")
        if rule is None:
            return Left(call.file, call.line, name, f"there is no rule for {call.api} yet")
        if rule.guide is not None:
            return Left(call.file, call.line, name, rule.guide)
        return Left(call.file, call.line, name, f"{call.api} is used in a way that is not rewritten yet")

    # ------------------------------------------------------------ markers

    def markers(self, left: Sequence[Left]) -> dict[cst.CSTNode, list[str]]:
        """`# migrate: <grade> <rule>: <reason>` by statement that a reason speaks of, where it is still there."""
        by_line: dict[int, cst.CSTNode] = {}
        for node in own_nodes(self.resolution.source.module) if left else ():
            if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)) and id(node) in self.alive:
                by_line.setdefault(self.lines.line(node), node)
        found: dict[cst.CSTNode, list[str]] = {}
        for item in left:
            place = by_line.get(item.line) or by_line.get(self._statement_line(item.line, by_line))
            if place is not None:
                found.setdefault(place, []).append(self._text(item))
        return found

    def _statement_line(self, line: int, by_line: dict[int, cst.CSTNode]) -> int:
        """The statement that a line in the middle of it belongs to; of a function that is new, the first one left."""
        for (first, last), _ in self._statements():
            if first <= line <= last:
                inside = sorted(start for start in by_line if first <= start <= last)
                before = [start for start in inside if start <= line]
                return before[-1] if before else inside[0] if inside else 0
        return 0

    def _text(self, item: Left) -> str:
        rule = next((rule for rule in self.catalogue.rules if rule.id == item.rule), None)
        grade = rule.grade if rule is not None and rule.guide is not None else "manual"
        reason = " ".join(item.reason.split())
        if len(reason) > _SHORT:
            reason = reason[: _SHORT - 1].rsplit(" ", 1)[0] + " …"
        return f"# migrate: {grade} {item.rule}: {reason}"


class _Span:
    """Lines: those of some spans, or those outside all of them."""

    def __init__(self, spans: Sequence[tuple[int, int]], outside: bool = False) -> None:
        self.spans, self.outside = spans, outside

    def __contains__(self, line: int) -> bool:
        return any(first <= line <= last for first, last in self.spans) is not self.outside


def _within(line: int, spans: Sequence[_Span | tuple[int, int]]) -> bool:
    return any(line in span if isinstance(span, _Span) else span[0] <= line <= span[1] for span in spans)
