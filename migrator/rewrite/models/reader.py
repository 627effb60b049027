"""One whole function read: a helper with tensor parameters, or a body that builds a model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import libcst as cst

from migrator.rewrite.arguments import code
from migrator.rewrite.models.binding import own_nodes
from migrator.rewrite.models.ir import Bundle, Gather, Line, Read, Refused, Region, Tensor, Value
from migrator.rewrite.models.joins import Joins
from migrator.rewrite.models.names_used import binds, reads, target_names
from migrator.rewrite.models.scope import running
from migrator.rewrite.models.sizes import Size
from migrator.rewrite.models.text import lines_before


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


class Reader(Joins):
    """Reads a function from its first statement to its last."""

    def __init__(self, *args, **kwargs) -> None:  # type: ignore[no-untyped-def]
        super().__init__(*args, **kwargs)
        self.tensors: dict[str, Value] = {}
        self.movable: set[cst.BaseStatement] = set()  # configuration that only the model reads; set by the group
        self.size_names: dict[str, str] = {}
        self._appended = _appended_to(self.function.body, self._tensor_like)

    def _collectors(self) -> set[str]:
        return self._appended

    def _tensor_like(self, node: cst.BaseExpression, tensors: set[str]) -> bool:
        if isinstance(node, cst.Name):
            return node.value in tensors or node.value in self.function.tensors
        if not isinstance(node, cst.Call):
            return False
        if isinstance(node.func, cst.Call):
            return self.names.is_layer(node.func.func)
        if self.names.is_merge(node.func) or self.names.is_input(node.func) or self.helper(node) is not None:
            return True
        return (
            any(self._tensor_like(argument.value, tensors) for argument in node.args)
            and (
                self.names.api(node.func) is not None
                or (isinstance(node.func, cst.Name) and node.func.value in tensors)
            )
        ) or (isinstance(node.func, cst.Name) and bool(node.args) and self._tensor_like(node.args[0].value, tensors))

    # ------------------------------------------------------------ helpers

    def read_helper(self) -> list[Region]:
        """A helper: its tensor parameters become arguments of `forward`, their sizes parameters of `__init__`."""
        if self.function.stars:
            raise Refused(
                f"`{self.function.name}` takes *args or **kwargs, which is not handled yet", self.function.node
            )
        self.line = self.top
        self._parameters()
        body, _ = without_docstring(self.function.body)
        regions = self.block(body)
        if not self.results:
            raise Refused(f"`{self.function.name}` returns no tensor", self.function.node)
        for name, value in self.tensors.items():
            self.facts.rank(self.key(name), _element(value).rank)
        return [self.top, *regions]

    def _parameters(self) -> None:
        tensors = [param for param in self.function.params if param.name.value in self.function.tensors]
        single = len(tensors) == 1
        for param in tensors:
            name = param.name.value
            listed = self.key(name) in self.facts.bundles
            plain = "in" if single and not listed and not {"in_channels", "in_size"} & self.locals else name
            channels, size = f"{plain}_channels", f"{plain}_size"
            self.sizes[name], self.size_names[name] = channels, size
            rank = self.facts.ranks.get(self.key(name))
            if listed:
                bundle = Bundle(Tensor(rank, None, origin=name), None, running(name))
                self.tensors[name] = self.scope.values[name] = bundle
                continue
            tensor = Tensor(rank, Size(cst.Name(channels), None, {channels: 0}), origin=name)
            if rank == 4:
                tensor.spatial = tuple(
                    Size(cst.parse_expression(f"{size}[{axis}]"), None, {size: 0}) for axis in range(2)
                )
            tensor.optional = param.default is not None and code(param.default) == "None"
            self.tensors[name] = tensor
            self.bind_tensor(name, tensor)

    # ------------------------------------------------------------ models

    def read_model(self) -> ModelBody:
        """A body with one `Model(inputs, outputs)` or `Sequential` in it."""
        found = ModelBody()
        body, found.docstring = without_docstring(self.function.body)
        self.line = self.top
        self._model = found
        sequential, last = self._plan(body)
        for index, statement in enumerate(body):
            if index > last:
                found.after.append(statement)
            elif self._belongs(statement, found, sequential):
                found.inside.append(statement)
                found.regions += self._model_statement(statement, found, sequential, index == last)
            else:
                found.before.append(statement)
        found.regions.insert(0, self.top)
        self._check_after(found)
        for given in found.inputs:
            self.facts.rank(self.key(f"input {given.name}"), given.tensor.rank)
        return found

    def _plan(self, body: list[cst.BaseStatement]) -> tuple[str | None, int]:
        """The variable of a model that grows by `.add`, and the index of the statement that completes the model."""
        creations = [
            (index, call)
            for index, statement in enumerate(body)
            for call in own_nodes(statement)
            if isinstance(call, cst.Call) and (self.names.is_model(call.func) or self.names.is_sequential(call.func))
        ]
        if len(creations) != 1:
            raise Refused("several models are built in one place, which is not handled yet", creations[1][1])
        index, call = creations[0]
        line = body[index]
        if not isinstance(line, cst.SimpleStatementLine) or not _is_value_of(line, call):
            raise Refused("the model is built inside another statement", call)
        target = _single_target(line)
        if self.names.is_sequential(call.func) and target is not None:
            grown = [place for place, statement in enumerate(body) if place > index and _adds_to(statement, target)]
            if grown:
                return target, grown[-1]
        return None, index

    def _belongs(self, statement: cst.BaseStatement, found: ModelBody, sequential: str | None) -> bool:
        """Whether a statement goes into the class. Configuration does once tensor work has begun."""
        if self._makes_model(statement) or self.has_work(statement):
            return True
        if sequential is not None and _adds_to(statement, sequential):
            return True
        if not found.inside:
            return self.function.kind == "factory" and self._moves(statement)
        if self.function.kind == "script":
            return False
        if not isinstance(statement, cst.SimpleStatementLine) or not isinstance(statement.body[0], cst.Expr):
            return True
        inside = set().union(*(binds(item) for item in found.inside))
        return bool(reads(statement) & inside)

    def _moves(self, statement: cst.BaseStatement) -> bool:
        """Whether configuration in front of the model is only for the model: then it moves into the class."""
        return bool(binds(statement)) and statement in self.movable

    def _makes_model(self, statement: cst.BaseStatement) -> bool:
        return any(
            isinstance(call, cst.Call)
            and (
                self.names.is_model(call.func) or self.names.is_sequential(call.func) or self.names.is_input(call.func)
            )
            for call in own_nodes(statement)
        )

    def _model_statement(
        self, statement: cst.BaseStatement, found: ModelBody, sequential: str | None, last: bool
    ) -> list[Region]:
        if isinstance(statement, cst.SimpleStatementLine) and len(statement.body) == 1:
            small = statement.body[0]
            value = getattr(small, "value", None)
            if isinstance(value, cst.Call):
                if self.names.is_input(value.func) and isinstance(small, cst.Assign):
                    return self._input(small, value, found, statement)
                if self.names.is_model(value.func):
                    found.creation = statement
                    return self._model_call(value, found, statement)
                if self.names.is_sequential(value.func):
                    found.creation = statement
                    return self._sequential(value, found, sequential, last)
        regions = self.statement(statement)
        if sequential is not None and last:
            regions.append(self._finish_sequential(found))
        return regions

    # ------------------------------------------------------------ inputs

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
        from migrator.rewrite.templates import expression

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
        from migrator.rewrite.templates import expression

        if isinstance(shape, (cst.Tuple, cst.List)):
            return cst.Tuple([element.with_changes() for element in shape.elements[1:]])
        return expression("{shape}[1:]", shape=shape)

    # ------------------------------------------------------------ the functional API

    def _model_call(self, call: cst.Call, found: ModelBody, statement: cst.SimpleStatementLine) -> list[Region]:
        arguments: dict[str, cst.BaseExpression] = {}
        for index, argument in enumerate(call.args):
            keyword = argument.keyword.value if argument.keyword else ("inputs", "outputs", "name")[min(index, 2)]
            keyword = {"input": "inputs", "output": "outputs"}.get(keyword, keyword)
            if argument.star or keyword not in ("inputs", "outputs", "name", "trainable"):
                raise Refused(f"`Model` is given `{code(argument).rstrip(', ')}`, which is not handled yet", call)
            arguments[keyword] = argument.value
        if "inputs" not in arguments or "outputs" not in arguments:
            raise Refused("`Model` needs inputs and outputs", call)
        self._order_inputs(arguments["inputs"], found)
        name = self.constant(arguments["name"]) if "name" in arguments else None
        found.model_name = name if isinstance(name, str) else None
        self.line = Line(statement)
        outputs = arguments["outputs"]
        if isinstance(outputs, cst.Dict) or isinstance(arguments["inputs"], cst.Dict):
            raise Refused("inputs or outputs in a dictionary are not handled yet", call)
        work = self.work(outputs)
        if isinstance(work, Gather) and len(work.items) == 1:
            work = work.items[0]
        if isinstance(work.value, Bundle) and work.value.items is None:
            raise Refused("the outputs are a list whose length is not known", call)
        found.outputs = list(work.value.items or ()) if isinstance(work.value, Bundle) else [work.value]
        self.line.work, self.line.returned = work, True
        return [self.line]

    def _order_inputs(self, node: cst.BaseExpression, found: ModelBody) -> None:
        names = [element.value for element in node.elements] if isinstance(node, (cst.List, cst.Tuple)) else [node]
        by_name = {given.name: given for given in found.inputs}
        order: list[InputFacts] = []
        for name in names:
            if not isinstance(name, cst.Name) or name.value not in by_name:
                raise Refused(f"`Model` takes `{code(name)}`, which is no `Input` made here", node)
            order.append(by_name[name.value])
        if len(order) != len(found.inputs):
            raise Refused("an `Input` is made that is not among the model's inputs", node)
        found.inputs = order

    # ------------------------------------------------------------ Sequential

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
            from migrator.rewrite.models.scope import Pending

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
        grown = getattr(self, "_grown", None)
        if isinstance(func, cst.Attribute) and func.attr.value == "add" and isinstance(func.value, cst.Name):
            if grown is not None and func.value.value == grown and len(call.args) == 1:
                return self.add(call.args[0].value)
        return super()._effect(call)

    def bound_by(self, node: cst.CSTNode) -> set[str]:
        grown = getattr(self, "_grown", None)
        return super().bound_by(node) | ({self._variable} if grown is not None and _adds_to(node, grown) else set())

    def has_work(self, node: cst.CSTNode) -> bool:
        grown = getattr(self, "_grown", None)
        if isinstance(node, cst.Name) and grown is not None and node.value == grown:
            return True
        return super().has_work(node)

    def _free_name(self, wishes: tuple[str, ...]) -> str:
        return next((name for name in wishes if name not in self.locals), "sequence")

    def _check_after(self, found: ModelBody) -> None:
        tensors = {name for name, value in self.scope.values.items() if isinstance(value, (Tensor, Bundle))}
        for statement in found.after:
            for name in reads(statement) & tensors:
                raise Refused(f"`{name}`, a tensor of the model, is used again after the model is built", statement)


def _element(value: Value) -> Tensor:
    return value.element if isinstance(value, Bundle) else value


def without_docstring(
    body: list[cst.BaseStatement],
) -> tuple[list[cst.BaseStatement], cst.SimpleStatementLine | None]:
    """The statements after the docstring, and the docstring."""
    first = body[0] if body else None
    if isinstance(first, cst.SimpleStatementLine) and isinstance(first.body[0], cst.Expr):
        if isinstance(first.body[0].value, (cst.SimpleString, cst.ConcatenatedString)):
            return body[1:], first
    return body, None


def _is_value_of(line: cst.SimpleStatementLine, call: cst.Call) -> bool:
    return len(line.body) == 1 and getattr(line.body[0], "value", None) is call


def _single_target(line: cst.SimpleStatementLine) -> str | None:
    small = line.body[0]
    if isinstance(small, cst.Assign) and len(small.targets) == 1 and isinstance(small.targets[0].target, cst.Name):
        return small.targets[0].target.value
    return None


def _adds_to(statement: cst.CSTNode, name: str) -> bool:
    return any(
        isinstance(node, cst.Call)
        and isinstance(node.func, cst.Attribute)
        and node.func.attr.value == "add"
        and isinstance(node.func.value, cst.Name)
        and node.func.value.value == name
        for node in own_nodes(statement)
    )


def _appended_to(
    body: list[cst.BaseStatement], tensor_like: Callable[[cst.BaseExpression, set[str]], bool]
) -> set[str]:
    """Names of lists that tensors are appended to, judged by what is assigned to what anywhere in the body."""
    tensors: set[str] = set()
    nodes = [node for statement in body for node in own_nodes(statement)]
    for _ in range(3):
        for node in nodes:
            if isinstance(node, cst.Assign) and tensor_like(node.value, tensors):
                for target in node.targets:
                    tensors |= target_names(target.target)
    found: set[str] = set()
    for node in nodes:
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Attribute) and len(node.args) == 1:
            if node.func.attr.value == "append" and isinstance(node.func.value, cst.Name):
                if tensor_like(node.args[0].value, tensors):
                    found.add(node.func.value.value)
        if isinstance(node, cst.AugAssign) and isinstance(node.value, cst.List):
            if any(tensor_like(element.value, tensors) for element in node.value.elements):
                found |= target_names(node.target)
    return found
