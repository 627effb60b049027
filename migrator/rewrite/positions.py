"""Line numbers of nodes, computed for one file at most once and only when something has to be reported."""

from __future__ import annotations

import libcst as cst
from libcst.metadata import MetadataWrapper, PositionProvider

from migrator.facts import Resolution


class Lines:
    """Where the nodes of one file stand."""

    def __init__(self, resolution: Resolution) -> None:
        self.module = resolution.source.module
        self._found: dict[cst.CSTNode, int] | None = None

    def line(self, node: cst.CSTNode) -> int:
        """The 1-based line of a node's first token; 0 where the node is not of this file."""
        if self._found is None:
            wrapper = MetadataWrapper(self.module, unsafe_skip_copy=True)
            places = wrapper.resolve(PositionProvider)
            self._found = {key: place.start.line for key, place in places.items()}
        while node not in self._found and node.children:
            node = node.children[0]
        return self._found.get(node, 0)
