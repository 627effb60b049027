"""`forward` from the regions: the same statements, with kept modules in the place of layers."""

from __future__ import annotations

from collections.abc import Sequence

import libcst as cst

from migrator.rewrite.models.forward_tidy import layout_of, merged_starts
from migrator.rewrite.models.ir import (
    Apply,
    Branch,
    Bundle,
    Config,
    Gather,
    Invoke,
    Layer,
    Layout,
    Line,
    Loop,
    Make,
    Pick,
    Read,
    Refused,
    Region,
    Settle,
    Tensor,
    Work,
    element,
)
from migrator.rewrite.models.loop_forms import below, innermost, listed_layers
from migrator.rewrite.models.naming import singular
from migrator.rewrite.models.text import (
    WIDTH,
    above,
    block_like,
    broken,
    comment_lines,
    element_comments,
    inner_comments,
    loose_comments,
    trailing,
    without_lines,
)
from migrator.rewrite.templates import expression, statements

_TO_FIRST = {3: "(0, 2, 1)", 4: "(0, 3, 1, 2)", 5: "(0, 4, 1, 2, 3)"}
_TO_LAST = {3: "(0, 2, 1)", 4: "(0, 2, 3, 1)", 5: "(0, 2, 3, 4, 1)"}


_INDENT = 8  # columns in front of a statement of a method


