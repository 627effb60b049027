"""Everything that crosses files: modules, functions, classes, and what call sites teach them.

The project is read in rounds. A round reads every module and then every function body; what it learns about
parameters, attributes and results feeds the next. Rounds stop when nothing new is learned, after five at most.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import libcst as cst

from migrator.facts import Definition, Inventory
from migrator.resolve import knowledge
from migrator.resolve.modules import Modules
from migrator.resolve.parameters import parameters, passed
from migrator.resolve.reader import Reader
from migrator.resolve.scopes import Bound, Scope
from migrator.resolve.values import (
    FOREIGN,
    PLAIN,
    UNBOUND,
    UNKNOWN,
    Api,
    Class,
    External,
    Function,
    Instance,
    Many,
    Module,
    OneOf,
    Value,
    bounded,
    join,
)
from migrator.tree import children

if TYPE_CHECKING:
    from migrator.resolve.calls import Arguments

ROUNDS = 5
DEEPEST_CALL = 30  # calls followed into calls before a body waits for its own turn


class World:
    """The state of reading one project."""

    def __init__(self, inventory: Inventory) -> None:
        self.modules = Modules(inventory.root, [source.path for source in inventory.sources])
        self.scopes: dict[str, Scope] = {}
        self.readers = {source.path: Reader(self, source) for source in inventory.sources}
        self.functions: dict[cst.CSTNode, Function] = {}
        self.classes: dict[cst.CSTNode, Class] = {}
        self.round = 0
        self.changed = True
        self._started: set[str] = set()
        self._depth = 0
        self._bound: dict[cst.CSTNode, Bound] = {}

    def read(self) -> None:
        """Reads all files until nothing new is learned."""
        while self.changed and self.round < ROUNDS:
            self.changed = False
            self.round += 1
            self._started.clear()
            for path in self.readers:
                self._start(path)
            done = 0
            while done < len(self.functions):
                waiting = list(self.functions.values())[done:]
                done = len(self.functions)
                for function in waiting:
                    self.run(function)

    # ------------------------------------------------------------ modules

    def _start(self, path: str) -> None:
        """Reads a module once a round; one that is being read already shows what it has so far, as in Python."""
        if path in self._started or path not in self.readers:
            return
        self._started.add(path)
        self.readers[path].read_module()

    def scope_of(self, module: Module) -> Scope | None:
        """The names of a module; None for a folder without a file."""
        self._start(module.path)
        return self.scopes.get(module.path)

    def member(self, module: Module, name: str) -> Value:
        """What `module.name` is: a name it binds, a submodule, or something from its star imports."""
        scope = self.scope_of(module)
        if scope is not None and name in scope.names:
            return scope.names[name]
        below = self.modules.below(module, name)
        if below is not None:
            return below
        outside = scope.outside(name) if scope is not None and scope.stars else UNKNOWN
        return outside if isinstance(outside, Api) else UNKNOWN

    def public(self, module: Module) -> dict[str, Value]:
        """What a star import of a module brings: its `__all__` where that is a literal list, else all but `_names`."""
        scope = self.scope_of(module)
        if scope is None:
            return {}
        listed = _listed(self.readers[module.path].source.module)
        if listed is not None:
            return {name: self.member(module, name) for name in listed}
        return {name: value for name, value in scope.names.items() if not name.startswith("_")}

    def definition(self, path: str, name: str) -> Definition | None:
        """Where the module-level `name` of a file is defined in the project; None where it is not the project's."""
        scope = self.scopes.get(path)
        if scope is None or name not in scope.names:
            return None
        value = scope.names[name]
        if isinstance(value, (Function, Class)):
            return value.definition
        if name in scope.origins:
            return scope.origins[name]
        if isinstance(value, (Api, OneOf, Module, External)):
            return None
        return Definition(path, name)

    # ------------------------------------------------------------ functions

    def function(self, reader: Reader | object, node: cst.FunctionDef | cst.Lambda, name: str) -> Function:
        """The Function of a definition, made on first sight, moved into the current scope on later ones."""
        assert isinstance(reader, Reader)
        function = self.functions.get(node)
        owner = reader.owner if reader.scope.sort == "class" else None
        if function is None:
            function = self.functions[node] = Function(Definition(reader.path, name), node, reader.scope, owner)
        function.scope, function.owner = reader.scope, owner
        for parameter in parameters(node):
            if parameter.default is not None:
                reader.value(parameter.default)
            if parameter.annotation is not None:
                function.annotated[parameter.name.value] = self.declared(reader.value(parameter.annotation))
        return function

    def declared(self, annotation: Value) -> Value:
        """What an annotation says about a value."""
        if isinstance(annotation, Api):
            kind = knowledge.kind_of_class(annotation.name)
            return Instance(kind) if kind in knowledge.MEMBERS or kind == knowledge.TENSOR else UNKNOWN
        if isinstance(annotation, Class):
            return Instance(annotation.kind, annotation)
        return UNKNOWN

    def call(self, function: Function, arguments: Arguments, receiver: Instance | None) -> Value:
        """Teaches a function the arguments of a call and gives what it returns."""
        names = parameters(function.node)
        positional = [parameter.name.value for parameter in names if parameter.star == ""]
        if receiver is not None and "staticmethod" not in function.decorators:
            positional = positional[1:]
        for name, value in (*zip(positional, arguments.positional, strict=False), *arguments.keywords.items()):
            self._learn(function, name, value)
        if function.declared != UNKNOWN:
            return function.declared
        return self.run(function)

    def teach(self, function: Function, value: Value) -> None:
        """Tells every required parameter what the framework will pass."""
        for parameter in parameters(function.node):
            if parameter.default is None and parameter.star == "" and parameter.name.value != "self":
                self._learn(function, parameter.name.value, value)

    def _learn(self, function: Function, name: str, value: Value) -> None:
        value = passed(value)
        if value in (UNKNOWN, UNBOUND):
            return
        old = function.parameters.get(name, UNBOUND)
        new = bounded(join(old, value))
        if new != old:
            function.parameters[name] = new
            self.changed = True

    def run(self, function: Function) -> Value:
        """Reads a function's body, once a round, and gives what it returns."""
        if function.running or function.round == self.round or self._depth > DEEPEST_CALL:
            return PLAIN if function.returns == UNBOUND and not function.running else function.returns
        function.running, function.round = True, self.round
        self._depth += 1
        reader = self.readers[function.definition.file]
        kept = reader.scope, reader.owner, reader.returned, reader.loops, reader.role, reader.marked
        reader.role, reader.marked = "", ""
        try:
            returned = self._read_body(reader, function)
        finally:
            reader.scope, reader.owner, reader.returned, reader.loops, reader.role, reader.marked = kept
            function.running = False
            self._depth -= 1
        if returned != function.returns:
            function.returns = returned
            self.changed = True
        return PLAIN if returned == UNBOUND else returned

    def _read_body(self, reader: Reader, function: Function) -> Value:
        node = function.node
        scope = Scope("function", reader.path, function.definition.name, function.scope)
        bound = self._bound.get(node.body)
        if bound is None:
            bound = self._bound[node.body] = Bound(node.body)
        scope.names = self._start_values(function)
        scope.parameters = frozenset(scope.names) - bound.names
        scope.locals = frozenset(bound.names | set(scope.names))
        scope.globals, scope.nonlocals = bound.globals, bound.nonlocals
        reader.scope, reader.owner = scope, function.owner or _enclosing_owner(function, reader)
        reader.returned, reader.loops = UNBOUND, 0
        if isinstance(node, cst.Lambda):
            return reader.value(node.body)
        reader.value(node.body)
        return reader.returned

    def _start_values(self, function: Function) -> dict[str, Value]:
        owner, names = function.owner, {}
        taken = parameters(function.node)
        for parameter in taken:
            name = parameter.name.value
            known = function.annotated.get(name, UNKNOWN)
            learned = function.parameters.get(name, UNKNOWN)
            names[name] = learned if known == UNKNOWN else known
            if parameter.star:
                names[name] = Many(UNKNOWN) if parameter.star == "*" else UNKNOWN
        if owner is not None and taken and "staticmethod" not in function.decorators:
            first = taken[0].name.value
            names[first] = owner if "classmethod" in function.decorators else Instance(owner.kind, owner)
            expected = knowledge.PROTOCOL.get((owner.kind, function.definition.name.rpartition(".")[2]), ())
            for parameter, kind in zip(taken[1:], expected, strict=False):
                if names[parameter.name.value] in (UNKNOWN, PLAIN, FOREIGN):
                    names[parameter.name.value] = Instance(kind)
        return names

    # ------------------------------------------------------------ classes

    def cls(self, reader: Reader, node: cst.ClassDef, bases: tuple[Value, ...]) -> Class:
        """The Class of a definition, with the kind its bases give it."""
        name = f"{reader.scope.name}.{node.name.value}".strip(".")
        made = self.classes.get(node)
        if made is None:
            made = self.classes[node] = Class(Definition(reader.path, name), node)
        made.bases = tuple(base for base in bases if base is not made)
        made.kind = next((kind for kind in map(_kind_of_base, made.bases) if kind), "")
        made.foreign = not made.kind and any(
            knowledge.is_foreign(base.name) if isinstance(base, External) else isinstance(base, Class) and base.foreign
            for base in made.bases
        )
        return made

    def put(self, cls: Class, name: str, value: Value) -> None:
        """Something was stored on `self`."""
        old = cls.attributes.get(name, UNBOUND)
        new = bounded(join(old, value))
        if new != old:
            cls.attributes[name] = new
            self.changed = True


def _kind_of_base(base: Value) -> str:
    if isinstance(base, Class):
        return base.kind
    return knowledge.kind_of_class(base.name) if isinstance(base, Api) else ""


def _enclosing_owner(function: Function, reader: Reader) -> Class | None:
    """Functions nested in a method still mean its class by `super()`."""
    return reader.owner if function.scope.sort == "function" else None


def _listed(module: cst.Module) -> list[str] | None:
    """The names of a literal `__all__`."""
    for line in module.body:
        for statement in line.body if isinstance(line, cst.SimpleStatementLine) else ():
            if not isinstance(statement, cst.Assign):
                continue
            target = statement.targets[0].target
            if isinstance(target, cst.Name) and target.value == "__all__":
                strings = [item.value for item in children(statement.value) if isinstance(item, cst.Element)]
                return [str(s.evaluated_value) for s in strings if isinstance(s, cst.SimpleString)]
    return None
