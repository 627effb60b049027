"""When an expression needs parentheses to stand in a given place, and replacing nodes by identity with that in mind."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from migrator.rewrite.walking import children, walk

NAMED, TUPLE, LAMBDA, CONDITION, OR, AND, NOT, COMPARE, BIT_OR, BIT_XOR, BIT_AND = range(-1, 10)
SHIFT, SUM, PRODUCT, UNARY, POWER, ATOM = range(10, 16)

_BINARY: dict[type[cst.BaseBinaryOp], int] = {
    cst.BitOr: BIT_OR,
    cst.BitXor: BIT_XOR,
    cst.BitAnd: BIT_AND,
    cst.LeftShift: SHIFT,
    cst.RightShift: SHIFT,
    cst.Add: SUM,
    cst.Subtract: SUM,
    cst.Multiply: PRODUCT,
    cst.Divide: PRODUCT,
    cst.FloorDivide: PRODUCT,
    cst.Modulo: PRODUCT,
    cst.MatrixMultiply: PRODUCT,
    cst.Power: POWER,
}
_LEVELS: dict[type[cst.BaseExpression], int] = {
    cst.NamedExpr: NAMED,
    cst.Yield: NAMED,
    cst.GeneratorExp: NAMED,  # without parentheses of its own it lives on those of a call
    cst.Tuple: TUPLE,
    cst.Lambda: LAMBDA,
    cst.IfExp: CONDITION,
    cst.Comparison: COMPARE,
    cst.ConcatenatedString: ATOM,
    cst.Await: POWER,
}
_BRACKETED = (cst.List, cst.Set, cst.Dict, cst.ListComp, cst.SetComp, cst.DictComp)


def fitted(node: cst.BaseExpression, parent: cst.CSTNode | None, place: cst.CSTNode) -> cst.BaseExpression:
    """`node`, parenthesised if it could not stand where `place` stands in `parent`; no parent is a loose place."""
    if parent is None:
        return node
    needed = _needed(parent, place)
    if level(node) < needed or (isinstance(node, cst.Integer) and isinstance(parent, cst.Attribute)):
        return parenthesised(node)
    return node


def parenthesised(node: cst.BaseExpression) -> cst.BaseExpression:
    """`node` in one more pair of parentheses."""
    return node.with_changes(lpar=[cst.LeftParen(), *node.lpar], rpar=[*node.rpar, cst.RightParen()])


def wrapped_if_open(node: cst.BaseExpression) -> cst.BaseExpression:
    """`node`, parenthesised if it breaks lines outside of brackets, which only brackets around it allow."""
    text = cst.Module(body=[]).code_for_node(node)
    return parenthesised(node) if "\n" in text and _breaks_lines(node) else node


def level(node: cst.BaseExpression) -> int:
    """How tightly an expression binds; ATOM needs parentheses nowhere (an integer before a dot aside)."""
    if node.lpar:
        return ATOM
    if isinstance(node, cst.BinaryOperation):
        return _BINARY[type(node.operator)]
    if isinstance(node, cst.BooleanOperation):
        return OR if isinstance(node.operator, cst.Or) else AND
    if isinstance(node, cst.UnaryOperation):
        return NOT if isinstance(node.operator, cst.Not) else UNARY
    return _LEVELS.get(type(node), ATOM)


def _needed(parent: cst.CSTNode, place: cst.CSTNode) -> int:
    if isinstance(parent, (cst.Attribute, cst.Subscript, cst.Await, cst.FormattedStringExpression)):
        return ATOM
    if isinstance(parent, cst.Call):
        return ATOM
    if isinstance(parent, cst.BinaryOperation):
        return _needed_by_operator(_BINARY[type(parent.operator)], place is parent.left)
    if isinstance(parent, cst.BooleanOperation):
        own = OR if isinstance(parent.operator, cst.Or) else AND
        return own if place is parent.left else own + 1
    if isinstance(parent, cst.UnaryOperation):
        return NOT if isinstance(parent.operator, cst.Not) else UNARY
    if isinstance(parent, (cst.Comparison, cst.ComparisonTarget, cst.StarredElement)):
        return BIT_OR
    if isinstance(parent, cst.IfExp):
        return CONDITION if place is parent.orelse else OR
    if isinstance(parent, (cst.CompFor, cst.CompIf)):
        return OR
    if isinstance(parent, cst.Arg) and parent.star:
        return BIT_OR
    if isinstance(parent, (cst.Expr, cst.Assign, cst.Return)):
        return TUPLE
    return LAMBDA


def _needed_by_operator(own: int, left: bool) -> int:
    if own == POWER:  # binds to the right, and `2 ** -x` needs no parentheses
        return ATOM if left else UNARY
    return own if left else own + 1


def _breaks_lines(node: cst.CSTNode) -> bool:
    if isinstance(node, cst.ParenthesizedWhitespace):
        return True
    if isinstance(node, cst.BaseExpression) and (node.lpar or isinstance(node, _BRACKETED)):
        return False
    if isinstance(node, cst.Call):
        return _breaks_lines(node.func) or _breaks_lines(node.whitespace_after_func)
    if isinstance(node, cst.Subscript):
        return _breaks_lines(node.value)
    return any(_breaks_lines(child) for child in node.children)


def replace(tree: cst.CSTNode, edits: Mapping[cst.CSTNode, cst.BaseExpression]) -> cst.CSTNode:
    """`tree` with the nodes in `edits` (by identity) replaced, each parenthesised as its place asks.

    Edits inside a replacement are applied as well. Parts of the tree without an edit keep their identity.
    """
    return _replaced(tree, edits, None, tree) if edits else tree


def _replaced(
    node: cst.CSTNode, edits: Mapping[cst.CSTNode, cst.BaseExpression], parent: cst.CSTNode | None, place: cst.CSTNode
) -> cst.CSTNode:
    if node in edits:
        new = edits[node]
        if _holds(new, edits) or (new in edits and new is not node):
            others = {key: value for key, value in edits.items() if key is not node}
            changed = _replaced(new, others, None, node)
            assert isinstance(changed, cst.BaseExpression)
            new = changed
        return fitted(new, parent, place)
    if not _holds(node, edits):
        return node
    new_tree = node.visit(_Replacer(node, edits))
    assert isinstance(new_tree, cst.CSTNode)
    return new_tree


def _holds(node: cst.CSTNode, edits: Mapping[cst.CSTNode, cst.BaseExpression]) -> bool:
    return any(inner in edits for child in children(node) for inner in walk(child))


class _Replacer(cst.CSTTransformer):
    """Replaces in the children of `top`; each child is handed to `_replaced`, so descent stops there."""

    def __init__(self, top: cst.CSTNode, edits: Mapping[cst.CSTNode, cst.BaseExpression]) -> None:
        super().__init__()
        self.top = top
        self.edits = edits

    def on_visit(self, node: cst.CSTNode) -> bool:
        return node is self.top

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> cst.CSTNode:  # type: ignore[override]
        if original_node is self.top:
            return updated_node
        return _replaced(original_node, self.edits, self.top, original_node)
