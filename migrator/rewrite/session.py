"""What a structure proposes, and how all proposals of one file become its new text.

A structure only detects and proposes; nothing is edited until every proposal is known. New nodes may hold nodes of the
original file: edits that concern those are applied inside the new code afterwards, so a training loop that stands in a
model factory is rewritten wherever the factory's new text puts it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from migrator.catalogue import Catalogue
from migrator.facts import Definition, Left, Profile, Project, Resolution, Site, Source


@dataclass(frozen=True)
class ModelFacts:
    """What training code must know about a rewritten model.

    `outputs` names the last activation of each output ("softmax", None for linear or unknown); `inputs` are the
    parameters of `forward`; `ranks` the ranks of the outputs, batch axis included, None where unknown.
    """

    class_name: str
    inputs: tuple[str, ...] = ("inputs",)
    outputs: tuple[str | None, ...] = (None,)
    ranks: tuple[int | None, ...] = (None,)
    has_penalty: bool = False
    differences: tuple[str, ...] = ()


@dataclass(frozen=True)
class Proposal:
    """Edits of one file: each node with the nodes that take its place (none: it disappears).

    `imports` are whole import statements, `support` public names of support pieces that the new code uses.
    """

    edits: Mapping[cst.CSTNode, Sequence[cst.CSTNode]] = field(default_factory=dict)
    imports: frozenset[str] = frozenset()
    support: frozenset[str] = frozenset()
    sites: tuple[Site, ...] = ()
    left: tuple[Left, ...] = ()


@dataclass(frozen=True)
class FileContext:
    """One file in front of a structure.

    `models` says which models are PyTorch after this run: by the `Definition` of a factory (or of a module-level
    variable), and by the node of the statement that binds a local model variable.
    """

    source: Source
    resolution: Resolution
    project: Project
    catalogue: Catalogue
    profile: Profile
    keras: int
    models: Mapping[Definition | cst.CSTNode, ModelFacts]

    @property
    def path(self) -> str:
        """The file, relative to the root."""
        return self.source.path


def apply(module: cst.Module, edits: Mapping[cst.CSTNode, Sequence[cst.CSTNode]]) -> cst.Module:
    """Returns `module` with every edit made, also inside the replacements."""
    changed = module.visit(_Editor(edits))
    assert isinstance(changed, cst.Module)
    return changed


class _Editor(cst.CSTTransformer):
    """Replaces nodes by identity, on the way down, so that replacements can hold further nodes to replace."""

    def __init__(self, edits: Mapping[cst.CSTNode, Sequence[cst.CSTNode]]) -> None:
        super().__init__()
        self.edits = dict(edits)

    def on_visit(self, node: cst.CSTNode) -> bool:
        return node not in self.edits

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> object:  # type: ignore[override]
        if original_node not in self.edits:
            return super().on_leave(original_node, updated_node)  # type: ignore[misc]
        new = self.edits[original_node]
        inner = _Editor({node: with_ for node, with_ in self.edits.items() if node is not original_node})
        visited: list[cst.CSTNode] = []
        for node in new:
            if node is original_node:
                visited.append(node)
                continue
            result = node.visit(inner)
            if isinstance(result, cst.FlattenSentinel):
                visited.extend(result)
            elif isinstance(result, cst.CSTNode):
                visited.append(result)
        if not visited:
            return cst.RemoveFromParent()
        return visited[0] if len(visited) == 1 else cst.FlattenSentinel(visited)
