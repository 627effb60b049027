"""A dependency group from source to classes: read until nothing new is learned, laid out, printed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from migrator.catalogue import Catalogue
from migrator.facts import Definition, Profile
from migrator.rewrite.models.binding import Function
from migrator.rewrite.models.classes import class_definition, parameter, plain_parameter
from migrator.rewrite.models.creation import movable, returns_model
from migrator.rewrite.models.effects import mutates
from migrator.rewrite.models.forward_tidy import without_dead_aliases
from migrator.rewrite.models.helpers import ReadAgain, construction
from migrator.rewrite.models.inputs import ModelBody
from migrator.rewrite.models.ir import Branch, Layer, Refused, Region, Tensor, Value, walk
from migrator.rewrite.models.layout import solve
from migrator.rewrite.models.liveness import Liveness
from migrator.rewrite.models.loop_forms import made_layers
from migrator.rewrite.models.names_used import binds, read_nodes, reads
from migrator.rewrite.models.naming import assign_attributes
from migrator.rewrite.models.print_forward import ForwardPrinter
from migrator.rewrite.models.print_init import InitPrinter
from migrator.rewrite.models.reader import Reader, without_docstring
from migrator.rewrite.models.scope import GroupFacts, Summary
from migrator.tree import children

_ROUNDS = 40


@dataclass(eq=False)
class Printed:
    """One function of the group, read and half printed: `__init__` is, `forward` waits for the layout."""

    function: Function
    reading: Reader
    summary: Summary
    regions: list[Region]
    model: ModelBody | None
    init: list[cst.BaseStatement] = field(default_factory=list)
    parameters: tuple[str, ...] = ()
    outside: tuple[str, ...] = ()  # local names that the class is given besides the function's own parameters
    definition: cst.ClassDef | None = None


class Group:
    """Functions that can only be rewritten together."""

    def __init__(
        self,
        functions: Sequence[Function],
        everything: Mapping[Definition, Function],
        catalogue: Catalogue,
        profile: Profile,
        class_names: Mapping[Definition, str],
    ) -> None:
        self.functions, self.everything = functions, everything
        self.catalogue, self.profile, self.class_names = catalogue, profile, class_names
        self.facts = GroupFacts()
        self.current: Function = functions[0]

    def rewrite(self) -> list[Printed]:
        """Every function with its class. Raises Refused, with `current` at the function that is to blame."""
        for _ in range(_ROUNDS):
            self.facts.changed = False
            try:
                printed = self._read()
            except ReadAgain:
                continue
            if self.facts.changed:
                continue
            if not self.facts.draft:
                break
            self.facts.draft = False
        else:
            raise Refused("the shapes of the helpers' tensors do not settle", self.current.node)
        solve([(item.regions, _results(item)) for item in printed])
        for item in printed:
            self.current = item.function
            item.definition = self._class(item)
        return printed

    def _read(self) -> list[Printed]:
        summaries: dict[Definition, Summary] = {}
        printed: list[Printed] = []
        for function in self.functions:
            self.current = function
            reading = Reader(function, self.everything, summaries, self.facts, self.catalogue, self.profile)
            name = self.class_names[function.definition]
            if function.kind == "helper":
                regions = reading.read_helper()
                item = Printed(function, reading, _summary(reading, name), regions, None)
            else:
                reading.movable = movable(function)
                model = reading.read_model()
                item = Printed(function, reading, Summary(function, name, {}, {}, []), model.regions, model)
            self._print_init(item)
            summaries[function.definition] = item.summary
            printed.append(item)
        return printed

    # ------------------------------------------------------------ __init__

    def _print_init(self, item: Printed) -> None:
        reading, regions = item.reading, item.regions
        layers = made_layers(regions)
        taken = {*reading.stored, "out_channels", "out_size"}
        assign_attributes(layers, taken)
        _name_conditions(regions, taken | {layer.attribute for layer in layers})
        liveness = Liveness(lambda layer: reads(self._make(layer)))
        needed = liveness.start(regions) - set(reading.placeholders)
        item.parameters = tuple(name for name in _all_parameters(item) if name in needed)
        if item.function.kind != "script":
            outside = item.model.before if item.model is not None else []
            before = set[str]().union(*(binds(statement) for statement in outside))
            item.outside = tuple(sorted((needed & before) - {param.name.value for param in item.function.params}))
        else:
            _settled_once(item, needed)
        item.summary.parameters = item.parameters
        item.summary.size_names = reading.size_names
        item.summary.penalty = any(layer.penalty for layer in layers)
        item.summary.differences = frozenset().union(*(layer.differences for layer in layers))
        printer = InitPrinter(liveness, lambda layer: self._resolved(item, self._make(layer)), self._resolver(item))
        item.init = printer.block(regions)

    def _make(self, layer: Layer) -> cst.BaseExpression:
        if layer.invocation is not None:
            return construction(layer.invocation)
        assert layer.make is not None
        return layer.make

    def _resolver(self, item: Printed):  # type: ignore[no-untyped-def]
        return lambda node: self._resolved(item, node)

    def _resolved(self, item: Printed, node: cst.CSTNode):  # type: ignore[no-untyped-def]
        """Placeholders for what a helper's module says of itself, written out."""
        placeholders = item.reading.placeholders
        names = {name.value for name in read_nodes(node)} & set(placeholders)
        if not names:
            return node
        texts: dict[str, cst.BaseExpression] = {}
        for name in names:
            layer, summary, attribute, index, axis = placeholders[name]
            self.facts.demand((summary.function.definition.file, summary.function.definition.name, attribute))
            place = f"self.{layer.attribute}[-1]" if layer.listed else f"self.{layer.attribute}"
            tail = "".join(f"[{number}]" for number in (index, axis) if number is not None)
            texts[name] = cst.parse_expression(f"{place}.{attribute}{tail}")
        return node.visit(_Put(texts))

    # ------------------------------------------------------------ the class

    def _class(self, item: Printed) -> cst.ClassDef:
        reading, function = item.reading, item.function
        results = None if item.model is not None else _result_tensors(item)
        printer = ForwardPrinter(results, reading.locals | set(reading.scope.values))
        forward = without_dead_aliases(printer.block(item.regions))
        if item.model is not None:
            docstring = item.model.docstring if returns_model(item.model) else None
            forward_params = [plain_parameter(given.name) for given in item.model.inputs]
            item.init.append(cst.parse_statement("keras_init_(self)"))
        else:
            _, docstring = without_docstring(function.body)
            forward_params = [
                plain_parameter(name, "None" if isinstance(value, Tensor) and value.optional else None)
                for name, value in reading.tensors.items()
            ]
        positional, keywords = self._init_params(item)
        return class_definition(
            item.summary.class_name,
            positional,
            keywords,
            item.init,
            forward_params,
            forward,
            docstring,
            item.model is not None and item.summary.penalty,
        )

    def _init_params(self, item: Printed) -> tuple[list[cst.Param], list[cst.Param]]:
        reading, function = item.reading, item.function
        first: list[cst.Param] = [plain_parameter(name) for name in item.outside]
        optional: list[cst.Param] = []
        for tensor, size in reading.sizes.items():
            value = reading.tensors[tensor]
            there = not (isinstance(value, Tensor) and value.optional)
            for name in (size, reading.size_names[tensor]):
                if name in item.parameters:
                    (first if there else optional).append(plain_parameter(name, None if there else "None"))
        keyword_only = (
            set()
            if isinstance(function.node, cst.Module)
            else {param.name.value for param in function.node.params.kwonly_params}
        )
        positional, keywords = first, list[cst.Param]()
        for param in function.params:
            if param.name.value in item.parameters and param.name.value not in function.tensors:
                default = None if param.default is None else reading.construct(param.default)
                annotated = param.annotation is None or not _names_tensorflow(param.annotation, reading)
                new = parameter(param, default, annotated)
                (keywords if param.name.value in keyword_only else positional).append(new)
        return positional + optional, keywords


