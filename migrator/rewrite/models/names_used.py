"""Which names a piece of code reads and binds. Attributes, keywords and names of inner scopes do not count."""

from __future__ import annotations

from collections.abc import Iterator

import libcst as cst

from migrator.tree import children


def reads(node: cst.CSTNode) -> set[str]:
    """Names that the code reads from the scope around it."""
    return {name.value for name in read_nodes(node)}


def read_nodes(node: cst.CSTNode, hidden: frozenset[str] = frozenset()) -> Iterator[cst.Name]:
    """The nodes of those names, in source order."""
    if isinstance(node, cst.Name):
        if node.value not in hidden:
            yield node
        return
    if isinstance(node, cst.Attribute):
        yield from read_nodes(node.value, hidden)
        return
    if isinstance(node, cst.Arg):
        yield from read_nodes(node.value, hidden)
        return
    if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For, cst.NamedExpr)):
        yield from _assignment(node, hidden)
        return
    if isinstance(node, (cst.Lambda, cst.FunctionDef)):
        yield from _function(node, hidden)
        return
    if isinstance(node, (cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)):
        yield from _comprehension(node, hidden)
        return
    if isinstance(node, (cst.Import, cst.ImportFrom, cst.Global, cst.Nonlocal, cst.Param)):
        return
    for child in children(node):
        yield from read_nodes(child, hidden)


def _assignment(node: cst.CSTNode, hidden: frozenset[str]) -> Iterator[cst.Name]:
    target = node.target  # type: ignore[attr-defined]
    if isinstance(node, cst.AugAssign) or not isinstance(target, (cst.Name, cst.Tuple, cst.List)):
        yield from read_nodes(target, hidden)
    for child in children(node):
        if child is not target:
            yield from read_nodes(child, hidden)


def _function(node: cst.Lambda | cst.FunctionDef, hidden: frozenset[str]) -> Iterator[cst.Name]:
    params = node.params
    everyone = [*params.params, *params.kwonly_params, *params.posonly_params]
    for star in (params.star_arg, params.star_kwarg):
        if isinstance(star, cst.Param):
            everyone.append(star)
    for param in everyone:
        if param.default is not None:
            yield from read_nodes(param.default, hidden)
    inner = hidden | {param.name.value for param in everyone}
    if isinstance(node, cst.FunctionDef):
        inner |= binds(node.body)
    yield from read_nodes(node.body, inner)


def _comprehension(node: cst.BaseComp, hidden: frozenset[str]) -> Iterator[cst.Name]:
    bound: set[str] = set()
    loop: cst.CompFor | None = node.for_in
    while loop is not None:
        bound |= target_names(loop.target)
        loop = loop.inner_for_in
    for child in children(node):
        yield from read_nodes(child, hidden | bound)


def target_names(target: cst.CSTNode) -> set[str]:
    """Plain names that an assignment target binds."""
    if isinstance(target, cst.Name):
        return {target.value}
    if isinstance(target, (cst.Tuple, cst.List)):
        return set().union(*(target_names(element.value) for element in target.elements))
    if isinstance(target, cst.StarredElement):
        return target_names(target.value)
    return set()


def binds(node: cst.CSTNode) -> set[str]:
    """Names that the code binds in its own scope."""
    if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
        return {node.name.value}
    if isinstance(node, (cst.Lambda, cst.ListComp, cst.SetComp, cst.GeneratorExp, cst.DictComp)):
        return set()
    found: set[str] = set()
    if isinstance(node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For, cst.NamedExpr)):
        found |= target_names(node.target)
    elif isinstance(node, cst.AsName):
        found |= target_names(node.name)
    elif isinstance(node, cst.ImportAlias) and node.asname is None:
        name = node.name
        while isinstance(name, cst.Attribute):
            name = name.value  # type: ignore[assignment]
        found |= target_names(name)
    for child in children(node):
        found |= binds(child)
    return found
