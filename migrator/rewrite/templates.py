"""Code from templates: parsed once, filled with nodes, parenthesised where precedence asks for it.

A template is Python with placeholders: `torch.softmax({logits}, dim={axis})`. A brace that is meant literally is
doubled, as in `str.format`: `{{1, 2}}` is a set, `{{"a": {x}}}` a dictionary. A placeholder may stand for an
expression, for a name (`def {name}():`, `self.{attribute}`), as an argument for several arguments, or, alone on a
line, for a list of statements. Filled-in
nodes keep their identity unless parentheses must be put around them, so edits below them can still be applied later.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from functools import lru_cache

import libcst as cst

from migrator.catalogue.signature import PLACEHOLDER, placeholders
from migrator.errors import MigrateError
from migrator.rewrite.precedence import fitted, wrapped_if_open
from migrator.rewrite.walking import walk

Part = cst.BaseExpression | str | Sequence[cst.BaseStatement] | Sequence[cst.Arg]
Nodes = cst.BaseExpression | list[cst.BaseStatement] | list[cst.Arg]

TOKEN = "migrate_placeholder_"
_IMPORTS = {
    "torch": "import torch",
    "F": "import torch.nn.functional as F",
    "nn": "from torch import nn",
    "np": "import numpy as np",
    "math": "import math",
}


class TemplateError(MigrateError):
    """A template that does not parse, or a placeholder that cannot be filled: a fault of the rule it is from."""


def expression(template: str, **parts: Part) -> cst.BaseExpression:
    """The filled template. A text part is parsed as an expression. Raises TemplateError, naming the template."""
    return fill(template, parts)


def statements(template: str, **parts: Part) -> list[cst.BaseStatement]:
    """The filled template as statements; the template's common indentation does not matter."""
    module = _parsed_module(template)
    filled = module.visit(_Filler(template, _nodes(parts), ()))
    assert isinstance(filled, cst.Module)
    result: list[cst.BaseStatement] = [_as_statement(item) for item in filled.body]
    if filled.header and result:  # comments on the first lines belong to the module when parsed
        first = result[0]
        lines = [*filled.header, *getattr(first, "leading_lines", ())]
        result[0] = first.with_changes(leading_lines=lines)
    return result


def fill(template: str, parts: Mapping[str, Part], left_out: Collection[str] = ()) -> cst.BaseExpression:
    """Like `expression`; a keyword argument of the template that needs a parameter in `left_out` disappears."""
    tree = _parsed_expression(template)
    filler = _Filler(template, _nodes(parts), left_out)
    holder = cst.Expr(value=tree).visit(filler)
    assert isinstance(holder, cst.Expr)
    return wrapped_if_open(holder.value)


def imports_of(code: str) -> set[str]:
    """The import statements that a template or a printed expression needs, by the conventional names it uses."""
    roots = set(re.findall(r"(?<![\w.])([A-Za-z_]\w*)\s*\.", code))
    return {statement for name, statement in _IMPORTS.items() if name in roots}


def _nodes(parts: Mapping[str, Part]) -> dict[str, Nodes]:
    nodes: dict[str, Nodes] = {}
    for name, part in parts.items():
        if isinstance(part, str):
            nodes[name] = _parse_part(name, part)
        elif isinstance(part, cst.BaseExpression):
            nodes[name] = part
        else:
            nodes[name] = list(part)  # type: ignore[assignment]  # a list of one of the two
    return nodes


def _parse_part(name: str, text: str) -> cst.BaseExpression:
    try:
        return cst.parse_expression(text)
    except cst.ParserSyntaxError:
        raise TemplateError(f"The value {text!r} for {{{name}}} is no Python expression.") from None


@lru_cache(maxsize=4096)
def _parsed_expression(template: str) -> cst.BaseExpression:
    try:
        return cst.parse_expression(_tokenised(template).strip())
    except cst.ParserSyntaxError:
        raise TemplateError(f"The template {template!r} is no Python expression.") from None


@lru_cache(maxsize=1024)
def _parsed_module(template: str) -> cst.Module:
    import textwrap

    try:
        return cst.parse_module(_tokenised(textwrap.dedent(template).strip("\n")))
    except cst.ParserSyntaxError:
        raise TemplateError(f"The template {template!r} is no Python code.") from None


def _tokenised(template: str) -> str:
    placeholders(template)  # raises on a stray brace
    return PLACEHOLDER.sub(lambda found: TOKEN + found.group(1) if found.group(1) else found.group(0)[0], template)


def _as_statement(item: cst.BaseStatement | cst.BaseSmallStatement) -> cst.BaseStatement:
    return item if isinstance(item, cst.BaseStatement) else cst.SimpleStatementLine(body=[item])


