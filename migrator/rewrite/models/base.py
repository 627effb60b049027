"""The state that reading a function carries along, and the questions every part of the reading asks."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import libcst as cst

from migrator.catalogue import Catalogue
from migrator.facts import Definition, Profile
from migrator.rewrite.arguments import Refusal, code
from migrator.rewrite.call_site import rewritten
from migrator.rewrite.models.binding import Function, Names, local_names
from migrator.rewrite.models.constants import fold, single_assignments
from migrator.rewrite.models.construct_side import Construct, Rename
from migrator.rewrite.models.effects import once_only, repeatable
from migrator.rewrite.models.ir import Bundle, Config, Layer, Line, Loop, Refused, Store, Tensor, Track, Value
from migrator.rewrite.models.layer_call import Surroundings
from migrator.rewrite.models.names_used import read_nodes
from migrator.rewrite.models.scope import GroupFacts, Scope, Shape, Stored, Summary, Versions, name_size
from migrator.rewrite.models.shape_reads import index_of, shape_of
from migrator.rewrite.models.sizes import Size, number
from migrator.rewrite.templates import expression

CONFIG_FAMILIES = {"regularizer", "initializer", "activation", "dtype", "constant", "backend"}


def _assigned(statement: cst.CSTNode | None) -> cst.BaseExpression | None:
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    return small.value if isinstance(small, (cst.Assign, cst.AnnAssign)) else None


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

    def forward(self, node: cst.BaseExpression) -> cst.BaseExpression:
        """Configuration as `forward` reads it: attributes in the place of names, which are stored on the way."""
        if not self._reads_loop_tensor(node) and not repeatable(node):
            raise Refused(f"`{code(node)}` may have another value each time it is evaluated", node)
        new = self.construct(node) if not self._reads_loop_tensor(node) else node
        replacements: dict[str, cst.BaseExpression] = {}
        for name in read_nodes(new):
            text = name.value
            if text in self.scope.values or text in replacements:
                continue
            if self._of_a_loop(text):
                continue
            if text in self.locals or text in self.scope.versions:
                self.store(text, node)
                replacements[text] = expression(f"self.{text}")
        if not replacements:
            return new
        renamed = new.visit(Rename(replacements, {id(name) for name in read_nodes(new)}))
        assert isinstance(renamed, cst.BaseExpression)
        return renamed

    def _reads_loop_tensor(self, node: cst.BaseExpression) -> bool:
        return any(name.value in self.scope.values for name in read_nodes(node))

    def _of_a_loop(self, name: str) -> bool:
        """Whether a loop around this place binds the name: then `forward` must replay the loop."""
        for loop in reversed(self.loops):
            if name in loop.targets:
                loop.forward_names.add(name)
                return True
            if name in loop.names:
                bound = self.numbers.bound.get((name, self.scope.versions.get(name, 0)))
                if bound is None or name in self.numbers.mutations:
                    raise Refused(f"`{name}` is carried from one iteration to the next, and tensor work reads it", None)
                loop.forward_names.add(name)
                self._replay(bound[1], bound[2])
                return True
        return False

    def _replay(self, config: Config, versions: dict[str, int]) -> None:
        """Has `forward` compute a value of the loop again, from what its names were where it was computed."""
        if config.replayed is not None:
            return
        statement = config.source
        small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
        if not isinstance(small, cst.Assign) or len(config.binds) != 1:
            raise Refused("a value that changes in a loop is needed by tensor work", statement)
        here, self.scope.versions = self.scope.versions, versions
        try:
            value = self.forward(small.value)
        finally:
            self.scope.versions = here
        config.replayed = cst.SimpleStatementLine(body=[small.with_changes(value=value)])

    def store(self, name: str, node: cst.CSTNode) -> None:
        """Has `self.name = name` printed where the name got the version that is current here."""
        version = self.scope.versions.get(name, 0)
        known = self.stored.get(name)
        if known is not None:
            if known.version != version:
                raise Refused(f"`{name}` changes between two places where tensor work reads it", node)
            return
        event = Store(name, cst.Name(name))
        bound = self.numbers.bound.get((name, version))
        line = self.line
        made = bound[1].source if bound is not None else None
        if once_only(_assigned(made) or self.named.get(name, cst.Name(name))):
            raise Refused(f"`{name}` is an iterator, which can be walked over only once", node)
        if version == 0:
            line = self.top
            line.events.append(event)
        elif bound is not None:
            line, config, _ = bound
            line.events.insert(line.events.index(config) + 1, event)
        elif self.loops:
            raise Refused(f"`{name}` changes in a loop before tensor work reads it", node)
        else:
            line.events.append(event)
        self.stored[name] = Stored(version, event, line)

    def check_stored(self, later: set[str]) -> None:
        """Refuses where what `forward` reads is changed in place afterwards; `later` are names changed further down."""
        for name, stored in self.stored.items():
            if name in later or self.numbers.mutations.get(name, -1) > stored.version:
                raise Refused(f"`{name}` is changed in place after tensor work has read it", stored.line.node)

    def trial(self) -> Callable[[], None]:
        """Remembers the state, so that a stretch of code can be read for what it teaches and then be forgotten."""
        kept = (self.line, self.loops, self.scope, list(self.results))
        self.scope = self.scope.copy()
        stored, top = dict(self.stored), list(self.top.events)
        names = [(loop, set(loop.forward_names)) for loop in self.loops]

        def forget() -> None:
            for name in set(self.stored) - set(stored):
                gone = self.stored[name]
                if gone.event in gone.line.events:
                    gone.line.events.remove(gone.event)
            self.line, self.loops, self.scope, self.results = kept
            self.stored, self.top.events[:] = stored, top
            for loop, before in names:
                loop.forward_names.clear()
                loop.forward_names |= before

        return forget

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
