"""`L = tf.keras.layers`: a name for a part of TensorFlow goes, like an import, once nobody uses it any more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import libcst as cst

from migrator.facts import Definition, Project, Resolution
from migrator.rewrite.models.binding import own_nodes


def alias_lines(resolution: Resolution) -> Iterator[tuple[cst.SimpleStatementLine, str, cst.BaseExpression]]:
    """Module-level statements `name = tensorflow.part`: the statement, the name, the part."""
    for statement in resolution.source.module.body if resolution.apis else ():
        if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
            continue
        small = statement.body[0]
        if not isinstance(small, cst.Assign) or len(small.targets) != 1:
            continue
        target, value = small.targets[0].target, small.value
        if isinstance(target, cst.Name) and isinstance(value, (cst.Name, cst.Attribute)) and value in resolution.apis:
            yield statement, target.value, value


def unused_aliases(resolution: Resolution, alive: set[int], project: Project) -> list[cst.SimpleStatementLine]:
    """Those that were used in this file and are not any more."""
    found: list[cst.SimpleStatementLine] = []
    for statement, name, _ in alias_lines(resolution):
        uses = [
            node
            for item in resolution.source.module.body
            if item is not statement
            for node in _names(item)
            if node.value == name
        ]
        if uses and not any(id(node) in alive for node in uses) and not _elsewhere(resolution, name, project):
            found.append(statement)
    return found


def orphaned_comments(
    resolution: Resolution, gone: Sequence[cst.SimpleStatementLine], edits: Mapping[cst.CSTNode, Sequence[cst.CSTNode]]
) -> dict[cst.CSTNode, list[str]]:
    """Comments above lines that go, by the next statement that stays or that something takes the place of."""
    found: dict[cst.CSTNode, list[str]] = {}
    waiting: list[str] = []
    for item in resolution.source.module.body:
        if isinstance(item, cst.SimpleStatementLine) and item in gone:
            waiting += [line.comment.value for line in item.leading_lines if line.comment is not None]
        elif waiting and not _is_import(item) and edits.get(item, (item,)):
            found[item], waiting = waiting, []
    return found


def with_comments(node: cst.CSTNode, comments: Sequence[str]) -> cst.CSTNode:
    """New code below comments that it takes over."""
    blank = [line for line in getattr(node, "leading_lines", ()) if line.comment is None]
    rest = [line for line in getattr(node, "leading_lines", ()) if line.comment is not None]
    new = [cst.EmptyLine(comment=cst.Comment(text)) for text in comments]
    return node.with_changes(leading_lines=[*blank, *new, *rest])


def _is_import(item: cst.CSTNode) -> bool:
    return isinstance(item, cst.SimpleStatementLine) and isinstance(item.body[0], (cst.Import, cst.ImportFrom))


def _names(node: cst.CSTNode) -> Iterator[cst.Name]:
    return (item for item in own_nodes(node) if isinstance(item, cst.Name))


def _elsewhere(resolution: Resolution, name: str, project: Project) -> bool:
    own = Definition(resolution.source.path, name)
    return any(own in other.definitions.values() for path, other in project.resolutions.items() if path != own.file)
