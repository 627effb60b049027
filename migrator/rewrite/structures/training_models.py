"""Which rewritten model an expression holds, followed through variables, parameters, factories and attributes.

The *roots* of a model say where it was made: the factory that returned it, or the expression that made it. A compile
in one function and a fit in another belong together when they share a root.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import libcst as cst

from migrator.facts import Definition, Project, Resolution
from migrator.rewrite.arguments import code
from migrator.rewrite.session import FileContext, ModelFacts
from migrator.rewrite.structures.training_tree import Binding, FileTree, Scope, tree_of

Root = Definition | cst.CSTNode
DEPTH = 6  # hops through calls, parameters and aliases


@dataclass(frozen=True)
class Known:
    """A model that is PyTorch after this run, and where it was made."""

    facts: ModelFacts
    roots: frozenset[Root]


@dataclass(frozen=True)
class File:
    """One file of the project; its tree is made when it is first asked for."""

    path: str
    resolution: Resolution

    @property
    def tree(self) -> FileTree:
        """The file's tree with parents and scopes."""
        return tree_of(self.resolution.source.module)


class Files:
    """The files of a project by path, and where each of its definitions is named."""

    def __init__(self, project: Project) -> None:
        self.by_path = {path: File(path, resolution) for path, resolution in project.resolutions.items()}
        self._named: dict[Definition, list[tuple[cst.CSTNode, File]]] | None = None

    def named(self, definition: Definition) -> list[tuple[cst.CSTNode, File]]:
        """Every name or attribute that denotes the definition, and its file."""
        if self._named is None:
            self._named = {}
            for file in self.by_path.values():
                for node, found in file.resolution.definitions.items():
                    self._named.setdefault(found, []).append((node, file))
        return self._named.get(definition, [])

    def function(self, definition: Definition) -> tuple[cst.FunctionDef, File] | None:
        """The function at module level that a definition denotes, and its file."""
        file = self.by_path.get(definition.file)
        for node in file.resolution.source.module.body if file else ():
            if isinstance(node, cst.FunctionDef) and node.name.value == definition.name and file:
                return node, file
        return None

    def callers(self, name: str, function: cst.FunctionDef, file: File) -> list[tuple[cst.BaseExpression | None, File]]:
        """What each call of a function passes for a parameter (None: not seen), and the file it stands in."""
        position = next((i for i, item in enumerate(function.params.params) if item.name.value == name), None)
        found: list[tuple[cst.BaseExpression | None, File]] = []
        for node, other in self.named(Definition(file.path, function.name.value)):
            call = other.tree.parents.get(node)
            if isinstance(call, cst.Call) and call.func is node:
                found.append((_argument(call, position, name) if position is not None else None, other))
        return found


