"""Which templates of a rule none of its example calls takes, and which are therefore proven by nothing."""

from __future__ import annotations

import libcst as cst

from migrator.catalogue import Catalogue
from migrator.catalogue.checks import templates
from migrator.facts import Rule
from migrator.proofs.examples import calls_of, methods_of, parsed, resolution_of
from migrator.rewrite.call_site import chosen_template
from migrator.rewrite.calls import place_of


def untried(rule: Rule, catalogue: Catalogue) -> list[str]:
    """Templates without an example, in the order of the entry."""
    taken: set[str | None] = set()
    texts = () if rule.example is None else (rule.example.before, *rule.example.more)
    for text in texts:
        tree = parsed(text)
        resolution = resolution_of(tree, methods_of(catalogue))
        parents = _parents(tree)
        for call in calls_of(rule, tree):
            place = place_of(call, parents, resolution, catalogue, max(rule.keras))
            taken.add(chosen_template(rule, call, resolution, place))
    return [template for template, _, _ in templates(rule) if template not in taken]


def _parents(tree: cst.CSTNode) -> dict[cst.CSTNode, cst.CSTNode]:
    found: dict[cst.CSTNode, cst.CSTNode] = {}
    pending = [tree]
    while pending:
        node = pending.pop()
        for child in node.children:
            found[child] = node
            pending.append(child)
    return found
