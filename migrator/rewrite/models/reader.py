"""One whole function read: a helper with tensor parameters, or a body that builds a model."""

from __future__ import annotations

import libcst as cst

from migrator.rewrite.arguments import code
from migrator.rewrite.models.binding import own_nodes
from migrator.rewrite.models.branches import block_of
from migrator.rewrite.models.collectors import appended_to
from migrator.rewrite.models.effects import mutates
from migrator.rewrite.models.inputs import InputFacts, ModelBody
from migrator.rewrite.models.ir import Bundle, Gather, Line, Refused, Region, Tensor, Value, element
from migrator.rewrite.models.layer_call import NotConstant
from migrator.rewrite.models.names_used import binds, reads
from migrator.rewrite.models.sequential import Sequentials, adds_to
from migrator.rewrite.models.sizes import Size

_OURS = {"F", "nn", "torch", "math", "self", "super"}


class Reader(Sequentials):
    """Reads a function from its first statement to its last."""

    def __init__(self, *args, **kwargs) -> None:  # type: ignore[no-untyped-def]
        super().__init__(*args, **kwargs)
        self.tensors: dict[str, Value] = {}
        self.movable: set[cst.BaseStatement] = set()  # configuration that only the model reads; set by the group
        self.size_names: dict[str, str] = {}
        self._appended = appended_to(self.function.body, self._tensor_like)

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
        self._no_clash()
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
            self.facts.rank(self.key(name), element(value).rank)
        self.check_stored(set())
        return [self.top, *regions]

    def _no_clash(self) -> None:
        """Names that the printed code needs for itself."""
        taken = sorted(self.locals & _OURS)
        if taken:
            raise Refused(f"`{taken[0]}` is a variable here, and the PyTorch code needs that name", self.function.node)

    def _parameters(self) -> None:
        tensors = [param for param in self.function.params if param.name.value in self.function.tensors]
        single = len(tensors) == 1
        for param in tensors:
            name = param.name.value
            listed = self.key(name) in self.facts.bundles
            plain = "in" if single and not listed and not {"in_channels", "in_size"} & self.locals else name
            channels = self._own_name(f"{plain}_channels")
            size = self._own_name(f"{plain}_size")
            self.sizes[name], self.size_names[name] = channels, size
            rank = self.facts.ranks.get(self.key(name))
            if listed:
                bundle = Bundle(Tensor(rank, None, origin=name), None, self.running(name))
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
        self._no_clash()
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
                self.learn(statement)
        found.regions.insert(0, self.top)
        self._check_after(found)
        self.check_stored(set().union(*(mutates(item) for item in found.after)))
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
            grown = [place for place, statement in enumerate(body) if place > index and adds_to(statement, target)]
            if grown:
                return target, grown[-1]
        return None, index

    def learn(self, statement: cst.BaseStatement) -> None:
        """What a statement outside the class settles: constants, also behind a condition that the source decides."""
        if isinstance(statement, cst.If) and not isinstance(known := self.constant(statement.test), NotConstant):
            orelse = statement.orelse
            if not known and isinstance(orelse, cst.If):
                self.learn(orelse)
                return
            live = statement.body if known else orelse.body if isinstance(orelse, cst.Else) else None
            for inner in block_of(live) if live is not None else ():
                self.learn(inner)
            return
        value = self.known_value(statement)
        for name in binds(statement) | mutates(statement):
            self.outside.add(name)
            self.numbers.constants.pop((name, 0), None)
            if value is not None:
                self.numbers.constants[(name, 0)] = value

    def _belongs(self, statement: cst.BaseStatement, found: ModelBody, sequential: str | None) -> bool:
        """Whether a statement goes into the class. Configuration does once tensor work has begun."""
        if self._makes_model(statement) or self.has_work(statement):
            return True
        if sequential is not None and adds_to(statement, sequential):
            return True
        if not found.inside:
            return self.function.kind == "factory" and self._moves(statement)
        if self.function.kind == "script":
            return False
        if not isinstance(statement, cst.SimpleStatementLine) or not isinstance(statement.body[0], cst.Expr):
            return True
        inside = set().union(*(binds(item) for item in found.inside))
        return bool(reads(statement) & inside or mutates(statement))

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

    def _check_after(self, found: ModelBody) -> None:
        tensors = {name for name, value in self.scope.values.items() if isinstance(value, (Tensor, Bundle))}
        for statement in found.after:
            for name in reads(statement) & tensors:
                raise Refused(f"`{name}`, a tensor of the model, is used again after the model is built", statement)


def without_docstring(
    body: list[cst.BaseStatement],
) -> tuple[list[cst.BaseStatement], cst.SimpleStatementLine | None]:
    """The statements after the docstring, and the docstring."""
    first = body[0] if body else None
    if isinstance(first, cst.SimpleStatementLine) and isinstance(first.body[0], cst.Expr):
        text = isinstance(first.body[0].value, (cst.SimpleString, cst.ConcatenatedString))
        return (body[1:], first) if text else (body, None)
    return body, None


def _is_value_of(line: cst.SimpleStatementLine, call: cst.Call) -> bool:
    return len(line.body) == 1 and getattr(line.body[0], "value", None) is call


def _single_target(line: cst.SimpleStatementLine) -> str | None:
    small = line.body[0]
    if isinstance(small, cst.Assign) and len(small.targets) == 1 and isinstance(small.targets[0].target, cst.Name):
        return small.targets[0].target.value
    return None