class Models:
    """Answers what is known about model expressions anywhere in the project."""

    def __init__(self, context: FileContext) -> None:
        self.context = context
        self.files = Files(context.project)

    def known(self, node: cst.BaseExpression, file: File, depth: int = DEPTH) -> Known | None:
        """What is known about the model that `node` denotes; None where it is none, or it stays as it was."""
        if depth == 0:
            return None
        if isinstance(node, cst.Call):
            method = _own_method(node.func, file)
            if method is not None:
                return self._all_returns(method, file, depth - 1)
            definition = file.resolution.definitions.get(node.func)
            return self._returned(definition, depth - 1) if definition else None
        if isinstance(node, cst.Name):
            return self._name(node, file, depth)
        if isinstance(node, cst.Attribute):
            return self._attribute(node, file, depth)
        return None

    def merged(self, found: Iterable[Known | None]) -> Known | None:
        """One answer for all, None where one is unknown or they differ in what training code must know."""
        items = list(found)
        known = [item for item in items if item is not None]
        if not known or len(known) != len(items):
            return None
        kinds = {(len(item.facts.inputs), item.facts.outputs, item.facts.has_penalty) for item in known}
        if len(kinds) != 1:
            return None
        return Known(known[0].facts, frozenset().union(*(item.roots for item in known)))

    def _name(self, node: cst.Name, file: File, depth: int) -> Known | None:
        scope: Scope = file.tree.scope(node)
        while not (bindings := file.tree.bindings(scope, node.value)) and scope is not file.tree.module:
            scope = file.tree.scope(scope)
        if bindings:
            return self.merged(self._binding(binding, scope, file, depth - 1) for binding in bindings)
        definition = file.resolution.definitions.get(node)
        facts = self.context.models.get(definition) if definition else None
        return Known(facts, frozenset({definition})) if definition and facts else None

    def _binding(self, binding: Binding, scope: Scope, file: File, depth: int) -> Known | None:
        if isinstance(file.tree.parents[binding.node], cst.Param) and isinstance(scope, cst.FunctionDef):
            return self._passed(binding.node.value, scope, file, depth)
        if binding.unpacked is not None:
            value, position = binding.unpacked
            return self._element(value, position, file, depth)
        if binding.value is None:
            return self._imported(binding, file)
        made = self._made(binding, scope, file)
        return made or self.known(binding.value, file, depth)

    def _made(self, binding: Binding, scope: Scope, file: File) -> Known | None:
        """A model made in place, known by its statement or as what the surrounding factory returns."""
        assert binding.value is not None
        small = file.tree.parents.get(binding.value)
        keys = (binding.statement, small, binding.value, Definition(file.path, binding.node.value))
        facts = next((self.context.models[key] for key in keys if key is not None and key in self.context.models), None)
        if not isinstance(scope, cst.FunctionDef):
            module_level = Definition(file.path, binding.node.value)
            return Known(facts, frozenset({module_level})) if facts else None
        inside = file.tree.class_of(scope) is not None or isinstance(binding.value, cst.Name)
        if inside or not _returns(scope, binding.node.value, file.tree):
            return Known(facts, frozenset({binding.value})) if facts else None
        factory = Definition(file.path, scope.name.value)
        facts = self.context.models.get(factory, facts)
        return Known(facts, frozenset({factory})) if facts else None

    def _imported(self, binding: Binding, file: File) -> Known | None:
        definition = file.resolution.definitions.get(binding.node)
        facts = self.context.models.get(definition) if definition else None
        return Known(facts, frozenset({definition})) if definition and facts else None

    def _element(self, value: cst.BaseExpression, position: int, file: File, depth: int) -> Known | None:
        """The model at one place of a tuple, written out or returned by a function of the project."""
        if depth == 0:
            return None
        if isinstance(value, cst.Tuple):
            return self.known(value.elements[position].value, file, depth) if position < len(value.elements) else None
        definition = file.resolution.definitions.get(value.func) if isinstance(value, cst.Call) else None
        found = self.files.function(definition) if definition else None
        if found is None:
            return None
        function, other = found
        values = [node.value for node in _own_returns(function, other.tree)]
        return self.merged(self._element(item, position, other, depth - 1) if item else None for item in values)

    def _returned(self, definition: Definition, depth: int) -> Known | None:
        """The model that a factory returns, also a function that only hands on another's."""
        facts = self.context.models.get(definition)
        if facts:
            return Known(facts, frozenset({definition}))
        found = self.files.function(definition)
        if found is None:
            return None
        return self._all_returns(*found, depth)

    def _all_returns(self, function: cst.FunctionDef, file: File, depth: int) -> Known | None:
        values = [node.value for node in _own_returns(function, file.tree)]
        return self.merged(self.known(value, file, depth) if value else None for value in values)

    def _passed(self, name: str, function: cst.FunctionDef, file: File, depth: int) -> Known | None:
        """The model that all callers of a function pass for one of its parameters."""
        if file.tree.class_of(function) is not None:
            return None
        found = [
            self.known(value, other, depth) if value is not None else None
            for value, other in self.files.callers(name, function, file)
        ]
        return self.merged(found) if found else None

    def _attribute(self, node: cst.Attribute, file: File, depth: int) -> Known | None:
        """`self.model`, where every assignment in the class is known; `models.model` of another module."""
        definition = file.resolution.definitions.get(node)
        facts = self.context.models.get(definition) if definition else None
        if definition and facts:
            return Known(facts, frozenset({definition}))
        if not isinstance(node.value, cst.Name):
            return None
        if node.value.value == "self":
            holder = file.tree.class_of(node)
            return self._kept(holder, node.attr.value, file, depth) if holder else None
        scope = file.tree.scope(node)
        values = [binding.value for binding in file.tree.bindings(scope, node.value.value)]
        return self.merged(self._of_object(value, node.attr.value, file, depth) for value in values)

    def _of_object(self, value: cst.BaseExpression | None, name: str, file: File, depth: int) -> Known | None:
        """The attribute of an object that is made by calling a class of the project."""
        definition = file.resolution.definitions.get(value.func) if isinstance(value, cst.Call) else None
        other = self.files.by_path.get(definition.file) if definition else None
        for node in other.tree.module.body if other else ():
            if isinstance(node, cst.ClassDef) and definition and node.name.value == definition.name and other:
                return self._kept(node, name, other, depth)
        return None

    def _kept(self, holder: cst.ClassDef, name: str, file: File, depth: int) -> Known | None:
        """The model that every assignment to `self.name` in a class keeps."""
        values = [
            parent.value
            for target, parent in file.tree.parents.items()
            if isinstance(target, cst.AssignTarget)
            and isinstance(parent, cst.Assign)
            and code(target.target) == f"self.{name}"
            and file.tree.class_of(target) is holder
        ]
        return self.merged(self.known(value, file, depth - 1) for value in values)


def _own_method(node: cst.BaseExpression, file: File) -> cst.FunctionDef | None:
    """The method that `self.name` calls, where the class itself defines it."""
    holder = file.tree.class_of(node)
    if holder is None or not isinstance(node, cst.Attribute) or code(node.value) != "self":
        return None
    return next(
        (item for item in holder.body.body if isinstance(item, cst.FunctionDef) and item.name.value == node.attr.value),
        None,
    )


def _argument(call: cst.Call, position: int, name: str) -> cst.BaseExpression | None:
    for index, argument in enumerate(call.args):
        if argument.star:
            return None
        if (argument.keyword is None and index == position) or (argument.keyword and argument.keyword.value == name):
            return argument.value
    return None


def _own_returns(function: cst.FunctionDef, tree: FileTree) -> list[cst.Return]:
    return [node for node in tree.parents if isinstance(node, cst.Return) and tree.scope(node) is function]


def _returns(function: cst.FunctionDef, name: str, tree: FileTree) -> bool:
    return any(isinstance(item.value, cst.Name) and item.value.value == name for item in _own_returns(function, tree))
