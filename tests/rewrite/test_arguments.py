"""Binding arguments to parameters: what must be left alone comes first."""

import libcst as cst
import pytest

from migrator.catalogue.signature import parse_signature
from migrator.facts import Rule
from migrator.rewrite.arguments import Bound, Refusal, bind, code


def rule(signature: str, **fields: object) -> Rule:
    name, parameters = parse_signature(signature)
    assert parameters is not None
    return Rule(id="r", tf=name, parameters=parameters, also=(), family="f", grade="exact", **fields)  # type: ignore[arg-type]


SOFTMAX = rule("tf.nn.softmax(logits, axis=None, name=None)", fill={"axis": "-1"}, ignore=("name",))
SUM = rule("tf.sum(x, axis=None, *, keepdims=False, dtype=None)", refuse=("dtype",))


def bound(item: Rule, text: str) -> Bound | Refusal:
    call = cst.parse_expression(text)
    assert isinstance(call, cst.Call)
    return bind(item, call)


@pytest.mark.parametrize(
    ("item", "text", "reason"),
    [
        (SOFTMAX, "f(*a)", "hides"),
        (SOFTMAX, "f(a, **k)", "hides"),
        (SOFTMAX, "f(a, dim=1)", "no parameter `dim`"),
        (SOFTMAX, "f(a, 1, None, 2)", "passes more"),
        (SOFTMAX, "f(a, logits=a)", "twice"),
        (SOFTMAX, "f()", "needs `logits`"),
        (SUM, "f(a, 1, True)", "passes more"),
        (SUM, "f(a, dtype=tf.int32)", "`dtype=tf.int32`"),
    ],
)
def test_calls_that_cannot_be_bound_say_why(item: Rule, text: str, reason: str) -> None:
    result = bound(item, text)
    assert isinstance(result, Refusal)
    assert reason in result.reason


@pytest.mark.parametrize("text", ["f(a, 1, 'n')", "f(logits=a, axis=1, name='n')", "f(name='n', axis=1, logits=a)"])
def test_every_call_style_binds_alike(text: str) -> None:
    result = bound(SOFTMAX, text)
    assert isinstance(result, Bound)
    assert {name: code(node) for name, node in result.given.items()} == {"logits": "a", "axis": "1", "name": "'n'"}


@pytest.mark.parametrize("text", ["f(a)", "f(a, axis=None)", "f(a, None)"])
def test_what_is_left_out_takes_the_filled_value(text: str) -> None:
    result = bound(SOFTMAX, text)
    assert isinstance(result, Bound)
    assert code(result.value("axis")) == "-1"


def test_a_default_stands_in_without_a_fill() -> None:
    result = bound(SUM, "f(a)")
    assert isinstance(result, Bound)
    assert code(result.value("keepdims")) == "False"


@pytest.mark.parametrize("text", ["f(a, dtype=None)", "f(a)"])
def test_a_refused_parameter_may_be_given_its_default(text: str) -> None:
    assert isinstance(bound(SUM, text), Bound)


def test_zero_is_not_the_default_false() -> None:
    result = bound(rule("tf.f(x, flag=False)", refuse=("flag",)), "f(a, flag=0)")
    assert isinstance(result, Refusal)
