"""Which functions build models, which of their parameters are tensors, and what depends on what.

A name is a tensor if it is passed where a layer, a merge or a rewritten helper takes one. A parameter never so used is
configuration. The answer is a fixpoint over the call graph, across files.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

import libcst as cst

from migrator.catalogue import Catalogue
from migrator.facts import Definition, Project, Resolution, Rule
from migrator.rewrite.models.names_used import binds, target_names
from migrator.tree import children

Kind = Literal["factory", "helper", "script"]
MODEL_APIS = {
    "tf.keras.Model",
    "tf.keras.models.Model",
    "tf.keras.engine.Model",
    "tf.keras.training.Model",
    "tf.keras.models.Functional",
    "tf.keras.Functional",
}
SEQUENTIAL_APIS = {"tf.keras.Sequential", "tf.keras.models.Sequential"}
INPUT_APIS = {"tf.keras.Input", "tf.keras.layers.Input"}


@dataclass(eq=False)
class Function:
    """A function that builds layers, or the body of a module that does. `node` is what the edit replaces."""

    definition: Definition
    resolution: Resolution
    node: cst.FunctionDef | cst.Module
    kind: Kind
    keras: int
    tensors: set[str] = field(default_factory=set)
    callees: set[Definition] = field(default_factory=set)

    @property
    def name(self) -> str:
        """The function's name, the file's stem for a script."""
        return self.definition.name

    @property
    def body(self) -> list[cst.BaseStatement]:
        """Its statements; functions and classes that a script defines are none of its own."""
        if isinstance(self.node, cst.Module):
            return [item for item in self.node.body if not isinstance(item, (cst.FunctionDef, cst.ClassDef))]
        block = self.node.body
        if isinstance(block, cst.IndentedBlock):
            return list(block.body)
        return [cst.SimpleStatementLine(body=block.body)] if isinstance(block, cst.SimpleStatementSuite) else []

    @property
    def params(self) -> list[cst.Param]:
        """Parameters in order, keyword-only ones last."""
        if isinstance(self.node, cst.Module):
            return []
        found = self.node.params
        return [*found.posonly_params, *found.params, *found.kwonly_params]

    @property
    def stars(self) -> bool:
        """Whether it takes *args or **kwargs."""
        if isinstance(self.node, cst.Module):
            return False
        found = self.node.params
        return isinstance(found.star_arg, cst.Param) or found.star_kwarg is not None


class Names:
    """What a node denotes: a rule of the catalogue, or a function of the project."""

    def __init__(self, resolution: Resolution, catalogue: Catalogue, keras: int) -> None:
        self.resolution, self.catalogue, self.keras = resolution, catalogue, keras

    def api(self, node: cst.CSTNode) -> str | None:
        """The canonical TensorFlow name of a name or attribute chain."""
        return self.resolution.apis.get(node)

    def rule(self, node: cst.CSTNode) -> Rule | None:
        """The rule for it."""
        api = self.api(node)
        return self.catalogue.find(api, self.keras) if api else None

    def is_layer(self, node: cst.CSTNode) -> bool:
        """Whether it denotes a layer class, with or without a rule."""
        api = self.api(node)
        if api is None or api in INPUT_APIS:
            return False
        module, _, name = api.rpartition(".")
        if module.endswith("layers") and name[:1].isupper():
            return True
        rule = self.rule(node)
        return rule is not None and rule.family == "layer" and name[:1].isupper()

    def is_merge(self, node: cst.CSTNode) -> bool:
        """Whether it denotes a function such as `layers.add` that applies at once."""
        api = self.api(node)
        if api is None:
            return False
        module, _, name = api.rpartition(".")
        return module.endswith("layers") and name[:1].islower()

    def is_input(self, node: cst.CSTNode) -> bool:
        """Whether it denotes `Input`."""
        return self.api(node) in INPUT_APIS

    def is_model(self, node: cst.CSTNode) -> bool:
        """Whether it denotes the functional `Model`."""
        return self.api(node) in MODEL_APIS

    def is_sequential(self, node: cst.CSTNode) -> bool:
        """Whether it denotes `Sequential`."""
        return self.api(node) in SEQUENTIAL_APIS

    def definition(self, node: cst.CSTNode) -> Definition | None:
        """The project's own function or class that it denotes."""
        return self.resolution.definitions.get(node)


def find_functions(project: Project, catalogue: Catalogue) -> dict[Definition, Function]:
    """Every function of the project that builds or applies layers, with its tensor parameters and callees."""
    found: dict[Definition, Function] = {}
    keras = project.inventory.environment.keras
    for path, resolution in project.resolutions.items():
        names = Names(resolution, catalogue, keras)
        for node in resolution.source.module.body:
            if isinstance(node, cst.FunctionDef):
                kind = _kind(node, names)
                if kind is not None:
                    definition = Definition(path, node.name.value)
                    found[definition] = Function(definition, resolution, node, kind, keras)
        if _script(resolution.source.module, names):
            definition = Definition(path, "")
            found[definition] = Function(definition, resolution, resolution.source.module, "script", keras)
    while _join_callers(found, project, catalogue):
        pass
    _settle(found, catalogue)
    return found


