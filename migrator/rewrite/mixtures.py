"""What the rest of a project does with models that became PyTorch: uses that would leave a broken mixture.

A model may be compiled, trained and called elsewhere; where that stays TensorFlow it gets a marker. It may not be a
part of a TensorFlow model, nor be asked for what a module does not have: then its own group stays TensorFlow too.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import libcst as cst

from migrator.catalogue import Catalogue
from migrator.facts import Left
from migrator.rewrite.arguments import code
from migrator.rewrite.holders import Holders
from migrator.rewrite.models.binding import Names
from migrator.rewrite.models.group import Printed
from migrator.rewrite.session import FileContext
from migrator.rewrite.structures.models import Models as Rewritten
from migrator.rewrite.structures.models import Outcome
from migrator.rewrite.structures.training_group import KEPT_BY_KERAS
from migrator.rewrite.structures.training_models import File, Known
from migrator.rewrite.structures.training_uses import METHODS

_NOW = "the model is PyTorch now"
# a module has these too, or nothing of its construction hangs on them and a call that is left says so loudly
_TRAINING_STATE = KEPT_BY_KERAS - {"layers"}


@dataclass(frozen=True)
class Ban:
    """A group that must stay TensorFlow after all, and why."""

    outcome: Outcome
    item: Printed
    reason: str
    place: tuple[str, int]


class Mixtures:
    """Judges the uses of all rewritten models in what is left of a project. `alive` are the surviving nodes by file."""

    def __init__(
        self, context: FileContext, models: Rewritten, alive: Mapping[str, set[int]], catalogue: Catalogue
    ) -> None:
        self.models, self.alive, self.catalogue, self.keras = models, alive, catalogue, context.keras
        self.holders = Holders(context, models.owners)
        self.bans: list[Ban] = []
        self.left: list[Left] = []
        for file in self._files():
            _FileMixtures(self, file).read()
        self.bans.sort(key=lambda ban: ban.place)

    def _files(self) -> list[File]:
        """Files that a rewritten model can reach: those that name one another, from the models' own on."""
        files = self.holders.files.by_path
        linked: dict[str, set[str]] = {path: {path} for path in files}
        for path, file in files.items():
            for definition in set(file.resolution.definitions.values()):
                if definition.file in linked:
                    linked[path].add(definition.file)
                    linked[definition.file].add(path)
        pending = [item.function.definition.file for _, item in self.models.owners.values()]
        reached: set[str] = set()
        while pending:
            path = pending.pop()
            if path not in reached:
                reached.add(path)
                pending.extend(linked[path])
        return [files[path] for path in sorted(reached)]

    def ban(self, known: Known, reason: str, place: tuple[str, int]) -> None:
        """The groups of all models that the expression may hold."""
        for root in known.roots:
            if root in self.models.owners:
                outcome, item = self.models.owners[root]
                self.bans.append(Ban(outcome, item, reason, place))


