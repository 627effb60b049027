"""Which statements of `__init__` anybody reads: sizes that nobody asks for are never printed."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import libcst as cst

from migrator.rewrite.models.ir import Branch, Config, Event, Layer, Line, Loop, Make, Region, Store, Track
from migrator.rewrite.models.names_used import reads, target_names

MakeReads = Callable[[Layer], set[str]]


class Liveness:
    """Walks `__init__` backwards. `alive` holds the events that are printed; `live` what must be there at the start."""

    def __init__(self, make_reads: MakeReads) -> None:
        self.make_reads = make_reads
        self.alive: set[int] = set()

    def start(self, regions: Sequence[Region], live: set[str] | None = None) -> set[str]:
        """The names that the regions need from outside, given those needed after them."""
        live = set(live or ())
        for region in reversed(regions):
            live = self._region(region, live)
        return live

    def is_alive(self, event: Event) -> bool:
        """Whether the event is printed."""
        return id(event) in self.alive

    def any_alive(self, regions: Sequence[Region]) -> bool:
        """Whether anything of the regions is printed in `__init__`."""
        for region in regions:
            if isinstance(region, Line) and (region.returned or any(self.is_alive(event) for event in region.events)):
                return True
            if isinstance(region, Branch) and (
                region.identity is not None
                or region.attribute is not None
                or self.any_alive(region.then)
                or self.any_alive(region.otherwise)
            ):
                return True
            if isinstance(region, Loop) and self.any_alive(region.body):
                return True
        return False

    def _region(self, region: Region, live: set[str]) -> set[str]:
        if isinstance(region, Line):
            if region.returned:
                live = set()
            for event in reversed(region.events):
                live = self._event(event, live)
            return set(live)
        if isinstance(region, Branch):
            then = self.start(region.then, live)
            otherwise = self.start(region.otherwise, live)
            joined = then | otherwise
            if self.any_alive([region]):
                joined |= reads(region.construct_test)
            return joined
        if isinstance(region, Loop):
            return self._loop(region, live)
        return live

    def _loop(self, loop: Loop, live: set[str]) -> set[str]:
        bound = target_names(loop.construct_target)
        current = set(live)
        while True:
            entry = live | (self.start(loop.body, current) - bound)
            if entry <= current:
                break
            current |= entry
        if self.any_alive(loop.body):
            current |= reads(loop.construct_iterable)
        return current

    def _event(self, event: Event, live: set[str]) -> set[str]:
        if isinstance(event, Make):
            self.alive.add(id(event))
            return live | self.make_reads(event.layer)
        if isinstance(event, Store):
            self.alive.add(id(event))
            return live | reads(event.value)
        if isinstance(event, Config):
            if event.pure and not event.binds & live:
                return live
            self.alive.add(id(event))
            kept = live - event.binds if isinstance(event.statement, cst.SimpleStatementLine) else live
            return kept | reads(event.statement)
        return self._track(event, live)

    def _track(self, event: Track, live: set[str]) -> set[str]:
        if isinstance(event.value, cst.Name) and event.value.value == event.name and not event.append:
            return live
        if event.name not in live and not (event.effect is not None and event.effect in live):
            return live
        self.alive.add(id(event))
        kept = live if event.append else live - {event.name}
        return kept | reads(event.value)