class _Filler(cst.CSTTransformer):
    """Puts parts in the place of tokens, knowing each token's parent."""

    def __init__(
        self,
        template: str,
        parts: Mapping[str, Nodes],
        left_out: Collection[str],
    ) -> None:
        super().__init__()
        self.template = template
        self.parts = parts
        self.left_out = set(left_out)
        self.parents: list[cst.CSTNode] = []

    def on_visit(self, node: cst.CSTNode) -> bool:
        self.parents.append(node)
        return not (isinstance(node, cst.Arg) and self._dropped(node))

    def on_leave(self, original_node: cst.CSTNode, updated_node: cst.CSTNode) -> object:  # type: ignore[override]
        self.parents.pop()
        parent = self.parents[-1] if self.parents else None
        if isinstance(original_node, cst.Name):
            return self._leave_name(original_node, updated_node, parent)
        if isinstance(original_node, cst.SimpleStatementLine):
            return self._leave_line(original_node, updated_node)
        if isinstance(original_node, cst.Arg) and self._dropped(original_node):
            return cst.RemoveFromParent()
        if isinstance(original_node, cst.Arg):
            return self._leave_argument(original_node, updated_node)
        if isinstance(original_node, cst.Call) and isinstance(updated_node, cst.Call):
            return _without_dangling_comma(original_node, updated_node)
        if isinstance(original_node, (cst.SimpleString, cst.FormattedStringText)) and TOKEN in original_node.value:
            raise TemplateError(f"The template {self.template!r} has a placeholder inside a string.")
        return updated_node

    def _dropped(self, node: cst.Arg) -> bool:
        return bool(self.left_out) and node.keyword is not None and bool(_tokens(node.value) & self.left_out)

    def _leave_name(self, original: cst.Name, updated: cst.CSTNode, parent: cst.CSTNode | None) -> cst.CSTNode:
        if not original.value.startswith(TOKEN):
            return updated
        part = self._part(original.value)
        if isinstance(part, list):
            name = original.value.removeprefix(TOKEN)
            if isinstance(parent, (cst.Expr, cst.Arg)):
                return updated  # the whole line, or argument, is replaced when it is left
            raise TemplateError(f"Statements for {{{name}}} need a line of their own in {self.template!r}.")
        if parent is None or not _takes_only_names(parent, original):
            return fitted(part, parent, original)
        if not isinstance(part, cst.Name):
            raise TemplateError(
                f"The template {self.template!r} needs a plain name for {original.value[len(TOKEN) :]}."
            )
        return part

    def _leave_argument(self, original: cst.Arg, updated: cst.CSTNode) -> object:
        if not isinstance(original.value, cst.Name) or not original.value.value.startswith(TOKEN):
            return updated
        part = self._part(original.value.value)
        if not isinstance(part, list):
            return updated
        arguments = [item for item in part if isinstance(item, cst.Arg)]
        if len(arguments) != len(part):
            raise TemplateError(f"Statements cannot be an argument in {self.template!r}.")
        return cst.FlattenSentinel(arguments)

    def _leave_line(self, original: cst.SimpleStatementLine, updated: cst.CSTNode) -> object:
        if len(original.body) != 1 or not isinstance(original.body[0], cst.Expr):
            return updated
        value = original.body[0].value
        if not isinstance(value, cst.Name) or not value.value.startswith(TOKEN):
            return updated
        part = self._part(value.value)
        return cst.FlattenSentinel(part) if isinstance(part, list) else updated

    def _part(self, token: str) -> Nodes:
        name = token.removeprefix(TOKEN)
        if name not in self.parts:
            raise TemplateError(f"Nothing was given for {{{name}}} in the template {self.template!r}.")
        return self.parts[name]


def _takes_only_names(parent: cst.CSTNode, child: cst.Name) -> bool:
    if isinstance(parent, (cst.Arg, cst.Attribute)):
        return child is getattr(parent, "keyword", None) or child is getattr(parent, "attr", None)
    return isinstance(parent, (cst.FunctionDef, cst.ClassDef, cst.ImportAlias, cst.AsName, cst.NameItem)) or (
        isinstance(parent, cst.Param) and child is parent.name
    )


def _without_dangling_comma(original: cst.Call, updated: cst.Call) -> cst.Call:
    if len(original.args) == len(updated.args) or not updated.args:
        return updated
    last = updated.args[-1].with_changes(comma=cst.MaybeSentinel.DEFAULT)
    return updated.with_changes(args=[*updated.args[:-1], last])


def _tokens(node: cst.CSTNode) -> set[str]:
    names = (inner.value for inner in walk(node) if isinstance(inner, cst.Name))
    return {name.removeprefix(TOKEN) for name in names if name.startswith(TOKEN)}
