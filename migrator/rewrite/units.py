"""Which code shares tensors, and is therefore rewritten together or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import libcst as cst

from migrator.facts import Resolution
from migrator.rewrite.walking import children


@dataclass(frozen=True)
class Unit:
    """A piece of code and the module-level names that it defines."""

    names: frozenset[str]
    nodes: tuple[cst.CSTNode, ...]


def units_of(tree: cst.CSTNode) -> list[Unit]:
    """The units of a module: each function, each class, and groups of the other statements that share a variable they
    assign. Anything else than a module is one unit."""
    if not isinstance(tree, cst.Module):
        return [Unit(frozenset(), (tree,))]
    units: list[Unit] = []
    plain: list[cst.CSTNode] = []
    for statement in tree.body:
        if isinstance(statement, (cst.FunctionDef, cst.ClassDef)):
            units.append(Unit(frozenset({statement.name.value}), (statement,)))
        else:
            plain.append(statement)
    return units + _groups(plain)


def connected(units: Sequence[Unit], resolution: Resolution) -> list[list[Unit]]:
    """Units that name one another, directly or through others, grouped: tensors pass between them."""
    defined = {name: index for index, unit in enumerate(units) for name in unit.names}
    groups: list[set[int]] = []
    for index, unit in enumerate(units):
        linked = {index} | {defined[name] for name in _named(unit, resolution) if name in defined}
        touching = [group for group in groups if group & linked]
        groups = [group for group in groups if not group & linked] + [linked.union(*touching)]
    return [[units[index] for index in sorted(group)] for group in sorted(groups, key=min)]


def _named(unit: Unit, resolution: Resolution) -> set[str]:
    names: set[str] = set()
    for top in unit.nodes:
        for node in _walk(top):
            definition = resolution.definitions.get(node)
            if definition is not None and definition.file == resolution.source.path:
                names.add(definition.name.split(".")[0])
    return names


def _groups(statements: Sequence[cst.CSTNode]) -> list[Unit]:
    assigned = {name for statement in statements for name in _assigned(statement)}
    groups: list[tuple[set[str], list[cst.CSTNode]]] = []
    for statement in statements:
        names = {node.value for node in _walk(statement) if isinstance(node, cst.Name)} & assigned
        nodes: list[cst.CSTNode] = []
        for group in [group for group in groups if group[0] & names]:
            groups.remove(group)
            names |= group[0]
            nodes.extend(group[1])
        groups.append((names, [*nodes, statement]))
    return [Unit(frozenset(names), tuple(nodes)) for names, nodes in groups]


def _assigned(statement: cst.CSTNode) -> Iterator[str]:
    for node in _walk(statement):
        if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For, cst.NamedExpr)):
            yield from (name.value for name in _walk(node.target) if isinstance(name, cst.Name))
        elif isinstance(node, cst.AsName):
            yield from (name.value for name in _walk(node.name) if isinstance(name, cst.Name))


def _walk(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    pending = [node]
    while pending:
        current = pending.pop()
        if isinstance(current, (cst.Import, cst.ImportFrom)):
            continue
        yield current
        pending.extend(children(current))
