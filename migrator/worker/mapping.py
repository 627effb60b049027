"""Which PyTorch tensor each TensorFlow variable becomes: by structure and shape, then names, then order.

Variables of one Keras layer form a unit that must fit one PyTorch module: every variable has a tensor of the usual
name and of the shape that its layout gives. Where several modules fit, equal names decide, then the order. What no
unit fits is matched variable by variable. An order is a guess, so there are several hypotheses, and the caller keeps
the first that makes the outputs agree. Nothing is reshaped, and what is left over on either side is an error.
"""

from __future__ import annotations

import re
from typing import Any, Dict, Iterable, Mapping, Sequence

from . import layouts

Facts = Mapping[str, Any]
Entry = Dict[str, Any]  # variable (index), path, tensor (path), layout


class Unmatched(Exception):
    """Variables or tensors are left over; `facts` lists them, each with its candidates."""

    def __init__(self, facts: list[dict[str, Any]]) -> None:
        super().__init__("; ".join(_sentence(fact) for fact in facts))
        self.facts = facts


class Unit:
    """Variables that belong together. `wants` maps a torch.nn name to (variable index, layout, PyTorch shape)."""

    def __init__(self, name: str, wants: dict[str, tuple[int, str, tuple[int, ...]]]) -> None:
        self.name = name
        self.wants = wants

    def key(self) -> tuple[Any, ...]:
        """Units with equal keys fit the same modules."""
        return tuple(sorted((role, shape) for role, (_, _, shape) in self.wants.items()))


def hypotheses(
    variables: Sequence[Facts],
    tensors: Sequence[Facts],
    layers_called: Sequence[str] = (),
    modules_called: Sequence[str] = (),
) -> list[list[Entry]]:
    """The mappings worth trying, best first, without repetition.

    `variables` and `tensors` come in order of construction; the other two are names in order of execution.
    Raises Unmatched where something is left over whatever the order.
    """
    found: list[list[Entry]] = []
    for prefer in (0, 1):
        for by_name, called in ((True, False), (False, False), (False, True)):
            order = _order(modules_called) if called else {}
            units = _sorted(_units(variables), _order(layers_called) if called else {})
            mapping = _match(variables, tensors, units, order, by_name, prefer)
            if mapping not in found:
                found.append(mapping)
    return found


def _order(names: Sequence[str]) -> dict[str, int]:
    return {name: place for place, name in reversed(list(enumerate(names)))}


def _sorted(units: list[Unit], order: Mapping[str, int]) -> list[Unit]:
    return sorted(units, key=lambda unit: order.get(unit.name, len(order))) if order else units


def _units(variables: Sequence[Facts]) -> list[Unit]:
    """One unit a layer; a separable convolution is two, since PyTorch has a module for each half."""
    groups: dict[tuple[int, str, bool], list[int]] = {}
    for index, variable in enumerate(variables):
        half = variable["class"].startswith("Separable") and variable["role"] != "depthwise_kernel"
        groups.setdefault((variable["owner"], variable["layer"], half), []).append(index)
    units = []
    for (_, layer, _), indices in groups.items():
        wants = {}
        for index in indices:
            role, layout = layouts.usual(variables[index]["class"], variables[index]["role"])
            wants[role] = (index, layout, layouts.LAYOUTS[layout].shape(variables[index]["shape"]))
        units.append(Unit(layer.rpartition("/")[2], wants))
    return units


def _match(
    variables: Sequence[Facts],
    tensors: Sequence[Facts],
    units: Sequence[Unit],
    order: Mapping[str, int],
    by_name: bool,
    prefer: int,
) -> list[Entry]:
    modules: dict[str, list[Facts]] = {}
    for tensor in tensors:
        modules.setdefault(tensor["module"], []).append(tensor)
    names = sorted(modules, key=lambda name: order.get(name, len(order))) if order else list(modules)
    groups: dict[Any, list[Unit]] = {}
    for unit in units:
        groups.setdefault(unit.key(), []).append(unit)
    entries: list[Entry] = []
    taken: set[str] = set()
    for group in groups.values():
        fitting = [name for name in names if name not in taken and _fits(group[0], modules[name])]
        for unit, name in _paired(group, fitting, by_name):
            taken.add(name)
            by_role = {tensor["role"]: tensor for tensor in modules[name]}
            for role, (index, layout, _) in unit.wants.items():
                entries.append(_entry(variables, index, by_role[role]["path"], layout))
    free = {name: modules[name] for name in names if name not in taken}
    entries += _whole_units(variables, units, free, entries, prefer)
    entries += _one_by_one(variables, tensors, entries, prefer)
    _nothing_left(variables, tensors, entries)
    return sorted(entries, key=lambda entry: int(entry["variable"]))


def _whole_units(
    variables: Sequence[Facts],
    units: Sequence[Unit],
    free: dict[str, list[Facts]],
    entries: Sequence[Entry],
    prefer: int,
) -> list[Entry]:
    """Units that only some modules of the usual kind fit, or none: in order, with whatever names the tensors have."""
    done = {int(entry["variable"]) for entry in entries}
    found: list[Entry] = []
    for unit in units:
        indices = [index for index, _, _ in unit.wants.values()]
        if done.intersection(indices):
            continue
        for name, tensors in free.items():
            fitting = _loosely(variables, indices, tensors, prefer)
            if fitting:
                found += fitting
                free = {other: kept for other, kept in free.items() if other != name}
                break
    return found


