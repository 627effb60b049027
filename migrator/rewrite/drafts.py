"""One file between its source and its new text: all edits in the order in which they build on one another."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import libcst as cst

from migrator.facts import Definition, Left, Site
from migrator.rewrite.aliases import alias_lines, orphaned_comments, unused_aliases, with_comments
from migrator.rewrite.annotations import annotation_apis, annotation_edits
from migrator.rewrite.calls import Replacements, rewrite_calls
from migrator.rewrite.leftovers import Leftovers
from migrator.rewrite.models.binding import Function
from migrator.rewrite.positions import Lines
from migrator.rewrite.session import FileContext, Proposal, surviving

_STAYS = "the model stays TensorFlow"
_BOTH = "some of the models that get here are PyTorch now and some stay TensorFlow"


@dataclass
class Draft:
    """What is known of one file's rewrite. `told` are the reasons of structures, `sites` what they looked at."""

    context: FileContext
    edits: dict[cst.CSTNode, Sequence[cst.CSTNode]]
    imports: set[str]
    calls: Replacements
    leftovers: Leftovers
    told: list[Left]
    sites: list[Site]
    refused: Sequence[Function]
    comments: dict[cst.CSTNode, list[str]]  # of lines that go, by the statement that takes them over

    @property
    def alive(self) -> set[int]:
        """Identities of the source's nodes that survive."""
        return self.leftovers.alive

    def left(self, mixed: Sequence[Left]) -> list[Left]:
        """All reasons, one for a line and rule; `mixed` are uses of models that are PyTorch now."""
        told = list(self.told)
        for item in mixed:
            same = [index for index, other in enumerate(told) if (other.line, other.rule) == (item.line, item.rule)]
            for index in same:
                reason = told[index].reason
                told[index] = replace(item, reason=_BOTH if reason.startswith(_STAYS) else f"{item.reason}: {reason}")
            if not same:
                told.append(item)
        return self.leftovers.left(told, self.calls.left, self.refused)


def draft_of(
    context: FileContext,
    proposals: Sequence[Proposal],
    refused: Sequence[Function],
    converted: Collection[Definition],
    lines: Lines,
) -> Draft:
    """Structures first, then plain operations, then annotations and aliases of what is PyTorch by then."""
    resolution, module = context.resolution, context.source.module
    edits: dict[cst.CSTNode, Sequence[cst.CSTNode]] = {}
    for proposal in proposals:
        edits |= proposal.edits
    alive = surviving(module, edits)
    passive = [*annotation_apis(resolution), *(value for _, _, value in alias_lines(resolution))]
    gone = [node for node in resolution.apis if id(node) not in alive]
    calls = rewrite_calls(module, resolution, context.catalogue, context.keras, [*gone, *passive])
    edits |= {node: [new] for node, new in calls.nodes.items() if id(node) in alive}
    imports = set().union(calls.imports, *(proposal.imports for proposal in proposals))
    if passive:
        annotated = annotation_edits(resolution, surviving(module, edits), edits, converted)
        edits |= annotated.edits
        imports |= annotated.imports
    unused = unused_aliases(resolution, surviving(module, edits), context.project)
    edits |= {line: [] for line in unused}
    leftovers = Leftovers(resolution, context.catalogue, context.keras, surviving(module, edits), lines)
    comments = orphaned_comments(resolution, unused, edits)
    for statement in [item for item in comments if item in edits]:
        first, *others = edits[statement]
        edits[statement] = [with_comments(first, comments.pop(statement)), *others]
    told = [item for proposal in proposals for item in proposal.left]
    sites = [site for proposal in proposals for site in proposal.sites]
    return Draft(context, edits, imports, calls, leftovers, told, sites, refused, comments)
