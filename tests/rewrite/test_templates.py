"""Templates keep meaning: every filled result is evaluated, not only compared as text."""

import ast

import libcst as cst
import pytest

from migrator.errors import MigrateError
from migrator.rewrite.precedence import replace
from migrator.rewrite.templates import expression, fill, imports_of, statements


def code(node: cst.CSTNode) -> str:
    return cst.Module(body=[]).code_for_node(node)


def parsed(text: str) -> cst.BaseExpression:
    return cst.parse_expression(text)


OPERATORS = [
    "a + b",
    "a - b",
    "a * b",
    "a @ b",
    "a ** b",
    "-a",
    "not a",
    "a or b",
    "a and b",
    "a < b",
    "a if b else c",
    "lambda q: q",
    "a | b",
    "a & b",
    "a << b",
    "(a, b)",
    "a[b]",
    "a.b",
    "f(a)",
    "1",
    "1.5",
    "'s'",
    "[a]",
    "{a}",
    "(yield)",
    "(a := b)",
    "a < b < c",
    "a in b",
    "(q for q in a)",
    "*a"[1:],
    "await_(a)",
]
PLACES = [
    "{x}.sum()",
    "{x}[0]",
    "{x}(1)",
    "-{x}",
    "not {x}",
    "{x} + 1",
    "1 + {x}",
    "{x} - 1",
    "1 - {x}",
    "{x} * 2",
    "2 ** {x}",
    "{x} ** 2",
    "{x} < 1",
    "1 < {x}",
    "{x} or c",
    "c and {x}",
    "c if {x} else d",
    "{x} if c else d",
    "c if d else {x}",
    "f({x})",
    "f(k={x})",
    "f(*{x})",
    "[{x}]",
    "[{x}, 1]",
    "[*{x}]",
    "{{1: {x}}}",
    "{{{x}}}",
    "c[{x}]",
    "c[{x}:]",
    "[q for q in {x}]",
    "[q for q in c if {x}]",
    "lambda: {x}",
    "{x}",
    "{x} in c",
]


class _OneChain(ast.NodeTransformer):
    """`(a or b) or c` and `a or b or c` are the same."""

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.BoolOp:
        self.generic_visit(node)
        first = node.values[0]
        if isinstance(first, ast.BoolOp) and type(first.op) is type(node.op):
            node.values[:1] = first.values
        return node


def shape(text: str) -> str:
    return ast.dump(_OneChain().visit(ast.parse(text, mode="eval")))


@pytest.mark.parametrize("part", OPERATORS, ids=lambda part: f"{part} stays one operand wherever it is put")
def test_a_filled_part(part: str) -> None:
    for place in PLACES:
        result = code(expression(place, x=parsed(part)))
        always = place.format(x=f"({part})")
        assert shape(result) == shape(always), place


def test_no_parentheses_are_added_where_none_are_needed() -> None:
    assert code(expression("torch.relu({x})", x=parsed("a + b"))) == "torch.relu(a + b)"
    assert code(expression("{x} + {y}", x=parsed("a * b"), y=parsed("c[0]"))) == "a * b + c[0]"


def test_an_unfilled_placeholder_is_an_error_and_not_a_set() -> None:
    with pytest.raises(MigrateError, match=r"Nothing was given for \{axis\}"):
        expression("torch.sum({x}, dim={axis})", x=parsed("a"))


@pytest.mark.parametrize("template", ["f({x)", "f(x})", "f({x + 1})", "f({})", "f({x}"])
def test_a_stray_brace_or_broken_code_is_an_error(template: str) -> None:
    with pytest.raises(MigrateError):
        expression(template, x=parsed("a"))


def test_a_placeholder_inside_a_string_is_an_error() -> None:
    with pytest.raises(MigrateError, match="inside a string"):
        expression("f('{x}')", x=parsed("a"))


def test_an_attribute_placeholder_takes_names_only() -> None:
    assert code(expression("self.{name}", name="conv1")) == "self.conv1"
    with pytest.raises(MigrateError, match="plain name"):
        expression("self.{name}", name="a.b")


def test_parts_keep_their_identity_so_that_later_edits_find_them() -> None:
    part = parsed("g(tf.abs(b))")
    result = expression("torch.relu({x}) + {x}", x=part)
    found = []

    def walk(node: cst.CSTNode) -> None:
        found.extend([node] if node is part else [])
        for child in node.children:
            walk(child)

    walk(result)
    assert len(found) == 2


def test_a_line_break_outside_brackets_gets_parentheses() -> None:
    call = parsed("f(a\n  + b,\n c\n .d)")
    assert isinstance(call, cst.Call)
    result = code(expression("{x} * {y}", x=call.args[0].value, y=call.args[1].value))
    assert ast.dump(ast.parse("x = " + result)) == ast.dump(ast.parse("x = (a + b) * c.d"))


def test_a_left_out_parameter_takes_its_keyword_argument_along() -> None:
    template = "torch.sum({x}, dim={axis}, keepdim={keepdims})"
    assert code(fill(template, {"x": parsed("a")}, left_out=("axis", "keepdims"))) == "torch.sum(a)"
    parts = {"x": parsed("a"), "axis": parsed("1")}
    assert code(fill(template, parts, left_out=("keepdims",))) == "torch.sum(a, dim=1)"


def test_statements_take_names_expressions_and_blocks() -> None:
    body = statements("y = 1\nreturn y")
    result = statements(
        """
        # kept
        def {name}({first}, {second}=None):
            {body}
            return {value} ** 2
        """,
        name="forward",
        first="self",
        second="mask",
        body=body,
        value=parsed("a + b"),
    )
    text = cst.Module(body=result).code
    assert text == "# kept\ndef forward(self, mask=None):\n    y = 1\n    return y\n    return (a + b) ** 2\n"


def test_statements_in_the_middle_of_a_line_are_refused() -> None:
    with pytest.raises(MigrateError, match="line of their own"):
        statements("x = {body}", body=statements("y = 1"))


def test_imports_follow_the_names_used() -> None:
    assert imports_of("F.relu(torch.abs({x}))") == {"import torch", "import torch.nn.functional as F"}
    assert imports_of("x.nn.torch") == set()


def test_replacing_by_identity_adds_parentheses_and_reaches_into_replacements() -> None:
    tree = parsed("tf.add(a, b).shape")
    assert isinstance(tree, cst.Attribute)
    assert isinstance(tree.value, cst.Call)
    first = tree.value.args[0].value
    edits = {tree.value: expression("{x} + {y}", x=first, y="b"), first: parsed("c or d")}
    assert code(replace(tree, edits)) == "((c or d) + b).shape"