def _loosely(variables: Sequence[Facts], indices: Sequence[int], tensors: Sequence[Facts], prefer: int) -> list[Entry]:
    """Every variable to a tensor of one module, with nothing left over on either side; else nothing."""
    left = [tensor for tensor in tensors if counts(tensor)]
    found = []
    for index in indices:
        fitting = candidates(variables[index], left, prefer)
        same = [fit for fit in fitting if _plain(fit[0]["role"]) == _plain(variables[index]["role"])]
        if not fitting:
            return []
        tensor, layout = (same or fitting)[0]
        left = [other for other in left if other is not tensor]
        found.append(_entry(variables, index, tensor["path"], layout))
    return [] if left else found


def _entry(variables: Sequence[Facts], index: int, path: str, layout: str) -> Entry:
    return {"variable": index, "path": variables[index]["path"], "tensor": path, "layout": layout}


def _fits(unit: Unit, tensors: Iterable[Facts]) -> bool:
    by_role = {tensor["role"]: tensor for tensor in tensors}
    for role, (_, _, shape) in unit.wants.items():
        if role not in by_role or tuple(by_role[role]["shape"]) != shape:
            return False
    return all(role in unit.wants or not counts(tensor) for role, tensor in by_role.items())


def _paired(group: Sequence[Unit], fitting: Sequence[str], by_name: bool) -> list[tuple[Unit, str]]:
    """Units with modules: those of equal names first, the rest in order; nothing where the numbers differ."""
    if len(group) != len(fitting):
        return []
    pairs = []
    rest = list(fitting)
    left = []
    for unit in group:
        same = [name for name in rest if by_name and _plain(name.rpartition(".")[2]) == _plain(unit.name)]
        if len(same) == 1:
            pairs.append((unit, same[0]))
            rest.remove(same[0])
        else:
            left.append(unit)
    return pairs + list(zip(left, rest))


def _plain(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.lower())


def _one_by_one(
    variables: Sequence[Facts], tensors: Sequence[Facts], entries: Sequence[Entry], prefer: int
) -> list[Entry]:
    """What fits no module as a whole: an own `nn.Parameter`, weights of a custom layer."""
    used = {entry["tensor"] for entry in entries}
    done = {entry["variable"] for entry in entries}
    found = []
    for index, variable in enumerate(variables):
        fitting = [] if index in done else candidates(variable, [t for t in tensors if t["path"] not in used], prefer)
        same = [fit for fit in fitting if _plain(fit[0]["role"]) == _plain(variable["role"])]
        if fitting:
            tensor, layout = (same or fitting)[0]
            used.add(tensor["path"])
            found.append(_entry(variables, index, tensor["path"], layout))
    return found


def candidates(variable: Facts, tensors: Iterable[Facts], prefer: int = 0) -> list[tuple[Facts, str]]:
    """The tensors that a variable fits, each with the layout in which it does."""
    names = layouts.possible(variable["class"], variable["role"])
    found = []
    for tensor in tensors:
        # the layout of torch.nn's own modules is known; code written by hand may have kept Keras's
        allowed = names[:1] if tensor["library"] else names[::-1] if prefer else names
        for name in allowed:
            fits = layouts.LAYOUTS[name].shape(variable["shape"]) == tuple(tensor["shape"])
            if fits and not (tensor["buffer"] and variable["trainable"]):
                found.append((tensor, name))
    return found


def counts(tensor: Facts) -> bool:
    """Whether a tensor must have a variable: not counters, constant buffers, frozen zeros or frozen ones."""
    if tensor["role"] == "num_batches_tracked":
        return False
    if tensor["buffer"]:
        return tensor["role"] in ("running_mean", "running_var")
    return bool(tensor["trainable"]) or tensor.get("constant") not in (0.0, 1.0)


def _nothing_left(variables: Sequence[Facts], tensors: Sequence[Facts], entries: Sequence[Entry]) -> None:
    used = {entry["tensor"] for entry in entries}
    done = {entry["variable"] for entry in entries}
    free = [tensor for tensor in tensors if tensor["path"] not in used and counts(tensor)]
    facts = []
    for index, variable in enumerate(variables):
        if index not in done:
            near = [t["path"] for t in free if sorted(t["shape"]) == sorted(variable["shape"])]
            facts.append(_left("tensorflow", variable, near))
    for tensor in free:
        near = [v["path"] for i, v in enumerate(variables) if i not in done and len(v["shape"]) == len(tensor["shape"])]
        facts.append(_left("torch", tensor, near))
    if facts:
        raise Unmatched(facts)


def _left(side: str, facts: Facts, near: Sequence[str]) -> dict[str, Any]:
    return {"side": side, "path": facts["path"], "shape": list(facts["shape"]), "candidates": list(near)}


def _sentence(fact: Facts) -> str:
    where = "TensorFlow variable" if fact["side"] == "tensorflow" else "PyTorch tensor"
    near = ", ".join(fact["candidates"]) or "none of its shape"
    return "{} {} {} has no counterpart (candidates: {})".format(where, fact["path"], fact["shape"], near)
