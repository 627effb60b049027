"""What a structure proposes, and how all proposals of one file become its new text.

A structure only detects and proposes; nothing is edited until every proposal is known. New nodes may hold nodes of the
original file: edits that concern those are applied inside the new code afterwards, so a training loop that stands in a
model factory is rewritten wherever the factory's new text puts it.
"""

from __future__ import annotations

import re
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
    dtypes: tuple[str, ...] = ()  # of the inputs; empty: all float32
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


def apply(
    module: cst.Module,
    edits: Mapping[cst.CSTNode, Sequence[cst.CSTNode]],
    markers: Mapping[cst.CSTNode, Sequence[str]] | None = None,
) -> cst.Module:
    """Returns `module` with every edit made, also inside the replacements.

    `markers` are comment lines to be put above statements that stay.
    """
    markers = dict(markers or {})
    first = module.body[0] if module.body else None
    if first in markers:  # comments at the top of a file are the header's, not the first statement's
        there = [line.comment.value for line in module.header if line.comment is not None]
        markers[first] = [text for text in markers[first] if not any(_alike(text, old) for old in there)]
    changed = module.visit(_Editor(edits, markers))
    assert isinstance(changed, cst.Module)
    return changed


def surviving(module: cst.Module, edits: Mapping[cst.CSTNode, Sequence[cst.CSTNode]]) -> set[int]:
    """Identities of all nodes that are in the module once every edit is made."""
    found: set[int] = set()

    def walk(node: cst.CSTNode, inside: frozenset[int]) -> None:
        if node in edits and id(node) not in inside:
            for new in edits[node]:
                walk(new, inside | {id(node)})
            return
        found.add(id(node))
        for child in node.children:
            walk(child, inside)

    walk(module, frozenset())
    return found


class _Editor(cst.CSTTransformer):
    """Replaces nodes by identity, on the way down, so that replacements can hold further nodes to replace."""

    def __init__(
        self,
        edits: Mapping[cst.CSTNode, Sequence[cst.CSTNode]],
        markers: Mapping[cst.CSTNode, Sequence[str]],
    ) -> None:
        super().__init__()
        self.edits, self.markers = edits, markers

    def on_visit(self, node: cst.CSTNode) -> bool:
        return node not in self.edits

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> object:  # type: ignore[override]
        if original_node not in self.edits:
            return marked(updated_node, self.markers.get(original_node, ()))
        inner = _Editor({node: new for node, new in self.edits.items() if node is not original_node}, self.markers)
        visited: list[cst.CSTNode] = []
        for node in self.edits[original_node]:
            result = node.visit(inner)
            if isinstance(result, cst.FlattenSentinel):
                visited.extend(result)
            elif isinstance(result, cst.CSTNode):
                visited.append(result)
        if not visited:
            return cst.RemoveFromParent()
        return visited[0] if len(visited) == 1 else cst.FlattenSentinel(visited)


def marked(node: cst.CSTNode, comments: Sequence[str]) -> cst.CSTNode:
    """The statement with marker lines right above it. A marker of the same rule that stands there already is kept where
    it says the same but for its numbers (lines move), else replaced."""
    lines = list(getattr(node, "leading_lines", ()))
    for text in comments:
        old = [
            index for index, line in enumerate(lines) if line.comment and _subject(line.comment.value) == _subject(text)
        ]
        if any(_alike(lines[index].comment.value, text) for index in old):
            continue
        rest = [index for index in old if not any(_alike(lines[index].comment.value, other) for other in comments)]
        if rest:
            lines[rest[0]] = lines[rest[0]].with_changes(comment=cst.Comment(text))
        else:
            lines.append(cst.EmptyLine(comment=cst.Comment(text)))
    return node.with_changes(leading_lines=lines) if comments else node


def _alike(one: str, other: str) -> bool:
    """Whether two markers say the same, line numbers aside."""
    return _NUMBER.sub("", one) == _NUMBER.sub("", other)


def _subject(text: str) -> str:
    """Grade and rule of a marker, empty for any other comment's text that is no marker."""
    found = _MARKER.match(text)
    return found.group() if found else text


_NUMBER = re.compile(r"\d+")
_MARKER = re.compile(r"# migrate: (?:exact|review|manual|blocked) [\w-]+:")
