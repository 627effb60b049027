"""What stays TensorFlow in a file: every remaining use has a reason, every reason a marker above its statement."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from migrator.catalogue import Catalogue
from migrator.facts import Call, Left, Resolution
from migrator.rewrite.models.binding import own_nodes
from migrator.rewrite.positions import Lines

_SHORT = 160


class Leftovers:
    """The uses of one file that no edit has taken away."""

    def __init__(self, resolution: Resolution, catalogue: Catalogue, keras: int, alive: set[int]) -> None:
        self.resolution, self.catalogue, self.keras = resolution, catalogue, keras
        self.remaining: list[Call] = [call for call in resolution.calls if id(call.node) in alive]
        self.alive = alive
        self.lines = Lines(resolution)

    @property
    def any(self) -> bool:
        """Whether anything of TensorFlow is left."""
        return bool(self.remaining)

    def left(self, *reasons: Sequence[Left]) -> list[Left]:
        """The reasons given by structures and rules, and one for every remaining use that none of them speaks of.

        Within a function whose models were refused, one reason speaks for all of its layers.
        """
        found = list(dict.fromkeys(item for group in reasons for item in group))
        spoken = {item.line for item in found}
        spans = self._spans()
        covered = [span for span in spans if any(span[0] <= item.line <= span[1] for item in found)]
        for call in self.remaining:
            if call.line in spoken or any(first <= call.line <= last for first, last in covered):
                continue
            spoken.add(call.line)
            found.append(self._reason(call))
        return sorted(found, key=lambda item: (item.line, item.rule))

    def _spans(self) -> list[tuple[int, int]]:
        """First and last line of every top-level function and class."""
        found = []
        body = self.resolution.source.module.body
        total = self.resolution.source.text.count("\n") + 1
        starts = [self.lines.line(item) for item in body]
        for index, item in enumerate(body):
            if isinstance(item, (cst.FunctionDef, cst.ClassDef)):
                last = starts[index + 1] - 1 if index + 1 < len(starts) else total
                found.append((starts[index], last))
        return found

    def _reason(self, call: Call) -> Left:
        rule = self.catalogue.find(call.api, self.keras)
        if rule is None:
            return Left(call.file, call.line, "no_rule", f"there is no rule for {call.api} yet")
        if rule.guide is not None:
            return Left(call.file, call.line, rule.id, rule.guide)
        return Left(call.file, call.line, rule.id, f"{call.api} is used in a way that is not rewritten yet")

    def markers(self, left: Sequence[Left]) -> dict[cst.CSTNode, list[str]]:
        """`# migrate: <grade> <rule>: <reason>` by statement that a reason speaks of, where it is still there."""
        by_line: dict[int, cst.CSTNode] = {}
        for node in own_nodes(self.resolution.source.module):
            if isinstance(node, (cst.SimpleStatementLine, cst.BaseCompoundStatement)) and id(node) in self.alive:
                self._note(by_line, node)
        found: dict[cst.CSTNode, list[str]] = {}
        for item in left:
            place = by_line.get(item.line) or by_line.get(self._statement_line(item.line, by_line))
            if place is not None:
                found.setdefault(place, []).append(self._text(item))
        return found

    def _note(self, by_line: dict[int, cst.CSTNode], node: cst.CSTNode) -> None:
        line = self.lines.line(node)
        by_line.setdefault(line, node)

    def _statement_line(self, line: int, by_line: dict[int, cst.CSTNode]) -> int:
        """The statement that a line in the middle of it belongs to."""
        before = [start for start in by_line if start <= line]
        return max(before) if before else 0

    def _text(self, item: Left) -> str:
        rule = next((rule for rule in self.catalogue.rules if rule.id == item.rule), None)
        grade = rule.grade if rule is not None and rule.guide is not None else "manual"
        reason = " ".join(item.reason.split())
        if len(reason) > _SHORT:
            reason = reason[: _SHORT - 1].rsplit(" ", 1)[0] + " …"
        return f"# migrate: {grade} {item.rule}: {reason}"
