"""Expressions that yield tensors: layers applied, helpers called, tensors merged, picked and collected."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import libcst as cst

from migrator.facts import Rule
from migrator.rewrite.arguments import Refusal, bind, code
from migrator.rewrite.builders import builder
from migrator.rewrite.models.ir import Apply, Bundle, Gather, Layer, Make, Read, Refused, Step, Tensor, Work
from migrator.rewrite.models.layer_call import LayerCall
from migrator.rewrite.models.lists import Lists
from migrator.rewrite.models.names_used import read_nodes
from migrator.rewrite.models.naming import hints_of
from migrator.rewrite.models.scope import Pending

# arguments that every Keras layer takes and no rule needs to name
_BASE_HARMLESS = {"name"}
_SHAPE_ARGUMENTS = {"input_shape", "batch_input_shape", "input_dim", "input_length"}


class Expressions(Lists):
    """Reads expressions; what must be constructed is noted in the current line on the way, in Python's order."""

    def is_work(self, node: cst.BaseExpression) -> bool:
        """Whether the expression yields a tensor, a list of tensors, or a layer applied."""
        if isinstance(node, cst.Name):
            return isinstance(self.scope.values.get(node.value), (Tensor, Bundle))
        if isinstance(node, (cst.List, cst.Tuple)):
            return any(self.is_work(element.value) for element in node.elements)
        if isinstance(node, cst.Subscript):
            return self.is_work(node.value) and self.shape(node.value) is None
        if isinstance(node, cst.BinaryOperation):
            return self.is_work(node.left) or self.is_work(node.right)
        if isinstance(node, cst.IfExp):
            return self.is_work(node.body) or self.is_work(node.orelse)
        return isinstance(node, cst.Call) and self._is_work_call(node)

    def _is_work_call(self, node: cst.Call) -> bool:
        func = node.func
        if self.shape(node) is not None:
            return False
        if isinstance(func, cst.Call):
            return self.names.is_layer(func.func) or self._is_work_call(func)
        if isinstance(func, cst.Name) and isinstance(self.scope.values.get(func.value), Pending):
            return True
        if isinstance(func, cst.Attribute) and self.is_work(func.value):
            return True
        if self.names.is_merge(func) or self.helper(node) is not None:
            return True
        named = isinstance(func, cst.Name) and func.value in ("reversed", "list", "tuple", "len", "zip", "enumerate")
        if named and isinstance(func, cst.Name) and func.value in ("len", "zip", "enumerate"):
            return False
        return any(self.is_work(argument.value) for argument in node.args)

    def work(self, node: cst.BaseExpression) -> Work:
        """The expression as tensor work. Raises Refused where it is none that is understood."""
        if isinstance(node, cst.Name):
            value = self.scope.values.get(node.value)
            if isinstance(value, (Tensor, Bundle)):
                return Read(node.value, value)
        if isinstance(node, (cst.List, cst.Tuple)):
            return self._gather(node)
        if isinstance(node, cst.Subscript):
            return self._pick_subscript(node)
        if isinstance(node, cst.BinaryOperation):
            return self._operator(node)
        if isinstance(node, cst.Call):
            return self._call(node)
        raise Refused(f"`{code(node)}` is no tensor work that is understood", node)

    # ------------------------------------------------------------ calls

    def _call(self, node: cst.Call) -> Work:
        func = node.func
        if isinstance(func, cst.Call) and self.names.is_layer(func.func):
            pending = self.pending(func, ())
            return self.apply(pending, node)
        if isinstance(func, cst.Name):
            value = self.scope.values.get(func.value)
            if isinstance(value, Pending):
                return self.apply(value, node)
        if self.names.is_merge(func):
            return self._merge_function(node)
        if self.helper(node) is not None:
            return self.invoke(node)
        if isinstance(func, cst.Attribute) and func.attr.value == "pop" and self.is_work(func.value):
            return self._pop(node, func)
        if isinstance(func, cst.Name) and func.value in ("reversed", "list", "tuple") and len(node.args) == 1:
            return self._reorder(node)
        activation = self._activation_function(node)
        if activation is not None:
            return activation
        raise Refused(
            f"`{code(func)}` is given a tensor while the model is built and has no translation there yet", node
        )

    def pending(self, call: cst.Call, hints: tuple[str, ...]) -> Pending:
        """A layer being made at this place of the current line."""
        found = Pending(call, self.line, len(self.line.events), dict(self.scope.versions), (*hints_of(call), *hints))
        make = Make(Layer(call, None, "", found.hints, self.loops))
        self.line.events.append(make)
        found.layer = make.layer
        return found

    def apply(self, pending: Pending, node: cst.Call) -> Work:
        """A layer applied to the arguments of `node`."""
        operands = [self._argument(argument, node) for argument in node.args if not self._harmless(argument)]
        if len(operands) != 1:
            raise Refused("a layer is called with several arguments", node)
        return self.applied(pending, operands[0], node)

    def applied(self, pending: Pending, operand: Work, node: cst.CSTNode) -> Work:
        """A layer applied to work already read; it is constructed at its first application."""
        layer = pending.layer
        assert layer is not None
        rule = self.names.rule(pending.call.func)
        if rule is None or (rule.build is None and rule.torch is None):
            raise Refused(f"there is no rule for {self.names.api(pending.call.func)} yet", pending.call, "no_rule")
        if pending.step is None:
            pending.step = self.step(rule, stripped(pending.call), operand, pending.call)
            self._place(pending, pending.step)
        elif layer.make is not None:
            layer.uses += 1
            again = self.step(rule, stripped(pending.call), operand, pending.call)
            if again.make is None or code(again.make) != code(layer.make):
                raise Refused("a layer is applied to tensors of different sizes", node)
            return self.result(again, layer, operand)
        return self.result(pending.step, layer if pending.step.make is not None else None, operand)

    def _place(self, pending: Pending, step: Step) -> None:
        """Keeps the layer where its construction stood, or after its operands where it needs a size of theirs."""
        layer = pending.layer
        assert layer is not None
        event = next(item for item in pending.line.events if isinstance(item, Make) and item.layer is layer)
        if step.make is None:
            pending.line.events.remove(event)
            return
        layer.make, layer.short, layer.uses = step.make, step.short, 1
        layer.differences, layer.penalty = step.differences, step.penalty
        stale = [
            name.value
            for name in read_nodes(step.make)
            if name.value in self.scope.versions
            and pending.versions.get(name.value, 0) != self.scope.versions[name.value]
        ]
        if stale:
            if pending.line is not self.line:
                raise Refused(
                    f"`{stale[0]}` changes between where a layer is made and where it is applied", pending.call
                )
            pending.line.events.remove(event)
            pending.line.events.append(event)

    def step(self, rule: Rule, call: cst.Call, operand: Work, node: cst.CSTNode) -> Step:
        """What the rule's builder or template makes of the layer on this operand."""
        bound = bind(rule, call)
        if isinstance(bound, Refusal):
            raise Refused(bound.reason, node, rule.id)
        value = operand.value
        if isinstance(value, Bundle):
            items = value.items
            twin = None if isinstance(operand, Gather) else value.twin
            if items is None and twin is None:
                raise Refused("the channels of a list of tensors cannot be derived", node, rule.id)
            operands: Sequence[Tensor] = self._at_hand(items) if items else [value.element]
        else:
            operands, twin = self._at_hand([value]), None
        layer_call = LayerCall(rule, bound, self.around, operands, node, twin)
        if rule.build is not None:
            return builder(rule.build)(layer_call)
        assert rule.torch is not None
        parts = {name: layer_call.raw(name) for name in bound.given}
        template = rule.torch.replace("{x}", "{x0}") if isinstance(value, Bundle) else rule.torch
        return layer_call.finish(Step(template, template, parts=parts, activation=rule.id))

    def _at_hand(self, tensors: Sequence[Tensor]) -> list[Tensor]:
        """Copies whose sizes can be written here; ranks settled on them settle the originals."""
        found = []
        for tensor in tensors:
            spatial = None if tensor.spatial is None else tuple(self.current(size) for size in tensor.spatial)
            found.append(replace(tensor, channels=self.current(tensor.channels), spatial=spatial, like=tensor))
        return found

    def result(self, step: Step, layer: Layer | None, operand: Work) -> Apply:
        """The work of a step on an operand, with the tensor that it yields."""
        value = operand.value
        many = isinstance(value, Bundle)
        first = value.element if isinstance(value, Bundle) else value
        if isinstance(value, Bundle) and isinstance(operand, Gather):
            first = value.items[0] if value.items else first
        keeps = step.keeps
        tensor = Tensor(
            rank=step.rank or (first.rank if "rank" in keeps else None),
            channels=step.channels or (first.channels if "channels" in keeps else None),
            spatial=step.spatial if step.spatial is not None else (first.spatial if "spatial" in keeps else None),
            like=first if "rank" in keeps and step.rank is None else None,
            activation=step.activation,
            fixed=step.wants if (step.rank or first.rank or 2) > 2 else None,
            depth=len(self.loops),
        )
        parts = {name: self.forward(part) for name, part in step.parts.items()}
        operands = operand.items if isinstance(operand, Gather) and not layer_takes_list(step) else (operand,)
        return Apply(replace(step, parts=parts), layer, tuple(operands), tensor, many)

    def _merge_function(self, node: cst.Call) -> Work:
        """`layers.add([a, b])`: the layer of the same name, made and applied at once."""
        rule = self.names.rule(node.func)
        if rule is None or rule.family != "layer":
            raise Refused(f"there is no rule for {self.names.api(node.func)} yet", node, "no_rule")
        inputs = [arg for arg in node.args if arg.keyword is None or arg.keyword.value == "inputs"][:1]
        if not inputs:
            raise Refused("a merge is given no tensors", node)
        rest = [arg for arg in node.args if arg is not inputs[0]]
        if rest and rest[0].keyword is None:
            raise Refused("a merge is called with several positional arguments", node)
        operand = self.work(inputs[0].value)
        step = self.step(rule, stripped(cst.Call(func=node.func, args=rest)), operand, node)
        return self.result(step, None, operand)

    def _activation_function(self, node: cst.Call) -> Apply | None:
        """`tf.nn.relu(x)` and its like."""
        api = self.names.api(node.func)
        if api is None or not node.args or node.args[0].keyword is not None:
            return None
        from migrator.rewrite.models.activations import activation_code

        found = activation_code(api, self.function.keras)
        extra = [arg for arg in node.args[1:] if arg.keyword is None or arg.keyword.value != "name"]
        if found is None or extra:
            return None
        operand = self.work(node.args[0].value)
        first, last, label = found
        step = Step(first.replace("{y}", "{x}"), last.replace("{y}", "{x}"), activation=label)
        return self.result(step, None, operand)

    def _argument(self, argument: cst.Arg, node: cst.Call) -> Work:
        if argument.star or (argument.keyword is not None and argument.keyword.value != "inputs"):
            raise Refused(f"a layer is called with `{code(argument).rstrip(', ')}`", node)
        return self.work(argument.value)

    def _harmless(self, argument: cst.Arg) -> bool:
        """`training=None` changes nothing."""
        return (
            argument.keyword is not None
            and argument.keyword.value in ("training", "mask")
            and self.constant(argument.value) is None
        )


def layer_takes_list(step: Step) -> bool:
    """Whether the template takes its operands as one list."""
    return "{xs}" in step.first


def stripped(call: cst.Call) -> cst.Call:
    """The call without the arguments that every Keras layer takes and that the analysis sees to by itself."""
    kept = []
    for argument in call.args:
        name = argument.keyword.value if argument.keyword else None
        if name in _BASE_HARMLESS or name in _SHAPE_ARGUMENTS:
            continue
        if name == "dtype" and code(argument.value).strip("'\"") in ("float32", "None"):
            continue
        if name == "trainable" and code(argument.value) == "True":
            continue
        kept.append(argument)
    return call.with_changes(args=kept)
