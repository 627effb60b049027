"""Where nodes stand in their file, for the few nodes that anybody asks about.

libcst's own provider computes a range for every node, which takes longer than parsing. This one prints the module as
the provider does and notes the place only when a wanted node begins.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager

import libcst as cst
from libcst._nodes.internal import CodegenState


class _Printer(CodegenState):
    """Counts lines and columns while the tree prints itself."""

    def __init__(self, module: cst.Module, wanted: Collection[cst.CSTNode]) -> None:
        super().__init__(default_indent=module.default_indent, default_newline=module.default_newline)
        self.wanted = wanted
        self.line, self.column = 1, 0
        self.found: dict[cst.CSTNode, tuple[int, int]] = {}

    def add_token(self, value: str) -> None:
        breaks = value.count("\n")
        if breaks:
            self.line += breaks
            self.column = len(value) - value.rindex("\n") - 1
        else:
            self.column += len(value)

    def add_indent_tokens(self) -> None:
        self.column += sum(map(len, self.indent_tokens))

    @contextmanager
    def record_syntactic_position(
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> Iterator[None]:
        if node in self.wanted:
            self.found[node] = (self.line, self.column)
        yield


def positions(module: cst.Module, nodes: Collection[cst.CSTNode]) -> dict[cst.CSTNode, tuple[int, int]]:
    """Line (from 1) and column (from 0) of the first character of each node."""
    if not nodes:
        return {}
    printer = _Printer(module, frozenset(nodes))
    module._codegen(printer)
    return printer.found
