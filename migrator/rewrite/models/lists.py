"""Lists of tensors, elements of them, and operators between tensors."""

from __future__ import annotations

from dataclasses import replace

import libcst as cst

from migrator.rewrite.arguments import code
from migrator.rewrite.models.helpers import HelperCall
from migrator.rewrite.models.ir import Apply, Bundle, Gather, Layer, Pick, Refused, Step, Tensor, Track, Work
from migrator.rewrite.models.names_used import read_nodes
from migrator.rewrite.models.naming import singular

_OPERATORS: dict[type[cst.BaseBinaryOp], str] = {cst.Add: "+", cst.Subtract: "-", cst.Multiply: "*", cst.Divide: "/"}


class Lists(HelperCall):
    """Reads displays, subscripts and operators."""

    def is_work(self, node: cst.BaseExpression) -> bool:
        """Given by `Expressions`."""
        raise NotImplementedError

    def result(self, step: Step, layer: Layer | None, operand: Work) -> Apply:
        """Given by `Expressions`."""
        raise NotImplementedError

    def _gather(self, node: cst.List | cst.Tuple) -> Gather:
        if any(isinstance(element, cst.StarredElement) for element in node.elements):
            raise Refused("a list of tensors is unpacked with a star", node)
        items = tuple(self.work(element.value) for element in node.elements)
        tensors = tuple(item.value for item in items)
        if not all(isinstance(tensor, Tensor) for tensor in tensors):
            raise Refused("a list of lists of tensors is not handled yet", node)
        bundle = self.bundle(tuple(tensor for tensor in tensors if isinstance(tensor, Tensor)))
        return Gather(items, bundle, "[" if isinstance(node, cst.List) else "(")

    def bundle(self, items: tuple[Tensor, ...]) -> Bundle:
        """A list of tensors with the element that stands for all."""
        first = items[0] if items else None
        element = Tensor(first.rank if first else None, None, None, like=first, depth=len(self.loops))
        return Bundle(element, items)

    def _pick_subscript(self, node: cst.Subscript) -> Pick:
        source = self.work(node.value)
        if not isinstance(source.value, Bundle) or len(node.slice) != 1:
            raise Refused(f"slicing a tensor (`{code(node)}`) is not handled yet", node)
        place = node.slice[0].slice
        if not isinstance(place, cst.Index):
            return self._reorder(node)
        index = self.constant(place.value)
        items = source.value.items
        if items is not None and isinstance(index, int) and -len(items) <= index < len(items):
            chosen = items[index]
            tensor = replace(chosen, like=chosen, fixed=None, depth=len(self.loops))
        else:
            tensor = self.element_of(source.value, self._twin_expression(node))
        return Pick(self._pick_code(node), self._like_element(tensor, source.value))

    def _reorder(self, node: cst.BaseExpression) -> Pick:
        """`skips[::-1]`, `reversed(skips)`: the same tensors in another order; the list of channels follows."""
        inner = node.args[0].value if isinstance(node, cst.Call) else node.value  # type: ignore[attr-defined]
        source = self.work(inner)
        if not isinstance(source.value, Bundle):
            raise Refused(f"`{code(node)}` is no tensor work that is understood", node)
        twin = self._twin_expression(node)
        return Pick(self._pick_code(node), Bundle(source.value.element, None, None if twin is None else code(twin)))

    def _pop(self, node: cst.Call, func: cst.Attribute) -> Pick:
        source = self.work(func.value)
        if not isinstance(source.value, Bundle) or not isinstance(func.value, cst.Name) or source.value.twin is None:
            raise Refused(f"`{code(node)}` is no tensor work that is understood", node)
        source.value.items = None
        name = self.popped(func.value.value, self._twin_expression(node))
        return Pick(
            self._pick_code(node), self._like_element(self.element_of(source.value, cst.Name(name)), source.value)
        )

    def popped(self, bundle: str, value: cst.BaseExpression | None) -> str:
        """Takes the channels off the twin list exactly once, into a name of their own."""
        name = self.running(singular(bundle))
        assert value is not None
        self.line.events.append(Track(name, value, effect=self.running(bundle)))
        self.numbers.bump(self.scope, name)
        return name

    def _like_element(self, tensor: Tensor, bundle: Bundle) -> Tensor:
        tensor.node = bundle.element
        return tensor

    def element_of(self, bundle: Bundle, channels: cst.BaseExpression | None) -> Tensor:
        """One tensor of a bundle, its channels read from the list beside it."""
        size = None if channels is None or bundle.twin is None else self.size(channels)
        return Tensor(bundle.element.rank, size, None, like=bundle.element, depth=len(self.loops))

    def _twin_expression(self, node: cst.BaseExpression) -> cst.BaseExpression | None:
        """The same expression on the lists of channels."""
        names = {
            name.value: cst.Name(self.running(name.value))
            for name in read_nodes(node)
            if isinstance(self.scope.values.get(name.value), Bundle)
        }
        return self.renamed(node, names)

    def _pick_code(self, node: cst.BaseExpression) -> cst.BaseExpression:
        return self.forward_pick(node)

    def _operator(self, node: cst.BinaryOperation) -> Work:
        symbol = _OPERATORS.get(type(node.operator))
        if symbol is None:
            raise Refused(f"the operator in `{code(node)}` is not handled on tensors yet", node)
        sides = [self.work(side) if self.is_work(side) else None for side in (node.left, node.right)]
        works = tuple(side for side in sides if side is not None)
        if not works:
            raise Refused(f"`{code(node)}` is no tensor, and is handed on together with tensors", node)
        if any(isinstance(work.value, Bundle) for work in works):
            raise Refused("lists of tensors are joined by an operator, which is not handled yet", node)
        if len({work.value.rank for work in works if isinstance(work.value, Tensor)}) > 1:
            raise Refused("tensors of different ranks are combined", node)
        if len(works) == 2:
            step = Step(f"{{x0}} {symbol} {{x1}}", f"{{x0}} {symbol} {{x1}}")
            wide = max(works, key=lambda work: _channels(work))
            result = self.result(step, None, wide)
            return Apply(step, None, works, result.value, True)
        other = node.right if sides[0] is not None else node.left
        template = f"{{x}} {symbol} {{c}}" if sides[0] is not None else f"{{c}} {symbol} {{x}}"
        return self.result(Step(template, template, parts={"c": other}), None, works[0])


def _channels(work: Work) -> int:
    """Orders operands so that a broadcast one comes last."""
    value = work.value
    return 0 if isinstance(value, Tensor) and value.channels is not None and value.channels.value == 1 else 1
