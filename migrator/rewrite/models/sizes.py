"""Sizes as they are known when a module is built: numbers, or expressions of names that live in `__init__`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import libcst as cst

from migrator.rewrite.arguments import code
from migrator.rewrite.templates import expression


@dataclass(frozen=True)
class Size:
    """A number of channels or of positions along an axis.

    `reads` are the construction-time names in `expr`, each with the version it had; once a name has been assigned
    again the expression is stale and `fallback` (the running variable of the tensor) is asked instead.
    """

    expr: cst.BaseExpression
    value: int | None = None
    reads: Mapping[str, int] = field(default_factory=dict)
    fallback: Size | None = None

    @property
    def text(self) -> str:
        """The expression as source."""
        return code(self.expr)

    def at(self, versions: Mapping[str, int]) -> Size | None:
        """This size as it can be written where the names have these versions, None where it cannot be."""
        if all(versions.get(name, 0) == version for name, version in self.reads.items()):
            return self
        return self.fallback.at(versions) if self.fallback is not None else None

    def same(self, other: Size | None) -> bool:
        """Whether both are written alike and mean the same versions."""
        return other is not None and self.text == other.text and dict(self.reads) == dict(other.reads)


def number(value: int) -> Size:
    """A size that is known."""
    return Size(cst.parse_expression(str(value)), value)


def combine(template: str, value: int | None = None, **sizes: Size) -> Size:
    """The size that `template` computes from others; a plain number where all of them are known."""
    if value is not None:
        return number(value)
    reads: dict[str, int] = {}
    for size in sizes.values():
        for name, version in size.reads.items():
            if reads.setdefault(name, version) != version:
                return Size(expression(template, **{key: item.expr for key, item in sizes.items()}), None, {name: -1})
    return Size(expression(template, **{key: item.expr for key, item in sizes.items()}), None, reads)


def _both(first: Size, second: Size) -> tuple[int, int] | None:
    return None if first.value is None or second.value is None else (first.value, second.value)


def add(first: Size, second: Size) -> Size:
    """first + second"""
    known = _both(first, second)
    if second.value == 0:
        return first
    return combine("{a} + {b}", known[0] + known[1] if known else None, a=first, b=second)


def multiply(first: Size, second: Size) -> Size:
    """first * second"""
    known = _both(first, second)
    if second.value == 1:
        return first
    if first.value == 1:
        return second
    return combine("{a} * {b}", known[0] * known[1] if known else None, a=first, b=second)


def same_padding(size: Size, stride: Size) -> Size:
    """ceil(size / stride), as TensorFlow's SAME padding has it."""
    if stride.value == 1:
        return size
    known = _both(size, stride)
    return combine("math.ceil({a} / {b})", -(-known[0] // known[1]) if known else None, a=size, b=stride)


def valid_padding(size: Size, kernel: Size, stride: Size, dilation: Size) -> Size:
    """floor((size - dilation * (kernel - 1) - 1) / stride) + 1, as both frameworks have it."""
    if kernel.value == 1 and stride.value == 1:
        return size
    extent = kernel
    if dilation.value != 1:
        extent = combine("{d} * ({k} - 1) + 1", None, d=dilation, k=kernel)
        if dilation.value is not None and kernel.value is not None:
            extent = number(dilation.value * (kernel.value - 1) + 1)
    if size.value is not None and extent.value is not None and stride.value is not None:
        return number((size.value - extent.value) // stride.value + 1)
    if stride.value == 1 and extent.value is not None:
        return combine("{a} - {k}", None, a=size, k=number(extent.value - 1))
    if stride.value is not None and stride.value == extent.value:
        return combine("{a} // {s}", None, a=size, s=stride)
    return combine("({a} - {k}) // {s} + 1", None, a=size, k=extent, s=stride)


Pair = tuple[Size, Size] | None


def window_sizes(
    sizes: tuple[Size | None, ...] | None, kernel: Pair, stride: Pair, dilation: Pair, mode: str | None
) -> tuple[Size | None, ...] | None:
    """Height and width behind a convolution or pooling; None where the padding or a needed size is not known."""
    if sizes is None or stride is None or mode is None or (mode == "valid" and kernel is None):
        return None
    result: list[Size | None] = []
    for axis, size in enumerate(sizes):
        if size is None:
            result.append(None)
        elif mode == "same":
            result.append(same_padding(size, stride[axis]))
        else:
            assert kernel is not None
            result.append(valid_padding(size, kernel[axis], stride[axis], dilation[axis] if dilation else number(1)))
    return tuple(result)
