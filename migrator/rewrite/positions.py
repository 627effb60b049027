"""Line numbers of nodes, computed for one file at most once and only when something has to be reported."""

from __future__ import annotations

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from migrator.facts import Resolution


class Lines:
    """Where the nodes of one file stand."""

    def __init__(self, resolution: Resolution) -> None:
        self.module = resolution.source.module
        self._found: dict[cst.CSTNode, CodeRange] | None = None

    def line(self, node: cst.CSTNode) -> int:
        """The 1-based line of a node's first token; 0 where the node is not of this file."""
        place = self._place(node)
        return place.start.line if place is not None else 0

    def covers(self, node: cst.CSTNode, line: int) -> bool:
        """Whether a line is one of the node's."""
        place = self._place(node)
        return place is not None and place.start.line <= line <= place.end.line

    def _place(self, node: cst.CSTNode) -> CodeRange | None:
        if self._found is None:
            wrapper = MetadataWrapper(self.module, unsafe_skip_copy=True)
            self._found = dict(wrapper.resolve(PositionProvider))
        while node not in self._found and node.children:
            node = node.children[0]
        return self._found.get(node)
