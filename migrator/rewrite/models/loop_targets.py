"""What a `for` walks over: configuration, tensors of a list, or both side by side."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from migrator.rewrite.arguments import code
from migrator.rewrite.models.effects import mutates
from migrator.rewrite.models.expressions import Expressions
from migrator.rewrite.models.ir import Bundle, Loop, Refused, Tensor
from migrator.rewrite.models.names_used import binds, target_names


class LoopTargets(Expressions):
    """Takes loop headers apart."""

    def loop_of(self, node: cst.For) -> Loop:
        """The loop with its header as `__init__` writes it: lists of channels walk along with lists of tensors."""
        bundles = self.leaves(node.target, node.iter)
        construct_iterable = self._twin_expression(node.iter) if bundles else node.iter
        assert construct_iterable is not None
        tensors = {target.value for target, value in bundles if isinstance(target, cst.Name)}
        target = node.target.visit(_Suffix({name: self.running(name) for name in tensors})) if tensors else node.target
        assert isinstance(target, cst.BaseAssignTargetExpression)
        loop = Loop(node, self.construct(construct_iterable), target, outer=self.loops)
        loop.targets = frozenset(target_names(node.target) - tensors)
        loop.names = frozenset(self._config_names(node))
        loop.tensor_items = tuple((target, self.forward(value)) for target, value in bundles)
        return loop

    def _config_names(self, node: cst.For) -> set[str]:
        names = binds(node.body) | mutates(node.body)
        return {name for name in names if not isinstance(self.scope.values.get(name), (Tensor, Bundle))}

    def leaves(
        self, target: cst.BaseExpression, iterable: cst.BaseExpression
    ) -> list[tuple[cst.BaseAssignTargetExpression, cst.BaseExpression]]:
        """The parts of the header that walk over tensors: each target with its list."""
        if isinstance(iterable, cst.Call) and isinstance(iterable.func, cst.Name):
            name = iterable.func.value
            if (
                name == "zip"
                and isinstance(target, (cst.Tuple, cst.List))
                and len(target.elements) == len(iterable.args)
            ):
                return [
                    leaf
                    for element, argument in zip(target.elements, iterable.args, strict=True)
                    for leaf in self.leaves(element.value, argument.value)
                ]
            if name == "enumerate" and isinstance(target, (cst.Tuple, cst.List)) and len(target.elements) == 2:
                return self.leaves(target.elements[1].value, iterable.args[0].value)
        if not self.is_work(iterable):
            return []
        if not isinstance(target, cst.Name):
            raise Refused(f"`{code(target)}` takes tensors apart in a loop", target)
        return [(target, iterable)]

    def bind_targets(self, loop: Loop, node: cst.For) -> None:
        """The loop's variables inside the body."""
        for name in target_names(node.target):
            self.scope.values.pop(name, None)
        for target, value in self.leaves(node.target, node.iter):
            work = self.work(value)
            if not isinstance(work.value, Bundle):
                raise Refused(f"`{code(value)}` is a tensor and is walked over", node)
            assert isinstance(target, cst.Name)
            self.numbers.bump(self.scope, self.running(target.value))
            channels = cst.Name(self.running(target.value)) if work.value.twin else None
            tensor = self.element_of(work.value, channels)
            tensor.depth = len(self.loops) + 1
            tensor.node = work.value.element
            self.scope.values[target.value] = tensor


class _Suffix(cst.CSTTransformer):
    """`skip` becomes `skip_channels`."""

    def __init__(self, names: Mapping[str, str]) -> None:
        super().__init__()
        self.names = names

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        return updated_node.with_changes(value=self.names.get(updated_node.value, updated_node.value))