def _settled_once(item: Printed, needed: set[str]) -> None:
    """The class of a script reads the module's variables when the model is made, after all that stands before it."""
    assert item.model is not None
    counts = Counter(name for statement in item.model.before for name in binds(statement))
    changed = set[str]().union(*(mutates(statement) for statement in item.model.before))
    for name in sorted(needed):
        if counts[name] > 1 or name in changed:
            raise Refused(f"`{name}` changes while the model is being built", item.model.creation)


def _names_tensorflow(node: cst.CSTNode, reading: Reader) -> bool:
    return reading.names.api(node) is not None or any(_names_tensorflow(child, reading) for child in children(node))


class _Put(cst.CSTTransformer):
    def __init__(self, texts: Mapping[str, cst.BaseExpression]) -> None:
        super().__init__()
        self.texts = texts

    def leave_Name(self, original_node: cst.Name, updated_node: cst.Name) -> cst.BaseExpression:
        return self.texts.get(original_node.value, updated_node)


def _all_parameters(item: Printed) -> list[str]:
    names: list[str] = []
    for tensor, size in item.reading.sizes.items():
        names += [size, item.reading.size_names[tensor]]
    return names + [param.name.value for param in item.function.params if param.name.value not in item.function.tensors]


def _summary(reading: Reader, name: str) -> Summary:
    """What callers may know of a helper: its results, each joined from all of its returns."""
    counts = {len(values) for values in reading.results}
    if len(counts) != 1:
        raise Refused(f"`{reading.function.name}` returns different numbers of tensors", reading.function.node)
    joined: list[Value] = []
    for values in zip(*reading.results, strict=True):
        tensors = [value for value in values if isinstance(value, Tensor)]
        if len(tensors) != len(values):
            raise Refused(f"`{reading.function.name}` returns a list among its results", reading.function.node)
        joined.append(_joined(tensors))
    return Summary(reading.function, name, reading.tensors, reading.sizes, joined)


