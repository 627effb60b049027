"""Reading imports: what each bound name stands for, in the project, in TensorFlow, or elsewhere."""

from __future__ import annotations

from typing import Any

import libcst as cst

from migrator.facts import Use
from migrator.resolve.calls import Calls
from migrator.resolve.canonical import from_import
from migrator.resolve.scopes import dotted
from migrator.resolve.values import (
    UNKNOWN,
    Api,
    External,
    Module,
    Value,
)


class Imports(Calls):
    """The part of a Reader that reads imports. `imports` maps local names to dotted ones, whatever the library."""

    def __init__(self) -> None:
        super().__init__()
        self.imports: dict[str, str] = {}

    def _Import(self, node: cst.Import, use: Use) -> Value:
        for alias in node.names:
            full = dotted(alias.name)
            if alias.asname is not None:
                self._bind(alias.asname.name, self._library(full), full)
            else:
                top = full.partition(".")[0]
                self.scope.set(top, self._library(top))
                self.imports[top] = top
        return UNKNOWN

    def _ImportFrom(self, node: cst.ImportFrom, use: Use) -> Value:
        full = dotted(node.module) if node.module is not None else ""
        dots = len(node.relative)
        source: Module | None
        source = (
            self.world.modules.relative(dots, full, self.path) if dots else self.world.modules.absolute(full, self.path)
        )
        if isinstance(node.names, cst.ImportStar):
            self._star(source, full)
            return UNKNOWN
        for alias in node.names:
            name = dotted(alias.name)
            target = alias.asname.name if alias.asname is not None else alias.name
            self._from(target, source, "." * dots + full, name)
        return UNKNOWN

    def _from(self, target: Any, source: Module | None, full: str, name: str) -> None:
        spelled = f"{full}.{name}" if full.strip(".") else f"{full}{name}"
        if source is None:
            canonical = from_import(spelled) if not full.startswith(".") else None
            self._bind(target, Api(canonical) if canonical else External(spelled), spelled)
            return
        self._bind(target, self.world.member(source, name), spelled)
        definition = self.world.definition(source.path, name)
        if definition is not None and isinstance(target, cst.Name):
            self.definitions[target] = definition
            self.scope.origins[target.value] = definition

    def _bind(self, target: Any, value: Value, spelled: str) -> None:
        if isinstance(target, cst.Name):
            self.scope.set(target.value, value)
            self.imports[target.value] = spelled

    def _library(self, full: str) -> Value:
        found = self.world.modules.absolute(full, self.path)
        if found is not None:
            return found
        canonical = from_import(full)
        return Api(canonical) if canonical else External(full)

    def _star(self, source: Module | None, full: str) -> None:
        if source is None:
            self.scope.module.stars.append(from_import(full) or full)
            return
        other = self.world.scope_of(source)
        if other is None:
            return
        for name, value in self.world.public(source).items():
            self.scope.set(name, value)
            definition = self.world.definition(source.path, name)
            if definition is not None:
                self.scope.origins[name] = definition
        self.scope.module.stars.extend(other.stars)