def _join_callers(found: dict[Definition, Function], project: Project, catalogue: Catalogue) -> bool:
    """Functions that make no layer themselves but call a helper belong to it. Whether there were any."""
    helpers = {definition for definition, function in found.items() if function.kind == "helper"}
    before = len(found)
    for path, resolution in project.resolutions.items():
        if not helpers & set(resolution.definitions.values()):
            continue
        for node in resolution.source.module.body:
            if not isinstance(node, cst.FunctionDef) or Definition(path, node.name.value) in found:
                continue
            calls = [inner for inner in own_nodes(node.body) if isinstance(inner, cst.Call)]
            if any(resolution.definitions.get(call.func) in helpers for call in calls):
                definition = Definition(path, node.name.value)
                found[definition] = Function(
                    definition, resolution, node, "helper", project.inventory.environment.keras
                )
    return len(found) > before


def own_nodes(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """Every node below, inner functions and classes included but for their decorators' sake not treated apart."""
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(reversed(list(children(current))))


@lru_cache(maxsize=512)
def declarations(module: cst.Module) -> tuple[cst.CSTNode, ...]:
    """Every import, function and class of a module, inner ones included: found once, asked for by every group."""
    kinds = (cst.Import, cst.ImportFrom, cst.FunctionDef, cst.ClassDef)
    return tuple(node for node in own_nodes(module) if isinstance(node, kinds))


def _kind(node: cst.FunctionDef, names: Names) -> Kind | None:
    layers = False
    for inner in own_nodes(node.body):
        if not isinstance(inner, cst.Call):
            continue
        if names.is_model(inner.func) or names.is_sequential(inner.func):
            return "factory"
        layers = layers or names.is_layer(inner.func) or names.is_merge(inner.func)
    return "helper" if layers else None


def _script(module: cst.Module, names: Names) -> bool:
    for item in module.body:
        if isinstance(item, (cst.FunctionDef, cst.ClassDef)):
            continue
        for inner in own_nodes(item):
            if isinstance(inner, cst.Call) and (names.is_model(inner.func) or names.is_sequential(inner.func)):
                return True
    return False


def _settle(found: dict[Definition, Function], catalogue: Catalogue) -> None:
    """Tensor parameters, until nothing changes; functions that only pass tensors on to helpers join on the way."""
    changed = True
    while changed:
        changed = False
        for function in found.values():
            names = Names(function.resolution, catalogue, function.keras)
            tensors, callees = _tensor_names(function, names, found)
            mine = tensors & {param.name.value for param in function.params}
            if mine - function.tensors or callees - function.callees:
                function.tensors |= mine
                function.callees |= callees
                changed = True


def _tensor_names(
    function: Function, names: Names, found: dict[Definition, Function]
) -> tuple[set[str], set[Definition]]:
    tensors: set[str] = set()
    callees: set[Definition] = set()
    aliases: list[tuple[str, str]] = []
    layers = {name for item in function.body for name in _layer_variables(item, names)}
    for item in function.body:
        for node in own_nodes(item):
            if isinstance(node, cst.Assign) and isinstance(node.value, cst.Name):
                aliases += [(name, node.value.value) for target in node.targets for name in target_names(target.target)]
            if not isinstance(node, cst.Call):
                continue
            callee = names.definition(node.func)
            if callee in found:
                callees.add(callee)
                tensors |= _passed(node, found[callee])
            elif _applies(node, names, layers):
                tensors |= {name for argument in node.args for name in _listed(argument.value)}
    for _ in range(len(aliases)):
        tensors |= {source for target, source in aliases if target in tensors}
    return tensors, callees


def _layer_variables(item: cst.CSTNode, names: Names) -> set[str]:
    return {
        name
        for node in own_nodes(item)
        if isinstance(node, cst.Assign) and isinstance(node.value, cst.Call) and names.is_layer(node.value.func)
        for target in node.targets
        for name in target_names(target.target)
    }


def _applies(node: cst.Call, names: Names, layers: set[str]) -> bool:
    func = node.func
    if isinstance(func, cst.Call) and names.is_layer(func.func):
        return True
    return names.is_merge(func) or (isinstance(func, cst.Name) and func.value in layers)


def _passed(node: cst.Call, callee: Function) -> set[str]:
    parameters = [param.name.value for param in callee.params]
    found: set[str] = set()
    for index, argument in enumerate(node.args):
        name = argument.keyword.value if argument.keyword else parameters[index] if index < len(parameters) else ""
        if name in callee.tensors:
            found |= _listed(argument.value)
    return found


def _listed(node: cst.BaseExpression) -> set[str]:
    """Names passed directly, or as elements of a list or tuple display."""
    if isinstance(node, cst.Name):
        return {node.value} - {"True", "False", "None"}
    if isinstance(node, (cst.List, cst.Tuple)):
        return set().union(*(_listed(element.value) for element in node.elements))
    return set()


def local_names(function: Function) -> set[str]:
    """Parameters and names that the body binds."""
    found = {param.name.value for param in function.params}
    for item in function.body:
        found |= binds(item)
    return found
