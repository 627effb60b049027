"""What a `for` walks over: configuration, tensors of a list, or both side by side."""

from __future__ import annotations

import libcst as cst

from migrator.rewrite.arguments import code
from migrator.rewrite.models.expressions import Expressions
from migrator.rewrite.models.ir import Bundle, Loop, Refused, Tensor
from migrator.rewrite.models.names_used import target_names
from migrator.rewrite.models.scope import running


class LoopTargets(Expressions):
    """Takes loop headers apart."""

    def loop_of(self, node: cst.For) -> Loop:
        """The loop with its header as `__init__` writes it: lists of channels walk along with lists of tensors."""
        bundles = self.leaves(node.target, node.iter)
        construct_iterable = self._twin_expression(node.iter) if bundles else node.iter
        assert construct_iterable is not None
        tensors = {target.value for target, value in bundles if isinstance(target, cst.Name)}
        target = node.target.visit(_Suffix(tensors)) if tensors else node.target
        assert isinstance(target, cst.BaseAssignTargetExpression)
        names = target_names(node.target) - tensors
        loop = Loop(node, self.construct(construct_iterable), target, outer=self.loops)
        loop.names = frozenset(names | self._config_names(node))
        loop.tensor_items = tuple((target, self.forward(value)) for target, value in bundles)
        return loop

    def _config_names(self, node: cst.For) -> set[str]:
        from migrator.rewrite.models.names_used import binds

        return {name for name in binds(node.body) if not isinstance(self.scope.values.get(name), (Tensor, Bundle))}

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
            self.numbers.bump(self.scope, running(target.value))
            channels = cst.Name(running(target.value)) if work.value.twin else None
            tensor = self.element_of(work.value, channels)
            tensor.depth = len(self.loops) + 1
            tensor.node = work.value.element
            self.scope.values[target.value] = tensor


class _Suffix(cst.CSTTransformer):
    """`skip` becomes `skip_channels`."""

    def __init__(self, names: set[str]) -> None:
        super().__init__()
        self.names = names

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.Name:
        return (
            updated_node.with_changes(value=running(updated_node.value))
            if updated_node.value in self.names
            else updated_node
        )
