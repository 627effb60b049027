"""A second look at every new file before it is written: it parses, and no name in it has lost its meaning."""

from __future__ import annotations

import builtins
import warnings

import libcst as cst

from migrator.rewrite.models.names_used import binds, reads


def fault(before: cst.Module, after: cst.Module) -> str | None:
    """What is wrong with the new text, None where nothing is."""
    try:
        with warnings.catch_warnings():  # of the user's own code; theirs to see when they run it
            warnings.simplefilter("ignore")
            compile(after.code, "rewritten", "exec", dont_inherit=True)
    except (SyntaxError, ValueError) as error:
        return f"the rewritten file would not be valid Python ({error})"
    lost = _unbound(after) - _unbound(before)
    if lost:
        return f"the rewritten file would use names that nothing defines: {', '.join(sorted(lost))}"
    return None


def _unbound(module: cst.Module) -> set[str]:
    """Names that are read and that nothing in the file binds, whatever the scope."""
    read = {name for item in module.body for name in reads(item)}
    return read - _bound_anywhere(module) - set(dir(builtins)) - {"__file__", "__name__"}


def _bound_anywhere(module: cst.Module) -> set[str]:
    found: set[str] = set()
    pending: list[cst.CSTNode] = [module]
    while pending:
        node = pending.pop()
        if isinstance(node, cst.Param):
            found.add(node.name.value)
        if isinstance(node, cst.CompFor):
            found |= _names(node.target)
        if isinstance(node, (cst.FunctionDef, cst.ClassDef)):
            found.add(node.name.value)
        found |= _shallow(node)
        pending.extend(node.children)
    return found


def _shallow(node: cst.CSTNode) -> set[str]:
    if isinstance(
        node, (cst.AssignTarget, cst.AnnAssign, cst.AugAssign, cst.For, cst.NamedExpr, cst.ImportAlias, cst.AsName)
    ):
        return binds(node)
    if isinstance(node, (cst.Global, cst.Nonlocal)):
        return {item.name.value for item in node.names}
    return set()


def _names(node: cst.CSTNode) -> set[str]:
    if isinstance(node, cst.Name):
        return {node.value}
    return set().union(*(_names(child) for child in node.children)) if node.children else set()