def _joined(tensors: Sequence[Tensor]) -> Tensor:
    first = tensors[0]
    ranks = {tensor.rank for tensor in tensors}
    result = Tensor(first.rank if len(ranks) == 1 else None, first.channels, first.spatial, like=first)
    if len(ranks) > 1:
        result.fixed = "last"
    for other in tensors[1:]:
        if result.channels is None or not result.channels.same(other.channels):
            result.channels = None if other.channels is None else _unsayable(other)
        if result.spatial != other.spatial and result.spatial is not None:
            result.spatial = tuple(_unsayable(other) for _ in result.spatial)
    labels = {tensor.activation for tensor in tensors}
    result.activation = first.activation if len(labels) == 1 else None
    return result


def _unsayable(tensor: Tensor):  # type: ignore[no-untyped-def]
    """A size that depends on which `return` was taken: only the module can tell."""
    from migrator.rewrite.models.sizes import Size

    return Size(cst.Name("_"), None, {"_": -1, "__": -1})


def _result_tensors(item: Printed) -> list[Tensor]:
    return [value for value in item.summary.results if isinstance(value, Tensor)]


def _results(item: Printed) -> list[tuple[Value, Tensor | None]]:
    if item.model is not None:
        return [(tensor, None) for tensor in item.model.outputs]
    results = _result_tensors(item)
    return [(value, result) for values in item.reading.results for value, result in zip(values, results, strict=True)]


def _name_conditions(regions: Sequence[Region], taken: set[str]) -> None:
    """Conditions that `__init__` keeps are called by the first layer that they guard."""
    taken = set(taken)
    for region in walk(regions):
        if isinstance(region, Branch) and region.attribute is not None:
            guarded = made_layers(region.then) or made_layers(region.otherwise)
            name = f"use_{guarded[0].attribute}" if guarded else "condition"
            number = 1
            while name in taken:
                number += 1
                name = f"{name.rstrip('0123456789')}{number}"
            taken.add(name)
            region.attribute = name
