"""A module class assembled from its two halves."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from migrator.rewrite.models.text import wrapped

_BLANK = cst.EmptyLine(indent=False)


def class_definition(
    name: str,
    init_params: Sequence[cst.Param],
    keyword_params: Sequence[cst.Param],
    init: Sequence[cst.BaseStatement],
    forward_params: Sequence[cst.Param],
    forward: Sequence[cst.BaseStatement],
    docstring: cst.SimpleStatementLine | None,
    penalty: bool,
) -> cst.ClassDef:
    """`class Name(nn.Module)` with `__init__`, `forward` and, where weights are charged for, `penalty`."""
    super_call = cst.parse_statement("super().__init__()")
    body: list[cst.BaseStatement] = []
    if docstring is not None:
        body.append(docstring.with_changes(leading_lines=()))
    body.append(_method("__init__", init_params, keyword_params, [super_call, *init], first=docstring is None))
    body.append(_method("forward", forward_params, (), forward))
    if penalty:
        body.append(_penalty())
    return cst.ClassDef(
        name=cst.Name(name),
        bases=[cst.Arg(cst.parse_expression("nn.Module"))],
        body=cst.IndentedBlock(body),
        leading_lines=[_BLANK, _BLANK],
    )


def _method(
    name: str,
    params: Sequence[cst.Param],
    keyword_params: Sequence[cst.Param],
    body: Sequence[cst.BaseStatement],
    first: bool = False,
) -> cst.FunctionDef:
    arguments = cst.Parameters(
        params=[cst.Param(cst.Name("self")), *params],
        star_arg=cst.ParamStar() if keyword_params else cst.MaybeSentinel.DEFAULT,
        kwonly_params=list(keyword_params),
    )
    return cst.FunctionDef(
        name=cst.Name(name),
        params=arguments,
        body=cst.IndentedBlock(_close_up(wrapped(body, 8))),
        leading_lines=[] if first else [_BLANK],
    )


def _close_up(body: list[cst.BaseStatement]) -> list[cst.BaseStatement]:
    """No blank line right below the signature."""
    lines = list(getattr(body[0], "leading_lines", ()))
    while lines and lines[0].comment is None:
        lines.pop(0)
    return [body[0].with_changes(leading_lines=lines), *body[1:]]


def _penalty() -> cst.FunctionDef:
    method = cst.parse_statement(
        'def penalty(self):\n    """The regularisation loss, to be added to the training loss."""\n'
        "    return regularization(self)\n"
    )
    assert isinstance(method, cst.FunctionDef)
    return method.with_changes(leading_lines=[_BLANK])


def parameter(source: cst.Param, default: cst.BaseExpression | None, annotated: bool = True) -> cst.Param:
    """A parameter of `__init__` that was one of the function; it keeps its name, annotation and default."""
    changed = source.with_changes(default=default, comma=cst.MaybeSentinel.DEFAULT, star="")
    return changed if annotated else changed.with_changes(annotation=None, equal=cst.MaybeSentinel.DEFAULT)


def plain_parameter(name: str, default: str | None = None) -> cst.Param:
    """A parameter that the source did not have."""
    if default is None:
        return cst.Param(cst.Name(name))
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Param(cst.Name(name), default=cst.parse_expression(default), equal=equal)
