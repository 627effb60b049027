"""Inputs of a model: an `Input`, or what a first layer says, as tensors whose sizes are known as far as written."""

from __future__ import annotations

from dataclasses import dataclass, field

import libcst as cst

from migrator.rewrite.arguments import code
from migrator.rewrite.models.ir import Line, Read, Refused, Region, Tensor
from migrator.rewrite.models.loops import Loops
from migrator.rewrite.models.names_used import reads
from migrator.rewrite.models.sizes import Size
from migrator.rewrite.templates import expression


@dataclass(eq=False)
class InputFacts:
    """An `Input`: the variable, its tensor, its shape as written (batch axis left out) and its type."""

    name: str
    tensor: Tensor
    shape: cst.BaseExpression | None
    dtype: str = "float32"


@dataclass(eq=False)
class ModelBody:
    """A body that builds one model: what stays outside the class, the regions of the class, what comes after."""

    before: list[cst.BaseStatement] = field(default_factory=list)
    inside: list[cst.BaseStatement] = field(default_factory=list)
    regions: list[Region] = field(default_factory=list)
    creation: cst.SimpleStatementLine | None = None
    after: list[cst.BaseStatement] = field(default_factory=list)
    inputs: list[InputFacts] = field(default_factory=list)
    outputs: list[Tensor] = field(default_factory=list)
    model_name: str | None = None
    sequential: bool = False
    docstring: cst.SimpleStatementLine | None = None


class Inputs(Loops):
    """Reads the inputs of a model."""

    def _input(
        self, small: cst.Assign, call: cst.Call, found: ModelBody, statement: cst.SimpleStatementLine
    ) -> list[Region]:
        names = [target.target for target in small.targets]
        if not all(isinstance(name, cst.Name) for name in names):
            raise Refused("an `Input` is bound to something other than a variable", call)
        first = names[0]
        assert isinstance(first, cst.Name)
        given = self.new_input(first.value, call, found)
        regions: list[Region] = [Line(statement)]
        for name in names[1:]:
            assert isinstance(name, cst.Name)
            self.line = Line(None, targets=(name.value,), work=Read(given.name, given.tensor))
            self._bind_name(name.value, self.line.work)  # type: ignore[arg-type]
            regions.append(self.line)
        return regions

    def new_input(self, name: str, call: cst.Call, found: ModelBody) -> InputFacts:
        """The tensor that an `Input` call declares."""
        shape, dtype, batched = None, "float32", False
        for index, argument in enumerate(call.args):
            keyword = argument.keyword.value if argument.keyword else ("shape" if index == 0 else f"argument {index}")
            if argument.star or keyword not in ("shape", "batch_shape", "batch_size", "dtype", "name"):
                raise Refused(f"`Input` is given `{code(argument).rstrip(', ')}`, which is not handled yet", call)
            if keyword in ("shape", "batch_shape"):
                shape, batched = argument.value, keyword == "batch_shape"
            elif keyword == "dtype":
                known = self.constant(argument.value)
                dtype = known if isinstance(known, str) else (self.names.api(argument.value) or "").rpartition(".")[2]
        return self.declare(name, shape, batched, dtype or "float32", found, call)

    def declare(
        self,
        name: str,
        shape: cst.BaseExpression | None,
        batched: bool,
        dtype: str,
        found: ModelBody,
        node: cst.CSTNode,
    ) -> InputFacts:
        """An input tensor of a shape as written; without one, nothing is known but what its use demands."""
        known_rank = self.facts.ranks.get(self.key(f"input {name}"))
        tensor = Tensor(known_rank, None, origin=f"input {name}", fixed="last")
        if shape is not None:
            axes = self._axes(shape, batched, known_rank)
            if isinstance(axes, list):
                tensor.rank = len(axes) + 1
                tensor.channels = axes[-1] if axes else None
                tensor.spatial = tuple(axes[:-1])
            else:
                tensor.channels = axes
            if batched:
                shape = self._without_batch(shape)
        given = InputFacts(name, tensor, shape, dtype)
        found.inputs.append(given)
        self.line = self.top
        self.bind_tensor(name, tensor)
        return given

    def _axes(self, shape: cst.BaseExpression, batched: bool, rank: int | None) -> list[Size | None] | Size:
        if isinstance(shape, (cst.Tuple, cst.List)):
            if any(isinstance(element, cst.StarredElement) for element in shape.elements):
                last = shape.elements[-1]
                if isinstance(last, cst.StarredElement):
                    raise Refused(f"the channels of an input of shape `{code(shape)}` cannot be derived", shape)
                return self.size(last.value)
            elements = [element.value for element in shape.elements][1 if batched else 0 :]
            return [None if self.constant(element) is None else self.size(element) for element in elements]
        known = self.constant(self._default(shape))
        if isinstance(known, (tuple, list)):
            rank = len(known) + (0 if batched else 1)
        if isinstance(known, int) and not isinstance(known, bool):
            raise Refused(f"the shape `{code(shape)}` is a number and no tuple", shape)
        text = self.construct(shape)
        offset = 1 if batched else 0
        if rank is None:
            return self._axis(text, -1)
        unknown = [isinstance(known, (tuple, list)) and known[axis + offset] is None for axis in range(rank - 1)]
        return [
            None if unknown[axis] else self._axis(text, -1 if axis == rank - 2 else axis + offset)
            for axis in range(rank - 1)
        ]

    def _axis(self, shape: cst.BaseExpression, index: int) -> Size:

        if isinstance(shape, cst.Subscript) and code(shape).endswith("[1:]"):  # an array's shape without its batch axis
            shape, index = shape.value, index + 1 if index >= 0 else index
        return self.size_of(expression(f"{{shape}}[{index}]", shape=shape))

    def size_of(self, node: cst.BaseExpression) -> Size:
        """An expression that is printed already, as a size."""
        names = {name: self.scope.versions.get(name, 0) for name in reads(node) if name in self.locals}
        return Size(node, None, names)

    def _default(self, shape: cst.BaseExpression) -> cst.BaseExpression:
        """The default of the parameter that gives the shape, for its length alone."""
        for param in self.function.params:
            if isinstance(shape, cst.Name) and param.name.value == shape.value and param.default is not None:
                return param.default
        return shape

    def _without_batch(self, shape: cst.BaseExpression) -> cst.BaseExpression:

        if isinstance(shape, (cst.Tuple, cst.List)):
            return cst.Tuple([element.with_changes() for element in shape.elements[1:]])
        return expression("{shape}[1:]", shape=shape)
