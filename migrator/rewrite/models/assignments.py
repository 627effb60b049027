"""Assignments: tensors, layers and shapes bound to variables, and lists that will hold tensors."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from migrator.rewrite.models.expressions import Expressions
from migrator.rewrite.models.ir import (
    Apply,
    Bundle,
    Gather,
    Invoke,
    Layer,
    Line,
    Make,
    Read,
    Refused,
    Region,
    Tensor,
    Track,
    Work,
)
from migrator.rewrite.models.names_used import target_names
from migrator.rewrite.models.naming import of_target
from migrator.rewrite.models.scope import Shape
from migrator.rewrite.models.sizes import Size


class Assignments(Expressions):
    """Reads assignments."""

    def compound(self, node: cst.BaseStatement) -> list[Region]:
        """Given by `Branches`."""
        raise NotImplementedError

    def config(self, node: cst.BaseStatement) -> Line:
        """Given by `Statements`."""
        raise NotImplementedError

    def has_work(self, node: cst.CSTNode) -> bool:
        """Given by `Statements`."""
        raise NotImplementedError

    def _assign(self, small: cst.Assign, node: cst.SimpleStatementLine) -> list[Region]:
        value = small.value
        targets = [target.target for target in small.targets]
        if isinstance(value, cst.Call) and self.names.is_layer(value.func):
            return self._layer_variable(targets, value)
        if isinstance(value, cst.Call) and self.names.is_input(value.func):
            raise Refused("an `Input` is made where no model is built from it", node)
        if self.shape(value) is not None:
            return self._shape_variable(targets, value)
        if isinstance(value, (cst.List, cst.Tuple)) and not value.elements and self._collects_tensors(targets):
            bundle = self.bundle(())
            return self._bind(targets, Gather((), bundle, "[" if isinstance(value, cst.List) else "("))
        if isinstance(value, cst.IfExp) and self.is_work(value):
            return self.conditional(small, value, node)
        if self.is_work(value) or self.has_work(value):
            return self._bind(targets, self.work(value))
        return [self.config(node)]

    def conditional(self, small: cst.Assign, value: cst.IfExp, node: cst.SimpleStatementLine) -> list[Region]:
        """`x = a if c else b` as the statement it abbreviates."""

        def line(part: cst.BaseExpression) -> cst.IndentedBlock:
            return cst.IndentedBlock([cst.SimpleStatementLine([small.with_changes(value=part)])])

        chosen = cst.If(
            test=value.test,
            body=line(value.body),
            orelse=cst.Else(body=line(value.orelse)),
            leading_lines=node.leading_lines,
        )
        return self.compound(chosen)

    def _collects_tensors(self, targets: list[cst.BaseAssignTargetExpression]) -> bool:
        """Whether an empty list is later filled with tensors: decided by looking at what is appended."""
        names = set().union(*(target_names(target) for target in targets))
        return bool(names & self.collectors)

    @property
    def collectors(self) -> set[str]:
        """Names whose `.append` is given a tensor somewhere in the function, found on the way."""
        return self._collectors()

    def _collectors(self) -> set[str]:
        raise NotImplementedError

    def _layer_variable(self, targets: list[cst.BaseAssignTargetExpression], value: cst.Call) -> list[Region]:
        if len(targets) != 1 or not isinstance(targets[0], cst.Name):
            raise Refused("a layer is made and bound to something other than a variable", value)
        name = targets[0].value
        self.scope.values[name] = self.pending(value, of_target(name) or (name,))
        return [self.line]

    def _shape_variable(self, targets: list[cst.BaseAssignTargetExpression], value: cst.BaseExpression) -> list[Region]:
        tensor = self.shape(value)
        assert tensor is not None
        if len(targets) == 1 and isinstance(targets[0], cst.Name):
            self.scope.values[targets[0].value] = Shape(tensor)
            return []
        if len(targets) != 1 or not isinstance(targets[0], cst.Tuple):
            raise Refused("a shape is taken apart in a way that is not handled", value)
        names = [element.value for element in targets[0].elements]
        tensor.settle(len(names))
        for index, target in enumerate(names):
            if isinstance(target, cst.Name) and index:
                self._track_dimension(target.value, self.axis_size(tensor, index))
        return [self.line]

    def _track_dimension(self, name: str, size: object) -> None:
        self.scope.values.pop(name, None)
        if isinstance(size, Size):
            self.line.events.append(Track(name, size.expr))
        self.numbers.bump(self.scope, name)

    def _bind(self, targets: list[cst.BaseAssignTargetExpression], work: Work) -> list[Region]:
        self.line.work = work
        for target in targets[:-1]:
            if not isinstance(target, cst.Name) or not isinstance(targets[-1], cst.Name):
                raise Refused("a chained assignment of several tensors is not handled yet", target)
        last = targets[-1]
        if isinstance(last, cst.Name):
            self._bind_name(last.value, work)
            self.line.targets = (last.value,)
            regions: list[Region] = [self.line]
            for target in targets[:-1]:
                assert isinstance(target, cst.Name)
                regions.append(self._alias(target.value, last.value))
            return regions
        if isinstance(last, (cst.Tuple, cst.List)) and isinstance(work.value, Bundle) and work.value.items is not None:
            names = [element.value for element in last.elements]
            if len(names) != len(work.value.items) or not all(isinstance(name, cst.Name) for name in names):
                raise Refused("tensors are unpacked in a way that is not handled", last)
            self.line.targets = tuple(name.value for name in names if isinstance(name, cst.Name))
            for name, tensor in zip(self.line.targets, work.value.items, strict=True):
                self.bind_tensor(name, replace(tensor, like=tensor, node=tensor))
            return [self.line]
        raise Refused("tensors are bound to something other than variables", last)

    def _bind_name(self, name: str, work: Work) -> None:
        for event in self.line.events:
            if isinstance(event, Make) and self._outermost(event.layer, work):
                event.layer.hints = (*event.layer.hints, *of_target(name))
        value = work.value
        if isinstance(value, Bundle):
            self.bind_bundle(name, value)
        else:
            alias = isinstance(work, Read)
            tensor = replace(value, like=value, fixed=None, depth=len(self.loops)) if alias else value
            self.line.value = tensor
            self.bind_tensor(name, tensor)

    def _outermost(self, layer: Layer, work: Work) -> bool:
        """Whether the layer's output, perhaps through functions, is what the line yields."""
        current: Work | None = work
        while current is not None:
            if isinstance(current, (Apply, Invoke)) and current.layer is not None:
                return current.layer is layer
            current = current.operands[0] if isinstance(current, Apply) and len(current.operands) == 1 else None
        return False

    def _alias(self, name: str, source: str) -> Line:
        value = self.scope.values[source]
        if not isinstance(value, Tensor):
            raise Refused("a list of tensors gets two names", None)
        work = Read(source, value)
        self.line = Line(None, targets=(name,), work=work)
        self._bind_name(name, work)
        return self.line
