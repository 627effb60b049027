"""Which code shares tensors, and is therefore rewritten together or not at all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import libcst as cst


def units_of(tree: cst.CSTNode) -> list[list[cst.CSTNode]]:
    """The units below `tree`: each function or method, and at module or class level groups of statements that share
    a variable they assign. Anything else is one unit."""
    if isinstance(tree, cst.Module):
        return _units_of_body(tree.body)
    if isinstance(tree, cst.ClassDef) and isinstance(tree.body, cst.IndentedBlock):
        head: list[cst.CSTNode] = [*tree.bases, *tree.keywords, *tree.decorators]
        return ([head] if head else []) + _units_of_body(tree.body.body)
    return [[tree]]


def _units_of_body(body: Sequence[cst.CSTNode]) -> list[list[cst.CSTNode]]:
    units: list[list[cst.CSTNode]] = []
    plain: list[cst.CSTNode] = []
    for statement in body:
        if isinstance(statement, cst.ClassDef):
            units.extend(units_of(statement))
        elif isinstance(statement, cst.FunctionDef):
            units.append([statement])
        else:
            plain.append(statement)
    return units + _groups(plain)


def _groups(statements: Sequence[cst.CSTNode]) -> list[list[cst.CSTNode]]:
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
    return [nodes for _, nodes in groups]


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
        pending.extend(current.children)
