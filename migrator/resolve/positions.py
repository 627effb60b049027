"""Where nodes stand in their file, for the few nodes that anybody asks about."""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider


def positions(module: cst.Module, nodes: Collection[cst.CSTNode]) -> dict[cst.CSTNode, tuple[int, int]]:
    """Line (from 1) and column (from 0) of the first character of each node."""
    if not nodes:
        return {}
    ranges = MetadataWrapper(module, unsafe_skip_copy=True).resolve(PositionProvider)
    return {node: (ranges[node].start.line, ranges[node].start.column) for node in nodes}
