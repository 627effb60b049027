"""The callbacks of one fit, attached to its loop: all their code by place, and what stands where they were made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import libcst as cst

from migrator.rewrite.structures.training_callbacks import (
    Callback,
    CallbackCode,
    LoopParts,
    callback_code,
    callbacks_of,
)
from migrator.rewrite.structures.training_code import Statements
from migrator.rewrite.structures.training_compile import RuleFinder
from migrator.rewrite.structures.training_tree import Refused
from migrator.rewrite.structures.training_uses import Namer, Tracer, Use


@dataclass(frozen=True)
class Attached:
    """`kept` takes the place of variables that held callbacks; `here` remembers the same for callbacks in the call."""

    codes: tuple[CallbackCode, ...]
    kept: Mapping[cst.SimpleStatementLine, Statements]
    here: Statements

    def all(self, place: str) -> Statements:
        """The statements of all callbacks for one place of the loop, in their order."""
        return [line for item in self.codes for line in getattr(item, place)]

    @property
    def support(self) -> frozenset[str]:
        """Support names they use."""
        return frozenset().union(*(item.support for item in self.codes))

    @property
    def imports(self) -> frozenset[str]:
        """Import statements they need."""
        return frozenset().union(*(item.imports for item in self.codes))


def attached(
    node: cst.BaseExpression | None, use: Use, parts: LoopParts, tracer: Tracer, namer: Namer, rules: RuleFinder
) -> Attached:
    """The code of the callbacks that fit was given. Raises Refused where one has no counterpart."""
    callbacks = callbacks_of(node, tracer)
    codes = tuple(callback_code(item, parts, namer, rules) for item in callbacks)
    if sum(bool(item.stop) for item in codes) > 1:
        raise Refused("two callbacks that may end the training")
    kept: dict[cst.SimpleStatementLine, Statements] = {}
    here: Statements = []
    for callback, written in zip(callbacks, codes, strict=True):
        statement = _maker(callback, use, tracer) if written.kept else None
        if statement is None:
            here += written.kept
        else:
            kept.setdefault(statement, []).extend(written.kept)
    return Attached(codes, kept, here)


def _maker(callback: Callback, use: Use, tracer: Tracer) -> cst.SimpleStatementLine | None:
    """The statement that makes the callback, where that is not the fit itself."""
    tree = use.file.tree
    statement = tree.statement(callback.call)
    if statement not in tracer.consumed:
        return None
    if tree.scope(callback.call) is not use.scope:
        raise Refused("a ModelCheckpoint keeps its best value in a variable outside of this function")
    return statement


def parameter_count(schedule: cst.BaseExpression, use: Use) -> int | None:
    """How many arguments a lambda, or a function of the same file, takes; None where that is not seen."""
    if isinstance(schedule, cst.Lambda):
        return len(schedule.params.params)
    for node in use.file.tree.parents:
        if isinstance(node, cst.FunctionDef) and isinstance(schedule, cst.Name) and node.name.value == schedule.value:
            return len(node.params.params)
    return None
