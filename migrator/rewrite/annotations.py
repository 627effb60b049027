"""Annotations of code that is PyTorch now: `-> tf.keras.Model` is `-> nn.Module`, `tf.Tensor` `torch.Tensor`."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import libcst as cst

from migrator.facts import Definition, Resolution
from migrator.rewrite.models.binding import MODEL_APIS, SEQUENTIAL_APIS
from migrator.rewrite.templates import expression, imports_of

_MODULES = MODEL_APIS | SEQUENTIAL_APIS | {"tf.keras.Functional", "tf.keras.layers.Layer", "tf.Module"}
_TENSORS = {"tf.Tensor", "tf.keras.KerasTensor"}
_FROM_NN = "from torch import nn"


@dataclass
class Annotated:
    """New annotations, and the imports that they need."""

    edits: dict[cst.CSTNode, Sequence[cst.CSTNode]] = field(default_factory=dict)
    imports: set[str] = field(default_factory=set)


def annotation_apis(resolution: Resolution) -> list[cst.CSTNode]:
    """Nodes of TensorFlow names that stand in annotations."""
    if not resolution.apis:
        return []
    return [node for _, inside in _by_statement(resolution) for node in inside]


def annotation_edits(
    resolution: Resolution,
    alive: set[int],
    edits: Mapping[cst.CSTNode, Sequence[cst.CSTNode]],
    converted: Collection[Definition],
) -> Annotated:
    """New annotations for every top-level statement that keeps nothing else of TensorFlow.

    `converted` are the factories and models that are PyTorch now: code that names them was rewritten with them.
    """
    found = Annotated()
    for statement, inside in _by_statement(resolution):
        if not _rewritten(statement, set(inside), resolution, alive, edits, converted):
            continue
        for node in inside:
            new = _translated(resolution.apis[node]) if id(node) in alive else None
            if new is not None:
                found.edits[node] = [expression(new)]
                found.imports |= imports_of(new) | ({_FROM_NN} if new.startswith("nn.") else set())
    return found


def _translated(api: str) -> str | None:
    if api in _MODULES:
        return "nn.Module"
    return "torch.Tensor" if api in _TENSORS else None


def _by_statement(resolution: Resolution) -> Iterator[tuple[cst.CSTNode, list[cst.CSTNode]]]:
    """Top-level statements that have TensorFlow names in their annotations, and those."""
    for statement in resolution.source.module.body:
        inside = [node for part in _annotations(statement) for node in _below(part) if node in resolution.apis]
        if inside:
            yield statement, inside


def _annotations(node: cst.CSTNode) -> Iterator[cst.Annotation]:
    return (item for item in _below(node) if isinstance(item, cst.Annotation))


def _rewritten(
    statement: cst.CSTNode,
    inside: set[cst.CSTNode],
    resolution: Resolution,
    alive: set[int],
    edits: Mapping[cst.CSTNode, Sequence[cst.CSTNode]],
    converted: Collection[Definition],
) -> bool:
    touched = False
    for node in _below(statement):
        if node in resolution.apis and id(node) in alive and node not in inside:
            return False
        touched = touched or node in edits or resolution.definitions.get(node) in converted
    return touched


def _below(node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    pending = [node]
    while pending:
        current = pending.pop()
        yield current
        pending.extend(current.children)
