"""What a tree holds, and what its names mean: the facts of scan and resolve."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from migrator.facts.words import Use

if TYPE_CHECKING:
    import libcst as cst


@dataclass(frozen=True)
class Source:
    """One Python file of the analysed tree, parsed. `path` is relative to the root and uses `/`."""

    path: str
    text: str
    module: cst.Module = field(repr=False, compare=False)
    encoding: str = "utf-8"


@dataclass(frozen=True)
class Skipped:
    """A file that could not be read, and why."""

    file: str
    reason: str


@dataclass(frozen=True)
class Environment:
    """Which TensorFlow the tree was written for, and what says so."""

    keras: Literal[2, 3]
    keras_reason: str
    requirements: Mapping[str, str]  # package -> version specifier as written, "" where unlocked


@dataclass(frozen=True)
class Inventory:
    """What a tree holds. `sources` are the files with a trace of TensorFlow or of the project's own modules."""

    root: Path
    files: int
    sources: tuple[Source, ...]
    skipped: tuple[Skipped, ...]
    environment: Environment


@dataclass(frozen=True)
class Call:
    """One resolved use of a TensorFlow API. `line` is 1-based, `column` 0-based, of the chain's first token."""

    file: str
    line: int
    column: int
    api: str  # canonical name, as the contract defines it
    use: Use
    node: cst.CSTNode = field(repr=False, compare=False)
    cell: int | None = None
    within: str = (
        ""  # the function or class around it, dotted: `Net.call`; of a base class or decorator the one it marks
    )
    role: Literal["", "base", "decorator", "test", "with"] = ""  # what the place around it does with it
    site: cst.Call | None = field(default=None, repr=False, compare=False)  # the whole call, where `use` is a call


@dataclass(frozen=True)
class TensorTest:
    """An `if` or `while` that asks for the value of a tensor."""

    file: str
    line: int
    text: str
    within: str


@dataclass(frozen=True)
class Unknown:
    """A use that may be TensorFlow and cannot be decided."""

    file: str
    line: int
    text: str
    reason: str


@dataclass(frozen=True)
class Definition:
    """A function, class or module-level name of the project itself: `models.py`, `build_resnet`."""

    file: str
    name: str


@dataclass(frozen=True)
class Resolution:
    """What the names of one source mean. Nodes are the source's own, compared by identity."""

    source: Source
    calls: tuple[Call, ...]
    unknown: tuple[Unknown, ...]
    apis: Mapping[cst.CSTNode, str]  # Name or Attribute (longest chain) -> canonical TensorFlow name
    definitions: Mapping[cst.CSTNode, Definition]  # Name or Attribute -> what it denotes in the project
    imports: Mapping[str, str]  # local name bound by an import -> dotted name it stands for, any library
    tests: tuple[TensorTest, ...] = ()


@dataclass(frozen=True)
class Project:
    """An inventory and what its names mean; the input of assess and rewrite."""

    inventory: Inventory
    resolutions: Mapping[str, Resolution]  # by Source.path