class _FileMixtures:
    """One file."""

    def __init__(self, mixtures: Mixtures, file: File) -> None:
        self.all, self.file, self.tree = mixtures, file, file.tree
        self.apis, self.alive = file.resolution.apis, mixtures.alive[file.path]
        self.names = Names(file.resolution, mixtures.catalogue, mixtures.keras)
        self._building: dict[cst.CSTNode, bool] = {}

    def read(self) -> None:
        """Every surviving use of a model that may be PyTorch now."""
        for node in list(self.tree.parents):
            if id(node) not in self.alive:
                continue
            if isinstance(node, cst.Attribute):
                self._attribute(node)
            elif isinstance(node, cst.Call):
                self._call(node)

    def _held(self, node: cst.BaseExpression, among: bool = False) -> Known | None:
        """The models that an expression may be; with `among`, also those in a list of its."""
        if node in self.apis or self._foreign(node):
            return None
        return self.all.holders.held(node, self.file, among)

    def _foreign(self, node: cst.BaseExpression) -> bool:
        """Whether a name is that of an imported library."""
        if not isinstance(node, cst.Name) or node in self.file.resolution.definitions:
            return False
        return node.value in self.file.resolution.imports

    # ------------------------------------------------------------ attributes

    def _attribute(self, node: cst.Attribute) -> None:
        parent = self.tree.parents.get(node)
        if isinstance(parent, cst.Attribute) and parent.value is node and self._foreign(node.value):
            return
        known = self._held(node.value)
        name = node.attr.value
        if known is None or name.startswith("__"):
            return
        called = isinstance(parent, cst.Call) and parent.func is node
        if name in METHODS or (called and self._guided(name)):
            self._method(node, known)
        elif name in ("input", "inputs", "output", "outputs") and self._builds(node):
            self._part(node, known)
        elif name in _TRAINING_STATE:
            self._mark(node, "model-use", f"{_NOW} and has no `{name}`")
        else:
            self._ban(node, known, f"uses `{code(node)}`, which a PyTorch module does not have")

    def _guided(self, name: str) -> bool:
        rule = self.all.catalogue.find(f"tf.keras.Model.{name}", self.all.keras)
        return rule is not None and rule.guide is not None and name != "get_layer"

    def _method(self, node: cst.Attribute, known: Known) -> None:
        """A method of training that was left: its own function must still be able to make the model."""
        unit = self._unit(node)
        for root in known.roots:
            outcome, item = self.all.models.owners[root]
            own = item.function.resolution is self.file.resolution and item.function.node is unit
            if own and (isinstance(unit, cst.FunctionDef) or node.attr.value == "compile"):
                line = self.tree.line(node)
                reason = f"`{code(node)}` in line {line} stays, and the model needs it"
                self.all.bans.append(Ban(outcome, item, reason, (self.file.path, line)))
                return
        rule = self.all.catalogue.find(f"tf.keras.Model.{node.attr.value}", self.all.keras)
        self._mark(node, rule.id if rule else node.attr.value, f"{_NOW}; this call must be replaced")

    # ------------------------------------------------------------ calls

    def _call(self, node: cst.Call) -> None:
        known = self._held(node.func)
        if known is not None:
            if self._builds(node):
                self._part(node, known)
            elif self._tensorflow(self._unit(node)) or any(
                item.keyword is not None and item.keyword.value == "training" for item in node.args
            ):
                self._mark(node, "model-use", f"{_NOW}; this call still gives it what TensorFlow takes")
        if not self._takes(node.func):
            return
        for argument in node.args:
            held = self._held(argument.value, among=True)
            if held is not None and (self._builds(node) or node.func not in self.apis):
                self._part(node, held)
            elif held is not None:
                self._mark(node, "model-use", f"{_NOW}, and {code(node.func)} takes one of TensorFlow")

    def _takes(self, func: cst.BaseExpression) -> bool:
        """Whether what is called is TensorFlow's, or a class of the project that stays TensorFlow."""
        if func in self.apis:
            return True
        definition = self.file.resolution.definitions.get(func)
        other = self.all.holders.files.by_path.get(definition.file) if definition is not None else None
        if other is None or definition is None:
            return False
        return any(
            isinstance(node, cst.ClassDef) and node.name.value == definition.name and _stays(node, other, self.all)
            for node in other.tree.module.body
        )

    def _part(self, node: cst.CSTNode, known: Known) -> None:
        self._ban(node, known, "makes it a part of a model that stays TensorFlow")

    def _ban(self, node: cst.CSTNode, known: Known, does: str) -> None:
        unit, line = self._unit(node), self.tree.line(node)
        who = f"`{unit.name.value}` in {self.file.path}" if isinstance(unit, cst.FunctionDef) else self.file.path
        self.all.ban(known, f"{who}, line {line}, {does}", (self.file.path, line))

    def _unit(self, node: cst.CSTNode) -> cst.CSTNode:
        """The outermost function around a node, else the module."""
        functions = [item for item in self.tree.ancestors(node) if isinstance(item, cst.FunctionDef)]
        return functions[-1] if functions else self.tree.module

    def _builds(self, node: cst.CSTNode) -> bool:
        """Whether the function around a node still makes layers or models of TensorFlow."""
        unit = self._unit(node)
        if unit not in self._building:
            self._building[unit] = any(
                isinstance(item, cst.Call)
                and (
                    self.names.is_layer(item.func)
                    or self.names.is_merge(item.func)
                    or self.names.is_input(item.func)
                    or self.names.is_model(item.func)
                    or self.names.is_sequential(item.func)
                )
                for item in self._own(unit)
            )
        return self._building[unit]

    def _tensorflow(self, unit: cst.CSTNode) -> bool:
        return any(item in self.apis for item in self._own(unit))

    def _own(self, unit: cst.CSTNode) -> Iterator[cst.CSTNode]:
        """The surviving nodes of a function; of a module those outside its functions."""
        pending = list(unit.children)
        while pending:
            node = pending.pop()
            if isinstance(node, (cst.Import, cst.ImportFrom, cst.Annotation)):
                continue
            if isinstance(unit, cst.Module) and isinstance(node, cst.FunctionDef):
                continue
            if id(node) in self.alive:
                yield node
            pending.extend(child for child in node.children if self.tree.parents.get(child) is node)

    def _mark(self, node: cst.CSTNode, rule: str, reason: str) -> None:
        self.all.left.append(Left(self.file.path, self.tree.line(node), rule, reason))


def _stays(node: cst.ClassDef, file: File, mixtures: Mixtures) -> bool:
    alive, apis = mixtures.alive[file.path], file.resolution.apis
    return any(id(inner) in alive and inner in apis for inner in file.tree.within(node))