class ForwardPrinter:
    """Prints regions as statements of `forward`. `results` are a helper's result tensors, None for a model's."""

    def __init__(self, results: Sequence[Tensor] | None, taken: set[str]) -> None:
        self.results, self.taken = results, taken
        self.names: dict[int, str] = {}  # how a listed layer is reached inside the loop being printed

    def block(self, regions: Sequence[Region]) -> list[cst.BaseStatement]:
        """The statements of a sequence of regions."""
        found: list[cst.BaseStatement] = []
        waiting: list[cst.EmptyLine] = []
        for region in merged_starts(regions):
            new = self._region(region)
            if not new and isinstance(region, Line) and not region.events and region.work is None:
                waiting += loose_comments(region.node)
            if new and waiting:
                new[0], waiting = above(new[0], waiting), []
            found += new
        return found

    def _region(self, region: Region) -> list[cst.BaseStatement]:
        if isinstance(region, Line):
            return self._line(region)
        if isinstance(region, Settle):
            return self._settle(region)
        if isinstance(region, Branch):
            return self._branch(region)
        return self._loop(region)

    def _settle(self, settle: Settle) -> list[cst.BaseStatement]:
        have, want = layout_of(settle.source), layout_of(settle.result)
        if have == want or settle.source.rank is None:
            return []
        code = permuted(cst.Name(settle.name), settle.source.rank, want)
        return statements("{name} = {code}", name=settle.name, code=code)

    # ------------------------------------------------------------ lines

    def _line(self, line: Line) -> list[cst.BaseStatement]:
        replayed = [event.replayed for event in line.events if isinstance(event, Config) and event.replayed is not None]
        if line.work is None:
            return [*replayed]
        if line.returned:
            new = statements("return {code}", code=self._returned(line.work))[0]
        elif line.append:
            assert isinstance(line.value, Bundle)
            code = self.code(line.work, layout_of(line.value.element))
            new = statements("{name}.append({code})", name=line.targets[0], code=code)[0]
        else:
            want = layout_of(line.value) if isinstance(line.value, Tensor) else None
            code = self.code(line.work, want)
            if isinstance(code, cst.Name) and code.value == line.targets[0]:
                return []
            target = ", ".join(line.targets)
            new = statements(f"{target} = {{code}}", code=code)[0]
        return [*replayed, self._commented(new, line)]

    def _commented(self, new: cst.BaseStatement, line: Line) -> cst.BaseStatement:
        makes = any(isinstance(event, Make) for event in line.events)
        if not makes:
            new = above(new, inner_comments(line.node))
            new = trailing(new, line.node)
            if line.comments is not None:
                new = element_comments(above(new, inner_comments(line.comments.value)), line.comments)
        return above(comment_lines(new, line.node), line.lines)

    def _returned(self, work: Work) -> cst.BaseExpression:
        wants = [layout_of(result) for result in self.results] if self.results is not None else None
        if isinstance(work, Gather):
            items = [
                cst.Element(self.code(item, wants[index] if wants else "last")) for index, item in enumerate(work.items)
            ]
            return cst.Tuple(items) if work.brackets == "(" else cst.Tuple(items, lpar=[], rpar=[])
        return self.code(work, wants[0] if wants else "last")

    # ------------------------------------------------------------ expressions

    def code(self, work: Work, want: Layout | None = None) -> cst.BaseExpression:
        """The expression, in the wanted layout."""
        value = work.value
        made = self._plain(work)
        if want is None or not isinstance(value, Tensor) or value.rank is None or value.rank < 3:
            return made
        return made if layout_of(value) == want else permuted(made, value.rank, want)

    def _plain(self, work: Work) -> cst.BaseExpression:
        if isinstance(work, Read):
            return cst.Name(work.name)
        if isinstance(work, Pick):
            return work.node
        if isinstance(work, Gather):
            want = layout_of(work.value.element)
            items = [cst.Element(self.code(item, want)) for item in work.items]
            return cst.List(items) if work.brackets == "[" else cst.Tuple(items)
        if isinstance(work, Invoke):
            return self._invoke(work)
        return self._apply(work)

    def _invoke(self, work: Invoke) -> cst.BaseExpression:
        arguments = []
        for keyword, operand, parameter in work.operands:
            code = self.code(operand, layout_of(parameter))
            if keyword is None:
                arguments.append(cst.Arg(code))
            else:
                equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
                arguments.append(cst.Arg(code, keyword=cst.Name(keyword), equal=equal))
        return cst.Call(func=self.reach(work.layer), args=arguments)

    def _apply(self, work: Apply) -> cst.BaseExpression:
        step, value = work.step, work.value
        common: Layout
        if step.wants is not None:
            common = step.wants
        elif value.rank is not None and value.rank > 2:
            common = layout_of(value)
        else:
            common = layout_of(element(work.operands[0].value))
        rank = max(element(operand.value).rank or 2 for operand in work.operands)
        template = step.first if common == "first" and rank > 2 else step.last
        codes = [self.code(operand, common) for operand in work.operands]
        parts: dict[str, cst.BaseExpression | str] = {**step.parts}
        if work.layer is not None:
            parts["self"] = self.reach(work.layer)
        if "{xs}" in template:
            parts["xs"] = codes[0]
        elif "{x}" in template:
            parts["x"] = codes[0]
        else:
            parts |= {f"x{index}": code for index, code in enumerate(codes)}
        return expression(template, **parts)

    def reach(self, layer: Layer) -> cst.BaseExpression:
        """How `forward` writes a kept module here."""
        if id(layer) in self.names:
            return cst.parse_expression(self.names[id(layer)])
        if layer.listed:
            raise Refused("a layer made in a loop is applied outside it", layer.node)
        return expression(f"self.{layer.attribute}")

    # ------------------------------------------------------------ regions

    def _branch(self, branch: Branch) -> list[cst.BaseStatement]:
        if branch.identity is not None:
            return [without_lines(line) for line in self.block(branch.then)]
        then, otherwise = self.block(branch.then), self.block(branch.otherwise)
        if not then and not otherwise:
            return []
        if branch.attribute is not None:
            test: cst.BaseExpression = expression(f"self.{branch.attribute}")
        else:
            assert branch.forward_test is not None
            test = branch.forward_test
        if not then:
            node = cst.If(test=expression("not {test}", test=test), body=cst.IndentedBlock(otherwise))
        else:
            source = branch.node.orelse
            orelse: cst.Else | cst.If | None = cst.Else(body=cst.IndentedBlock(otherwise)) if otherwise else None
            if isinstance(source, cst.Else) and otherwise:
                lines = source.leading_lines
                orelse = cst.Else(body=block_like(otherwise, source.body), leading_lines=lines)
            if isinstance(branch.node.orelse, cst.If) and len(otherwise) == 1 and isinstance(otherwise[0], cst.If):
                orelse = otherwise[0].with_changes(leading_lines=())
            node = cst.If(test=test, body=block_like(then, branch.node.body), orelse=orelse)
        return [node.with_changes(leading_lines=branch.node.leading_lines)]

    def _loop(self, loop: Loop) -> list[cst.BaseStatement]:
        if loop.form == "zip":
            return self._zipped(loop)
        iterators = [] if loop.outer else self._iterators(loop)
        body = self.block(loop.body)
        if not body:
            return []
        assert loop.forward_iterable is not None
        node = cst.For(target=loop.node.target, iter=loop.forward_iterable, body=block_like(body, loop.node.body))
        return [*iterators, node.with_changes(leading_lines=loop.node.leading_lines)]

    def _iterators(self, loop: Loop) -> list[cst.BaseStatement]:
        found: list[cst.BaseStatement] = []
        for layer in listed_layers([loop]):
            name = self._free(layer.attribute)
            self.names[id(layer)] = f"next({name})"
            found += statements("{name} = iter(self.{attribute})", name=name, attribute=layer.attribute)
        return found

    def _zipped(self, loop: Loop) -> list[cst.BaseStatement]:
        """One loop over the module lists, whatever number of loops filled them."""
        layers = listed_layers([loop])
        targets, lists = [], []
        for layer in layers:
            name = self._free(singular(layer.attribute))
            self.names[id(layer)] = name
            targets.append(name)
            lists.append(f"self.{layer.attribute}")
        for outer in [loop, *below(loop)]:
            if outer.body is not innermost(loop) and any(
                self._settle(region) for region in outer.body if isinstance(region, Settle)
            ):
                raise Refused("a tensor changes its layout between two nested loops", loop.node)
        tensors = [item for part in [loop, *below(loop)] for item in part.tensor_items or ()]
        module = cst.Module([])
        for target, value in tensors:
            targets.append(module.code_for_node(target))
            lists.append(module.code_for_node(value))
        header = f"for {', '.join(targets)} in {lists[0] if len(lists) == 1 else 'zip(' + ', '.join(lists) + ')'}: pass"
        node = cst.parse_statement(header)
        assert isinstance(node, cst.For)
        if len(header) > WIDTH - _INDENT and isinstance(node.iter, cst.Call):
            node = node.with_changes(iter=broken(node.iter))
        body = self.block(innermost(loop))
        return [node.with_changes(body=block_like(body, loop.node.body), leading_lines=loop.node.leading_lines)]

    def _free(self, name: str) -> str:
        while name in self.taken:
            name += "_"
        return name


def permuted(code: cst.BaseExpression, rank: int, want: Layout) -> cst.BaseExpression:
    """The tensor seen in the other layout: a view, nothing is copied."""
    axes = (_TO_FIRST if want == "first" else _TO_LAST)[rank]
    return expression(f"{{x}}.permute{axes}", x=code)
