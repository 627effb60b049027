"""Loops: the body read twice, once to learn which sizes an iteration changes, once for good."""

from __future__ import annotations

import libcst as cst

from migrator.rewrite.arguments import code
from migrator.rewrite.models.branches import Branches, block_of
from migrator.rewrite.models.effects import repeatable
from migrator.rewrite.models.ir import Bundle, Line, Loop, Refused, Region, Settle, Store, Tensor
from migrator.rewrite.models.loop_forms import choose_forms
from migrator.rewrite.models.names_used import reads, target_names
from migrator.rewrite.models.scope import Scope, Stored, name_size
from migrator.rewrite.models.sizes import Size
from migrator.rewrite.templates import expression

# by tensor that an iteration changes: whether its channels, and its height and width, cannot be followed
Changes = dict[str, tuple[bool, bool]]


class Loops(Branches):
    """Reads `for` loops."""

    def loop(self, node: cst.For) -> list[Region]:
        """A `for` around layers."""
        if node.orelse is not None or node.asynchronous is not None:
            raise Refused("`for … else` around layers is not handled", node)
        assigned = self.bound_by(node.body) | target_names(node.target)
        changes: Changes = {}
        while (learned := self._dry_run(node, assigned, changes)) != changes:
            changes = learned
        return self._read_loop(node, assigned, changes)

    def _dry_run(self, node: cst.For, assigned: set[str], changes: Changes) -> Changes:
        """What an iteration does to the sizes of tensors: the body is read once and thrown away."""
        forget = self.trial()
        loop, settles = self._header(node, assigned, changes)
        headers = {name: value for name, value in self.scope.values.items() if isinstance(value, Tensor)}
        self.loops = (*self.loops, loop)
        self.block(block_of(node.body))
        learned = dict(changes)
        for settle in settles:
            end, start = self.scope.values.get(settle.name), headers[settle.name]
            if isinstance(end, Tensor) and not self._unchanged(start, end, assigned):
                lost = self._lost(start, end)
                known = learned.get(settle.name, lost)
                learned[settle.name] = (known[0] or lost[0], known[1] or lost[1])
        forget()
        return learned

    def _lost(self, start: Tensor, end: Tensor) -> tuple[bool, bool]:
        """Whether channels, and height and width, are not known any more at the end of an iteration."""
        channels = start.channels is not None and self.current(end.channels) is None
        if start.spatial is None:
            return channels, False
        if end.spatial is None or len(end.spatial) != len(start.spatial):
            return channels, True
        pairs = zip(start.spatial, end.spatial, strict=True)
        return channels, any(one is not None and self.current(other) is None for one, other in pairs)

    def _unchanged(self, start: Tensor, end: Tensor, assigned: set[str]) -> bool:
        pairs = [(start.channels, end.channels)]
        if start.spatial is not None and end.spatial is not None:
            pairs += list(zip(start.spatial, end.spatial, strict=False))
        elif start.spatial is not None:
            return False
        for one, other in pairs:
            if one is None or other is None:
                if one is not other:
                    return False
                continue
            if one.text != other.text or set(one.reads) & assigned or not one.same(other):
                return False
        return True

    def _header(self, node: cst.For, assigned: set[str], changes: Changes) -> tuple[Loop, list[Settle]]:
        """The loop's own scope: what it assigns may differ from one iteration to the next."""
        loop = self.loop_of(node)
        settles: list[Settle] = []
        entry = self.scope.copy()
        for name in assigned:
            self.numbers.bump(self.scope, name)
        carried = [
            name for name in sorted(self.bound_by(node.body)) if isinstance(entry.values.get(name), Tensor)
        ]  # the loop's own target is new in every iteration
        for name in carried:
            self._bump_running(name)
        for name in carried:
            start = entry.values[name]
            assert isinstance(start, Tensor)
            tensor = Tensor(start.rank, None, None, like=start, depth=len(self.loops) + 1)
            lost = changes.get(name, (False, False))
            if not lost[0]:
                tensor.channels = self._header_size(start.channels, self.running(name), assigned, name in changes)
            if start.spatial is not None and len(start.spatial) == 2 and not lost[1]:
                tensor.spatial = tuple(
                    self._header_size(size, axis, assigned, name in changes)
                    for axis, size in zip(self.axis_names(name), start.spatial, strict=True)
                )
            settles.append(Settle(name, start, tensor))
            self.scope.values[name] = tensor
        self._open_bundles(node, entry)
        self.bind_targets(loop, node)
        return loop, settles

    def _header_size(self, size: Size | None, variable: str, assigned: set[str], changed: bool) -> Size | None:
        """A size at the top of an iteration: as before the loop where nothing changes it, else the running variable."""
        if size is None:
            return None
        now = name_size(variable, self.scope.versions[variable])
        if changed or set(size.reads) & (assigned | {variable}):
            return now
        return Size(size.expr, size.value, size.reads, now)

    def _open_bundles(self, node: cst.For, entry: Scope) -> None:
        """Lists that the body changes are not known one by one any more."""
        touched = reads(node.body)
        for name, value in entry.values.items():
            if isinstance(value, Bundle) and name in touched:
                self.scope.values[name] = Bundle(value.element, None, value.twin)
                self.numbers.bump(self.scope, self.running(name))

    def _read_loop(self, node: cst.For, assigned: set[str], changed: Changes) -> list[Region]:
        entry, before = self.scope.copy(), Line(None)
        self.line = before
        loop, settles = self._header(node, assigned, changed)
        loop.entry = (entry, before)
        outer, self.loops = self.loops, (*self.loops, loop)
        loop.body = self.block(block_of(node.body))
        self.loops = outer
        for settle in settles:
            end = self.scope.values.get(settle.name)
            if isinstance(end, Tensor) and end is not settle.result:
                if settle.result.rank is not None and end.rank is not None and end.rank != settle.result.rank:
                    raise Refused(f"the rank of `{settle.name}` changes from one iteration to the next", node)
                loop.body.append(Settle(settle.name, end, settle.result))
        self._leave_loop(assigned, settles, changed)
        if not self.loops:
            self._choose_forms(loop)
        return [*settles, before, loop]

    def _choose_forms(self, outermost: Loop) -> None:
        """Once a nest of loops is read: what `forward` must replay with its own header."""
        scope, line = self.scope, self.line
        for loop in choose_forms([outermost]):
            self.scope, self.line = loop.entry
            self.loops = loop.outer
            loop.forward_iterable = self._header_again(loop)
        self.scope, self.line, self.loops = scope, line, ()

    def _header_again(self, loop: Loop) -> cst.BaseExpression:
        """The header as `forward` writes it; one that may yield something else is kept as a list in `__init__`."""
        if repeatable(loop.node.iter):
            return self.forward(loop.node.iter)
        if loop.outer or loop.tensor_items:
            raise Refused(f"`{code(loop.node.iter)}` in a loop may yield something else each time", loop.node)
        name = self._own_name("_and_".join(sorted(loop.targets)) + "_values")
        kept = expression("list({values})", values=loop.construct_iterable)
        event = Store(name, kept)
        self.stored[name] = Stored(0, event, self.line)
        self.line.events.append(event)
        loop.construct_iterable = expression(f"self.{name}")
        return loop.construct_iterable

    def _leave_loop(self, assigned: set[str], settles: list[Settle], changed: Changes) -> None:
        """After the last iteration: tensors keep the layout of the loop, sizes are in the running variables."""
        headers = {settle.name: settle.result for settle in settles}
        for name in sorted(assigned):
            value = self.scope.values.get(name)
            self.numbers.bump(self.scope, name)
            if not isinstance(value, Tensor):
                continue
            inside = headers.get(name, value)
            self._bump_running(name)
            channels, spatial = inside.channels, inside.spatial
            if ((name in changed or name not in headers) and channels is not None and channels.value is None) or (
                name in changed and value.channels is not None
            ):
                channels = name_size(self.running(name), self.scope.versions[self.running(name)])
            if (name in changed or name not in headers) and spatial is not None and len(spatial) == 2:
                spatial = tuple(
                    None if size is None else name_size(axis, self.scope.versions[axis])
                    for axis, size in zip(self.axis_names(name), spatial, strict=True)
                )
            self.scope.values[name] = Tensor(
                inside.rank, channels, spatial, like=inside, node=inside, depth=len(self.loops)
            )
