"""Statements of `forward` that say nothing: aliases that nobody reads, and starts that the next line takes over."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from migrator.rewrite.models.ir import Apply, Gather, Invoke, Layout, Line, Read, Region, Tensor, Work, element
from migrator.rewrite.models.names_used import binds, reads


def without_dead_aliases(body: Sequence[cst.BaseStatement]) -> list[cst.BaseStatement]:
    """Leaves out `shortcut = x` where `shortcut` is assigned again before anybody reads it."""
    found: list[cst.BaseStatement] = []
    lines: Sequence[cst.EmptyLine] = ()
    for index, statement in enumerate(body):
        name = _alias_of(statement)
        if name is not None and _assigned_before_read(name, body[index + 1 :]):
            lines = [*lines, *statement.leading_lines]  # type: ignore[attr-defined]
            continue
        if lines:
            statement = statement.with_changes(leading_lines=[*lines, *statement.leading_lines])  # type: ignore[attr-defined]
            lines = ()
        found.append(statement)
    return found


def _alias_of(statement: cst.BaseStatement) -> str | None:
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    if isinstance(small, cst.Assign) and isinstance(small.value, cst.Name) and len(small.targets) == 1:
        target = small.targets[0].target
        return target.value if isinstance(target, cst.Name) else None
    return None


def _assigned_before_read(name: str, rest: Sequence[cst.BaseStatement]) -> bool:
    for statement in rest:
        if name in reads(statement):
            return False
        if name in binds(statement):
            return isinstance(statement, cst.SimpleStatementLine)
    return True


def merged_starts(regions: Sequence[Region]) -> list[Region]:
    """Leaves out `x = inputs` where the next statement is the only one that reads this `x`, and nothing moves."""
    found: list[Region] = []
    regions = list(regions)
    for index, region in enumerate(regions):
        following = regions[index + 1] if index + 1 < len(regions) else None
        if _is_start(region) and isinstance(following, Line) and _takes_over(region, following):  # type: ignore[arg-type]
            continue
        found.append(region)
    return found


def _is_start(region: Region) -> bool:
    if not isinstance(region, Line) or region.node is not None or not isinstance(region.work, Read):
        return False
    value = region.value
    return isinstance(value, Tensor) and layout_of(value) == layout_of(element(region.work.value))


def _takes_over(start: Line, following: Line) -> bool:
    name = start.targets[0]
    readers = _reads_of(following.work, name)
    if len(readers) != 1 or (following.targets != (name,) and not following.returned):
        return False
    assert isinstance(start.work, Read)
    readers[0].name = start.work.name
    return True


def _reads_of(work: Work | None, name: str) -> list[Read]:
    if isinstance(work, Read):
        return [work] if work.name == name else []
    if isinstance(work, (Apply, Invoke)):
        operands = [operand if not isinstance(operand, tuple) else operand[1] for operand in work.operands]
        return [read for operand in operands for read in _reads_of(operand, name)]
    if isinstance(work, Gather):
        return [read for item in work.items for read in _reads_of(item, name)]
    return []


def layout_of(tensor: Tensor) -> Layout:
    """The layout that was decided for a tensor."""
    return tensor.shared.layout if tensor.rank is not None and tensor.rank > 2 else "last"
