"""Configuration that `forward` reads: stored once under `self`, or computed again where a loop is replayed."""

from __future__ import annotations

from collections.abc import Callable

import libcst as cst

from migrator.rewrite.arguments import code
from migrator.rewrite.models.base import Reading
from migrator.rewrite.models.construct_side import Rename
from migrator.rewrite.models.effects import once_only, repeatable
from migrator.rewrite.models.ir import Config, Refused, Store
from migrator.rewrite.models.names_used import read_nodes
from migrator.rewrite.models.scope import Stored
from migrator.rewrite.templates import expression


class ForwardSide(Reading):
    """Expressions as `forward` writes them."""

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


def _assigned(statement: cst.CSTNode | None) -> cst.BaseExpression | None:
    small = statement.body[0] if isinstance(statement, cst.SimpleStatementLine) else None
    return small.value if isinstance(small, (cst.Assign, cst.AnnAssign)) else None
