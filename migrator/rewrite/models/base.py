"""The state that reading a function carries along, and the questions every part of the reading asks."""

from __future__ import annotations

from collections.abc import Mapping

import libcst as cst

from migrator.catalogue import Catalogue
from migrator.facts import Definition, Profile
from migrator.rewrite.arguments import Refusal, code
from migrator.rewrite.call_site import rewritten
from migrator.rewrite.models.binding import Function, Names, local_names
from migrator.rewrite.models.constants import fold, single_assignments
from migrator.rewrite.models.construct_side import Construct
from migrator.rewrite.models.effects import repeatable
from migrator.rewrite.models.ir import Bundle, Config, Layer, Line, Loop, Refused, Tensor, Track, Value
from migrator.rewrite.models.layer_call import Surroundings
from migrator.rewrite.models.names_used import read_nodes
from migrator.rewrite.models.scope import GroupFacts, Scope, Shape, Stored, Summary, Versions, name_size
from migrator.rewrite.models.shape_reads import index_of, shape_of
from migrator.rewrite.models.sizes import Size, number

CONFIG_FAMILIES = {"regularizer", "initializer", "activation", "dtype", "constant", "backend"}


Placeholder = tuple[Layer, Summary, str, int | None, int | None]


class Reading:
    """One pass over one function. Subclasses add expressions, statements and joins."""

    def __init__(
        self,
        function: Function,
        functions: Mapping[Definition, Function],
        summaries: Mapping[Definition, Summary],
        facts: GroupFacts,
        catalogue: Catalogue,
        profile: Profile,
    ) -> None:
        self.function, self.functions, self.summaries = function, functions, summaries
        self.facts, self.catalogue = facts, catalogue
        self.names = Names(function.resolution, catalogue, function.keras)
        self.scope = Scope()
        self.numbers = Versions()
        self.line = Line(None)
        self.loops: tuple[Loop, ...] = ()
        self.stored: dict[str, Stored] = {}
        self.top = Line(None)  # what happens before the first statement
        self.outside: set[str] = set()  # names that statements in front of the class bind
        self.placeholders: dict[str, Placeholder] = {}
        self.results: list[list[Value]] = []
        self.sizes: dict[str, str] = {}  # tensor parameter -> the name of its channels in __init__
        self.locals = set() if function.kind == "script" else local_names(function)
        parameters = {param.name.value for param in function.params}
        module = single_assignments(
            [item for item in function.resolution.source.module.body if isinstance(item, cst.BaseStatement)]
        )
        own = {} if function.kind == "script" else single_assignments(function.body)
        self.named = {name: value for name, value in module.items() if name not in self.locals}
        self.named |= {name: value for name, value in own.items() if name not in parameters}
        self.around = Surroundings(
            self.construct, self.constant, self.size, self.names.api, function.keras, profile, facts.draft
        )

    # ------------------------------------------------------------ questions

    def running(self, name: str) -> str:
        """The variable of `__init__` that follows a tensor's channels; a name that the source does not have."""
        return self._own_name(f"{name}_channels")

    def axis_names(self, name: str) -> tuple[str, str]:
        """The variables that follow a tensor's height and width."""
        return self._own_name(f"{name}_height"), self._own_name(f"{name}_width")

    def _own_name(self, name: str) -> str:
        while name in self.locals:
            name += "_"
        return name

    def key(self, name: str, function: Function | None = None) -> tuple[str, str, str]:
        """How facts about a name of a function are filed."""
        definition = (function or self.function).definition
        return definition.file, definition.name, name

    def constant(self, node: cst.BaseExpression) -> object:
        """The value of an expression where the source settles it."""
        named = dict(self.named)
        for name in {*self.scope.versions, *self.outside}:
            version = self.scope.versions.get(name, 0)
            if (name, version) in self.numbers.constants:
                named[name] = self.numbers.constants[(name, version)]
            elif name in self.numbers.mutations:
                named.pop(name, None)
        return fold(node, self.names.api, named)

    def size(self, node: cst.BaseExpression) -> Size:
        """An expression of configuration as a size."""
        if isinstance(node, cst.Integer):
            return number(int(node.value, 0))
        new = self.construct(node)
        if not repeatable(new):
            new = self._evaluated_once(new)
        reads = {
            name.value: self.scope.versions.get(name.value, 0)
            for name in read_nodes(new)
            if name.value in self.locals or name.value in self.scope.versions
        }
        value = int(new.value, 0) if isinstance(new, cst.Integer) else None
        return Size(new, value, reads)

    def _evaluated_once(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """A name for a size that is also the next layer's: the expression may give another value when asked again."""
        name = self._own_name(f"width{len(self.numbers.bound)}")
        statement = cst.SimpleStatementLine([cst.Assign([cst.AssignTarget(cst.Name(name))], node)])
        event = Config(statement, statement, frozenset({name}))
        self.line.events.append(event)
        version = self.numbers.bump(self.scope, name)
        self.numbers.bound[(name, version)] = (self.line, event, dict(self.scope.versions))
        return cst.Name(name)

    def tensor_named(self, node: cst.BaseExpression) -> Tensor | None:
        """The tensor that a plain name denotes."""
        value = self.scope.values.get(node.value) if isinstance(node, cst.Name) else None
        return value if isinstance(value, Tensor) else None

    def shape(self, node: cst.BaseExpression) -> Tensor | None:
        """The tensor whose whole shape an expression is."""
        if isinstance(node, cst.Name):
            value = self.scope.values.get(node.value)
            return value.tensor if isinstance(value, Shape) else None
        return shape_of(node, self.tensor_named, self.names.api)

    def dimension(self, node: cst.BaseExpression) -> Size | None:
        """The size that a read such as `x.shape[-1]` yields; None where the expression is no such read."""
        if isinstance(node, cst.Call) and isinstance(node.func, cst.Name) and node.func.value == "int":
            return self.dimension(node.args[0].value) if len(node.args) == 1 else None
        if not isinstance(node, cst.Subscript):
            return None
        tensor = self.shape(node.value)
        if tensor is None:
            return None
        index = index_of(node, self.constant)
        size = None if index is None else self.axis_size(tensor, index)
        if size is None:
            raise Refused(f"the size `{code(node)}` cannot be derived", node)
        return size

    def axis_size(self, tensor: Tensor, index: int) -> Size | None:
        """The size along an axis of the source's order."""
        rank = tensor.rank
        if index == -1 or (rank is not None and index == rank - 1):
            return self.current(tensor.channels)
        if rank is None or tensor.spatial is None:
            return None
        position = index if index >= 0 else index + rank
        return self.current(tensor.spatial[position - 1]) if 0 < position < rank - 1 else None

    def current(self, size: Size | None) -> Size | None:
        """A size as it can be written here."""
        return None if size is None else size.at(self.scope.versions)

    # ------------------------------------------------------------ the two sides of an expression

    def construct(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """Configuration as `__init__` writes it: sizes in the place of shape reads, PyTorch in that of TensorFlow."""
        new = node.visit(Construct(self))
        assert isinstance(new, cst.BaseExpression)
        return new

    def construct_statement(self, node: cst.BaseStatement) -> cst.BaseStatement:
        """The same for a statement."""
        new = node.visit(Construct(self))
        assert isinstance(new, cst.BaseStatement)
        return new

    # ------------------------------------------------------------ binding

    def bind_tensor(self, name: str, tensor: Tensor) -> None:
        """A variable now holds this tensor; its running sizes follow."""
        self.scope.values[name] = tensor
        tensor.channels = self._track(self.running(name), tensor.channels)
        if tensor.spatial is not None and tensor.rank == 4:
            names = self.axis_names(name)
            tensor.spatial = tuple(self._track(axis, size) for axis, size in zip(names, tensor.spatial, strict=True))

    def _track(self, name: str, size: Size | None) -> Size | None:
        now = self.current(size)
        if now is None:
            return None
        self.line.events.append(Track(name, now.expr))
        version = self.numbers.bump(self.scope, name)
        return Size(now.expr, now.value, now.reads, name_size(name, version))

    def bind_bundle(self, name: str, bundle: Bundle) -> None:
        """A variable now holds this list of tensors; the list of their channels follows."""
        self.scope.values[name] = bundle
        twin = self.running(name)
        value = self.twin_value(bundle)
        if value is not None:
            self.line.events.append(Track(twin, value))
        self.numbers.bump(self.scope, twin)
        bundle.twin = twin if value is not None else None

    def twin_value(self, bundle: Bundle) -> cst.BaseExpression | None:
        """The channel counts of a bundle as a list, None where one is unknown."""
        if bundle.items is not None:
            sizes = [self.current(item.channels) for item in bundle.items]
            if any(size is None for size in sizes):
                return None
            return cst.List([cst.Element(size.expr) for size in sizes if size is not None])
        return None if bundle.twin is None else cst.parse_expression(bundle.twin)

    def bound_rule(self, node: cst.Call) -> cst.BaseExpression:
        """A call of configuration (a regulariser, an initialiser) through its rule's template."""
        rule = self.names.rule(node.func)
        api = self.names.api(node.func)
        if rule is None or rule.torch is None or rule.family not in CONFIG_FAMILIES:
            raise Refused(f"{api} is used while the model is built and has no translation there yet", node)
        printed = rewritten(rule, node, self.names.resolution, None, self.construct)
        if isinstance(printed, Refusal):
            raise Refused(printed.reason, node, rule.id)
        return printed.node
