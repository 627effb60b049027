"""Sequential models: the same as `x = layer(x)` for every layer, in a list, by `.add`, or by `.add` in a loop."""

from __future__ import annotations

import libcst as cst

from migrator.rewrite.arguments import code
from migrator.rewrite.models.binding import own_nodes
from migrator.rewrite.models.inputs import InputFacts, Inputs, ModelBody
from migrator.rewrite.models.ir import Line, Read, Refused, Region, Tensor
from migrator.rewrite.models.scope import Pending
from migrator.rewrite.models.text import lines_before


class Sequentials(Inputs):
    """Reads what becomes of a Sequential. `_grown` is its variable where it grows by `.add`."""

    _model: ModelBody
    _grown: str | None = None
    _variable: str = "x"

    def _sequential(self, call: cst.Call, found: ModelBody, sequential: str | None, last: bool) -> list[Region]:
        layers: cst.BaseExpression | None = None
        found.sequential = True
        for index, argument in enumerate(call.args):
            keyword = argument.keyword.value if argument.keyword else ("layers" if index == 0 else "name")
            if argument.star or keyword not in ("layers", "name", "trainable"):
                raise Refused(f"`Sequential` is given `{code(argument).rstrip(', ')}`", call)
            if keyword == "layers":
                layers = argument.value
            elif keyword == "name" and isinstance(self.constant(argument.value), str):
                found.model_name = str(self.constant(argument.value))
        self._grown, self._variable = sequential, self._free_name(("x", "h", "hidden", "features"))
        regions: list[Region] = []
        if layers is not None:
            if not isinstance(layers, (cst.List, cst.Tuple)):
                raise Refused("`Sequential` is given its layers in a variable, which is not handled yet", call)
            for index, element in enumerate(layers.elements):
                if isinstance(element, cst.StarredElement):
                    raise Refused("`Sequential` is given unpacked layers, which is not handled yet", element)
                self.line = Line(None, comments=element, lines=lines_before(layers, index))
                regions += self.add(element.value)
        if sequential is None:
            regions.append(self._finish_sequential(found))
        return regions

    def add(self, layer: cst.BaseExpression) -> list[Region]:
        """One layer more on a Sequential: `x = layer(x)`."""
        found = self._model
        variable = self._variable
        regions: list[Region] = []
        line = self.line
        if isinstance(layer, cst.Call) and self.names.is_input(layer.func):
            self._start(self.new_input("inputs", layer, found), regions)
            return regions
        if isinstance(layer, cst.Call) and self.names.api(layer.func) == "tf.keras.layers.InputLayer":
            self._start(self._input_layer(layer, found), regions)
            return regions
        if not found.inputs:
            self._start(self._implied_input(layer, found), regions)
        self.line = line
        operand = Read(variable, self.scope.values[variable])  # type: ignore[arg-type]
        if isinstance(layer, cst.Call) and self.names.is_layer(layer.func):
            pending = self.pending(layer, ())
        elif isinstance(layer, cst.Name) and layer.value in self.scope.values:
            held = self.scope.values[layer.value]
            if not isinstance(held, Pending):
                raise Refused(f"`{code(layer)}` is added to a Sequential and is no layer", layer)
            pending = held
        else:
            raise Refused(f"`{code(layer)}` is added to a Sequential and is no layer that is understood", layer)
        work = self.applied(pending, operand, layer)
        return [*regions, *self._bind([cst.Name(variable)], work)]

    def _start(self, given: InputFacts, regions: list[Region]) -> None:
        self.line = Line(None, targets=(self._variable,), work=Read(given.name, given.tensor))
        if self.loops:
            raise Refused("the first layer of a Sequential is added in a loop", None)
        self._bind_name(self._variable, self.line.work)  # type: ignore[arg-type]
        regions.append(self.line)

    def _implied_input(self, layer: cst.BaseExpression, found: ModelBody) -> InputFacts:
        """The input that a first layer declares by `input_shape=`, or one of unknown size."""
        shape: cst.BaseExpression | None = None
        batched = False
        for argument in layer.args if isinstance(layer, cst.Call) else ():
            name = argument.keyword.value if argument.keyword else ""
            if name in ("input_shape", "batch_input_shape"):
                shape, batched = argument.value, name.startswith("batch")
            elif name == "input_dim":
                shape = cst.Tuple([cst.Element(argument.value, comma=cst.Comma())])
        return self.declare("inputs", shape, batched, "float32", found, layer)

    def _input_layer(self, call: cst.Call, found: ModelBody) -> InputFacts:
        renamed = []
        for argument in call.args:
            if argument.keyword is not None and argument.keyword.value in ("input_shape", "batch_input_shape"):
                new = "shape" if argument.keyword.value == "input_shape" else "batch_shape"
                argument = argument.with_changes(keyword=cst.Name(new))
            renamed.append(argument)
        return self.new_input("inputs", call.with_changes(args=renamed), found)

    def _finish_sequential(self, found: ModelBody) -> Line:
        if self._variable not in self.scope.values:
            raise Refused("a Sequential without layers", found.creation)
        value = self.scope.values[self._variable]
        assert isinstance(value, Tensor)
        found.outputs = [value]
        self.line = Line(None, work=Read(self._variable, value), returned=True)
        return self.line

    def _effect(self, call: cst.Call) -> list[Region]:
        func = call.func
        grown = self._grown
        adds = isinstance(func, cst.Attribute) and func.attr.value == "add" and isinstance(func.value, cst.Name)
        if adds and grown is not None and code(func) == f"{grown}.add" and len(call.args) == 1:
            return self.add(call.args[0].value)
        return super()._effect(call)

    def bound_by(self, node: cst.CSTNode) -> set[str]:
        grown = self._grown
        return super().bound_by(node) | ({self._variable} if grown is not None and adds_to(node, grown) else set())

    def has_work(self, node: cst.CSTNode) -> bool:
        grown = self._grown
        if isinstance(node, cst.Name) and grown is not None and node.value == grown:
            return True
        return super().has_work(node)

    def _free_name(self, wishes: tuple[str, ...]) -> str:
        return next((name for name in wishes if name not in self.locals), "sequence")


def adds_to(statement: cst.CSTNode, name: str) -> bool:
    return any(
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value == "add"
        and isinstance(node.func.value, cst.Name)
        and node.func.value.value == name
        for node in own_nodes(statement)
    )
