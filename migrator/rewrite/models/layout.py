"""Which tensors run channels-first: the cheapest assignment, found as a minimum cut.

Every tensor of rank 3 to 5 is a node. Convolutions, pooling and spatial normalisation pull towards channels-first,
inputs, results, Flatten and Dense towards the source's order; everything between costs one `permute` where its two ends
differ, ten times more for every loop around it. With two labels that is a minimum cut, which is exact. Where several
cuts are equally cheap the latest one is taken, so that indifferent operations stay with the convolution before them.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence

from migrator.rewrite.models.ir import (
    Apply,
    Bundle,
    Gather,
    Invoke,
    Line,
    Region,
    Settle,
    Tensor,
    Value,
    Work,
    element,
    walk,
)

_NEVER = 10**12
_FIRST, _LAST = "first", "last"
Node = Tensor | str


class _Graph:
    """Capacities between nodes; undirected edges have them both ways."""

    def __init__(self) -> None:
        self.capacity: dict[Node, dict[Node, int]] = defaultdict(lambda: defaultdict(int))

    def tie(self, one: Node, other: Node, cost: int) -> None:
        """What it costs where the two ends differ."""
        if one is not other:
            self.capacity[one][other] += cost
            self.capacity[other][one] += cost

    def last_side(self) -> set[Node]:
        """The nodes that end up in the source's order, as few as possible. Edmonds-Karp."""
        while (path := self._path()) is not None:
            flow = min(self.capacity[one][other] for one, other in path)
            for one, other in path:
                self.capacity[one][other] -= flow
                self.capacity[other][one] += flow
        return self._reaching_last()

    def _path(self) -> list[tuple[Node, Node]] | None:
        parents: dict[Node, Node] = {_FIRST: _FIRST}
        queue: deque[Node] = deque([_FIRST])
        while queue:
            node = queue.popleft()
            if node == _LAST:
                path: list[tuple[Node, Node]] = []
                while node != _FIRST:
                    path.append((parents[node], node))
                    node = parents[node]
                return path
            for other, left in self.capacity[node].items():
                if left > 0 and other not in parents:
                    parents[other] = node
                    queue.append(other)
        return None

    def _reaching_last(self) -> set[Node]:
        found: set[Node] = {_LAST}
        queue: deque[Node] = deque([_LAST])
        while queue:
            node = queue.popleft()
            for other in list(self.capacity[node]):
                if other not in found and self.capacity[other][node] > 0:
                    found.add(other)
                    queue.append(other)
        return found


def solve(bodies: Iterable[tuple[Sequence[Region], Sequence[tuple[Value, Tensor | None]]]]) -> None:
    """Fills in `layout` of every tensor of a dependency group.

    Each body comes with its results: the value and the helper's result tensor, None for a model's outputs, which keep
    the source's order.
    """
    graph = _Graph()
    tensors: dict[int, Tensor] = {}

    def node(tensor: Tensor) -> Tensor:
        shared = tensor.shared
        if id(shared) not in tensors:
            tensors[id(shared)] = shared
            if shared.fixed is not None:
                graph.tie(shared, _FIRST if shared.fixed == "first" else _LAST, _NEVER)
        return shared

    for regions, results in bodies:
        for one, other, cost in _edges(regions, results):
            if _in_question(one):
                if isinstance(other, Tensor) and _in_question(other):
                    graph.tie(node(one), node(other), cost)
                elif isinstance(other, str):
                    graph.tie(node(one), other, cost)
                else:
                    graph.tie(node(one), _LAST, cost)
            elif one.rank is None and isinstance(other, Tensor) and _in_question(other):
                graph.tie(node(other), _LAST, cost)
        for tensor in _tensors(regions):
            if _in_question(tensor):
                node(tensor)
    last = graph.last_side()
    for tensor in tensors.values():
        tensor.layout = "last" if tensor in last else "first"


def _tensors(regions: Sequence[Region]) -> Iterator[Tensor]:
    """Every tensor that a region yields, whether or not it is tied to another."""
    for region in walk(regions):
        if isinstance(region, Settle):
            yield from (region.source, region.result)
        elif isinstance(region, Line) and region.work is not None:
            yield from _yielded(region.work)
            if isinstance(region.value, Tensor):
                yield region.value


def _yielded(work: Work) -> Iterator[Tensor]:
    yield element(work.value)
    if isinstance(work, Apply):
        for operand in work.operands:
            yield from _yielded(operand)
    elif isinstance(work, Invoke):
        for _, operand, parameter in work.operands:
            yield parameter
            yield from _yielded(operand)
    elif isinstance(work, Gather):
        for item in work.items:
            yield from _yielded(item)


def _in_question(tensor: Tensor) -> bool:
    return tensor.rank is not None and tensor.rank > 2


Edge = tuple[Tensor, Tensor | str, int]


def _edges(regions: Sequence[Region], results: Sequence[tuple[Value, Tensor | None]]) -> Iterator[Edge]:
    for region in walk(regions):
        if isinstance(region, Settle):
            yield region.source, region.result, _cost(region.result)
        elif isinstance(region, Line) and region.work is not None:
            yield from _of_work(region.work)
            value = region.work.value
            if isinstance(region.value, Tensor) and isinstance(value, Tensor) and region.value is not value:
                yield value, region.value, _cost(region.value)
            elif isinstance(region.value, Bundle) and isinstance(value, Tensor):
                yield value, region.value.element, _cost(value)
    for value, result in results:
        tensor = value.element if isinstance(value, Bundle) else value
        yield tensor, _LAST if result is None else result, _cost(tensor)


def _of_work(work: Work) -> Iterator[Edge]:
    if isinstance(work, Apply):
        for operand in work.operands:
            yield from _of_work(operand)
            tensor = element(operand.value)
            if work.step.wants is not None:
                yield tensor, work.step.wants, _cost(work.value)
            elif _in_question(work.value):
                yield tensor, work.value, _cost(work.value)
            elif len(work.operands) > 1:
                yield tensor, element(work.operands[0].value), _cost(work.value)
    elif isinstance(work, Invoke):
        for _, operand, parameter in work.operands:
            yield from _of_work(operand)
            yield element(operand.value), parameter, 10 ** len(work.layer.loops)
    elif isinstance(work, Gather):
        for item in work.items:
            yield from _of_work(item)
            if isinstance(item.value, Tensor):
                yield item.value, work.value.element, _cost(work.value.element)


def _cost(tensor: Tensor) -> int:
    return int(10**tensor.depth)
