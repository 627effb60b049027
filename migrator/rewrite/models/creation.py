"""The statement that completes a model: what stands before it, and who is handed the model."""

from __future__ import annotations

import libcst as cst

from migrator.rewrite.arguments import code
from migrator.rewrite.models.binding import Function
from migrator.rewrite.models.inputs import ModelBody
from migrator.rewrite.models.names_used import binds, reads
from migrator.rewrite.models.reader import without_docstring


def returns_model(model: ModelBody) -> bool:
    """Whether the function hands the model to its caller."""
    creation = model.creation
    if creation is not None and isinstance(creation.body[0], cst.Return):
        return True
    target = model_variable(model)
    return target is not None and any(
        isinstance(statement, cst.SimpleStatementLine)
        and isinstance(statement.body[0], cst.Return)
        and statement.body[0].value is not None
        and code(statement.body[0].value) == target
        for statement in model.after
    )


def model_variable(model: ModelBody) -> str | None:
    """The variable that holds the model."""
    small = model.creation.body[0] if model.creation is not None else None
    if isinstance(small, cst.Assign) and len(small.targets) == 1 and isinstance(small.targets[0].target, cst.Name):
        return small.targets[0].target.value
    return None


def movable(function: Function) -> set[cst.BaseStatement]:
    """Configuration in front of a model whose names nobody reads but the model: judged by the names alone."""
    body, _ = without_docstring(function.body)
    lines = [item for item in body if isinstance(item, cst.BaseStatement)]
    found: set[cst.BaseStatement] = set()
    after_names: set[str] = set()
    seen_model = False
    for statement in reversed(lines):
        if not seen_model:
            after_names |= reads(statement)
            seen_model = "Return" not in type(statement).__name__ and _is_creation_like(statement)
            continue
        if binds(statement) and not binds(statement) & after_names:
            found.add(statement)
        else:
            after_names |= reads(statement)
    return found


def _is_creation_like(statement: cst.BaseStatement) -> bool:
    return isinstance(statement, cst.SimpleStatementLine) and any(
        word in code(statement) for word in ("Model(", "Sequential(", ".add(")
    )
