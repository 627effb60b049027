"""What an argument is, as far as its text tells: a literal number, a size, a dtype."""

from __future__ import annotations

import libcst as cst

from migrator.facts import Resolution

_DTYPE_KINDS = {
    "float16": "float", "half": "float", "bfloat16": "float", "float32": "float", "float64": "float",
    "double": "float", "int8": "int", "int16": "int", "int32": "int", "int64": "int", "uint8": "int", "bool": "bool",
    "complex64": "complex", "complex128": "complex",
}  # fmt: skip
_TORCH_NAMES = {"half": "float16", "double": "float64", "bool_": "bool"}
_CONSTANTS = {("math", "pi"), ("math", "e"), ("numpy", "pi"), ("numpy", "e")}


def dotted(node: cst.BaseExpression) -> str | None:
    """`a.b.c` as text; None for anything but names joined by dots."""
    if isinstance(node, cst.Name):
        return node.value
    if isinstance(node, cst.Attribute):
        base = dotted(node.value)
        return None if base is None else f"{base}.{node.attr.value}"
    return None


def canonical(node: cst.BaseExpression, resolution: Resolution) -> str | None:
    """The dotted name that an import gives a name or attribute: `np.float32` is `numpy.float32`."""
    text = dotted(node)
    if text is None:
        return None
    root, dot, rest = text.partition(".")
    target = resolution.imports.get(root)
    return None if target is None else f"{target}{dot}{rest}"


def is_number(node: cst.BaseExpression, resolution: Resolution) -> bool:
    """A literal number, pi or e, or arithmetic of these."""
    if isinstance(node, (cst.Integer, cst.Float)):
        return True
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.operator, (cst.Minus, cst.Plus)) and is_number(node.expression, resolution)
    if isinstance(node, cst.BinaryOperation):
        return is_number(node.left, resolution) and is_number(node.right, resolution)
    name = canonical(node, resolution)
    return name is not None and tuple(name.rsplit(".", 1)) in _CONSTANTS


def is_whole(node: cst.BaseExpression) -> bool:
    """A literal whole number, or arithmetic of these without true division."""
    if isinstance(node, cst.Integer):
        return True
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.operator, (cst.Minus, cst.Plus)) and is_whole(node.expression)
    if isinstance(node, cst.BinaryOperation):
        return not isinstance(node.operator, cst.Divide) and is_whole(node.left) and is_whole(node.right)
    return False


def is_size(node: cst.BaseExpression, resolution: Resolution) -> bool:
    """`x.shape[0]`, `tf.shape(x)[0]`, `len(x)`: whole numbers in Python once the code is PyTorch."""
    if isinstance(node, cst.Call):
        return isinstance(node.func, cst.Name) and node.func.value == "len"
    if not isinstance(node, cst.Subscript) or not indexed_once(node):
        return False
    value = node.value
    if isinstance(value, cst.Attribute):
        return value.attr.value == "shape"
    names = ("tf.shape", "tf.keras.backend.shape", "tf.keras.backend.int_shape")
    return isinstance(value, cst.Call) and resolution.apis.get(value.func) in names


def is_scalar(node: cst.BaseExpression, resolution: Resolution) -> bool:
    """A whole number by its form: literals, sizes, and arithmetic of these without true division."""
    if isinstance(node, cst.BinaryOperation):
        parts = is_scalar(node.left, resolution) and is_scalar(node.right, resolution)
        return parts and not isinstance(node.operator, cst.Divide)
    return is_whole(node) or is_size(node, resolution)


def indexed_once(node: cst.Subscript) -> bool:
    """Whether a subscript takes one element rather than a slice or several axes."""
    return len(node.slice) == 1 and isinstance(node.slice[0].slice, cst.Index)


def literal_items(node: cst.BaseExpression) -> list[cst.BaseExpression] | None:
    """The elements of a list or tuple that is written out, None for anything else or with a star inside."""
    if not isinstance(node, (cst.List, cst.Tuple)):
        return None
    if not all(isinstance(element, cst.Element) for element in node.elements):
        return None
    return [element.value for element in node.elements]


def all_numbers(node: cst.BaseExpression, resolution: Resolution) -> bool:
    """A literal number, or lists of nothing but these."""
    items = literal_items(node)
    if items is None:
        return is_number(node, resolution)
    return bool(items) and all(all_numbers(item, resolution) for item in items)


def all_whole(node: cst.BaseExpression) -> bool:
    """A literal whole number, or lists of nothing but these."""
    items = literal_items(node)
    return is_whole(node) if items is None else bool(items) and all(map(all_whole, items))


def is_simple(node: cst.BaseExpression) -> bool:
    """May be evaluated twice: a name, an attribute, a literal, an element of these by a literal index."""
    if isinstance(node, cst.Subscript):
        index = node.slice[0].slice if indexed_once(node) else None
        return isinstance(index, cst.Index) and is_whole(index.value) and is_simple(node.value)
    if isinstance(node, (cst.Integer, cst.Float, cst.SimpleString)) or is_whole(node):
        return True
    if isinstance(node, cst.UnaryOperation):
        return isinstance(node.expression, cst.Float)
    items = literal_items(node)
    return all(map(is_simple, items)) if items is not None else dotted(node) is not None


def dtype_name(node: cst.BaseExpression, resolution: Resolution) -> str | None:
    """The PyTorch name of a dtype that is written out: `tf.float32`, `np.float32`, `"float32"`, `float`, `bool`."""
    name: str | None = None
    if isinstance(node, cst.SimpleString):
        value = node.evaluated_value
        name = value if isinstance(value, str) else None
    elif node in resolution.apis:
        name = resolution.apis[node].rsplit(".", 1)[-1]
    else:
        found = canonical(node, resolution)
        if found is not None and found.startswith("numpy."):
            name = found.removeprefix("numpy.")
        elif isinstance(node, cst.Name) and node.value == "bool":
            name = "bool"
    if name is None:
        return None
    name = _TORCH_NAMES.get(name, name)
    return name if name in _DTYPE_KINDS else None


def dtype_kind(node: cst.BaseExpression, resolution: Resolution) -> str | None:
    """`float`, `int`, `bool` or `complex` for a dtype that is written out."""
    name = dtype_name(node, resolution)
    return None if name is None else _DTYPE_KINDS[name]
