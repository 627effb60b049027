"""How `forward` walks each loop: over the lists of modules that it filled, or again with its own header."""

from __future__ import annotations

from collections.abc import Sequence

from migrator.rewrite.models.ir import Branch, Layer, Line, Loop, Make, Region, Settle, walk


def listed_layers(regions: Sequence[Region]) -> list[Layer]:
    """Layers that loops fill lists with, in order of construction."""
    return [layer for layer in made_layers(regions) if layer.listed]


def made_layers(regions: Sequence[Region]) -> list[Layer]:
    """Every kept layer in order of construction."""
    return [
        event.layer
        for region in walk(regions)
        if isinstance(region, Line)
        for event in region.events
        if isinstance(event, Make)
    ]


def choose_forms(regions: Sequence[Region]) -> list[Loop]:
    """Decides how `forward` walks each loop. Returns those that must be replayed with their own header."""
    replayed: list[Loop] = []
    for region in regions:
        if isinstance(region, Loop):
            if _zips(region):
                for loop in [region, *below(region)]:
                    loop.form = "zip"
            else:
                replayed += [region, *below(region)]
        elif isinstance(region, Branch):
            replayed += choose_forms(region.then) + choose_forms(region.otherwise)
    return replayed


def _zips(loop: Loop) -> bool:
    if loop.forward_names or not listed_layers([loop]):
        return False
    works = [region for region in loop.body if not (isinstance(region, Line) and region.work is None)]
    inner = [region for region in works if isinstance(region, Loop)]
    if inner:
        others = [region for region in works if not isinstance(region, Loop)]
        quiet = all(isinstance(region, Settle) for region in others)
        makes = len(listed_layers(loop.body)) == len(listed_layers(inner))
        return len(inner) == 1 and quiet and makes and _zips(inner[0])
    return all(
        isinstance(region, (Line, Settle)) or (isinstance(region, Branch) and region.identity is not None)
        for region in works
    ) and all(layer.uses <= 1 for layer in listed_layers([loop]))


def below(loop: Loop) -> list[Loop]:
    """The loops inside a loop."""
    return [region for region in walk(loop.body) if isinstance(region, Loop)]


def innermost(loop: Loop) -> list[Region]:
    """The body of a loop, of the inner one where a nest collapses."""
    inner = [region for region in loop.body if isinstance(region, Loop)]
    return innermost(inner[0]) if inner else loop.body
