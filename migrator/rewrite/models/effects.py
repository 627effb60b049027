"""What a piece of configuration may change, and whether it can be evaluated again with the same outcome.

`forward` repeats conditions and loop headers of the source. That is only right where nothing changes between the
construction and the call, so everything that may change is found here, by its form, and refused elsewhere.
"""

from __future__ import annotations

import libcst as cst

from migrator.tree import children

_ONCE_ONLY = {"reversed", "enumerate", "zip", "map", "filter", "iter"}
_SAME_AGAIN = {
    "len", "int", "float", "str", "bool", "min", "max", "abs", "round", "range", "sum", "sorted", "list", "tuple",
    "set", "dict", "isinstance", "getattr", "hasattr", "any", "all", "divmod", "pow", "callable", "type",
} | (_ONCE_ONLY - {"iter"})  # fmt: skip
_SAME_METHODS = {
    "items", "keys", "values", "get", "index", "count", "format", "lower", "upper", "startswith", "endswith", "split",
    "strip", "join", "replace", "ceil", "floor", "sqrt", "log2", "log", "prod", "as_list", "get_shape", "copy",
}  # fmt: skip
_LOOKS_ONLY = {"print", "len", "logging", "logger", "log", "warnings"}


def repeatable(node: cst.CSTNode) -> bool:
    """Whether evaluating the expression again gives the same value as long as the names in it do."""
    if isinstance(node, (cst.NamedExpr, cst.Await, cst.Yield, cst.GeneratorExp)):
        return False
    if isinstance(node, cst.Call):
        func = node.func
        known = isinstance(func, cst.Name) and func.value in _SAME_AGAIN
        if not known and not (isinstance(func, cst.Attribute) and func.attr.value in _SAME_METHODS):
            return False
    return all(repeatable(child) for child in children(node))


def once_only(node: cst.BaseExpression) -> bool:
    """Whether the value is an iterator, which is empty after it was walked over once."""
    if isinstance(node, cst.GeneratorExp):
        return True
    return isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value in _ONCE_ONLY


def mutates(node: cst.CSTNode) -> set[str]:
    """Names whose objects the statement may change in place: items and attributes set, methods called for effect."""
    found: set[str] = set()
    if isinstance(node, (cst.FunctionDef, cst.ClassDef, cst.Lambda)):
        return found
    if isinstance(node, (cst.AssignTarget, cst.AugAssign, cst.AnnAssign)):
        found |= _changed_root(node.target)
    elif isinstance(node, cst.Del):
        targets = [item.value for item in node.target.elements] if isinstance(node.target, cst.Tuple) else [node.target]
        for target in targets:
            found |= _changed_root(target)
    elif isinstance(node, cst.Expr) and isinstance(node.value, cst.Call):
        found |= _called_for_effect(node.value)
    for child in children(node):
        found |= mutates(child)
    return found


def _changed_root(target: cst.BaseExpression) -> set[str]:
    """The variable whose item or attribute is set; nothing for a plain name."""
    if isinstance(target, (cst.Tuple, cst.List)):
        return set().union(*(_changed_root(element.value) for element in target.elements))
    if isinstance(target, cst.Name):
        return set()
    while isinstance(target, (cst.Subscript, cst.Attribute)):
        target = target.value
    return {target.value} if isinstance(target, cst.Name) else set()


def _called_for_effect(call: cst.Call) -> set[str]:
    func = call.func
    root = func
    while isinstance(root, cst.Attribute):
        root = root.value
    if isinstance(root, cst.Name) and root.value in _LOOKS_ONLY:
        return set()
    found = {argument.value.value for argument in call.args if isinstance(argument.value, cst.Name)}
    if isinstance(func, cst.Attribute):
        found |= _changed_root(func)
    return found
