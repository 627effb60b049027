"""Frozen values that cross stages. A stage reads the facts of the one before it and returns its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import libcst as cst

Grade = Literal["exact", "review", "manual", "blocked"]
Use = Literal["call", "reference", "method"]
Verdict = Literal["pass", "fail", "unsupported", "skipped", "error"]
Profile = Literal["idiomatic", "faithful"]
GRADES: tuple[Grade, ...] = ("exact", "review", "manual", "blocked")


# ---------------------------------------------------------------- scan


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


# ---------------------------------------------------------------- resolve


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


# ---------------------------------------------------------------- catalogue


@dataclass(frozen=True)
class Parameter:
    """One parameter of a rule's TensorFlow signature; `default` is its source text, None where required."""

    name: str
    default: str | None
    keyword_only: bool = False
    variadic: bool = False


@dataclass(frozen=True)
class Example:
    """The runnable example of a rule; `given` maps each free name to a SPEC such as `float32[2,3]`.

    `more` are further calls on the same arrays, proven by value only: other argument values, each variant.
    """

    before: str
    after: str
    given: Mapping[str, str]
    atol: float
    reason: str = ""
    more: tuple[str, ...] = ()


@dataclass(frozen=True)
class Variant:
    """Another template of a rule, taken where every condition of `when` holds (see catalogue.conditions)."""

    when: Mapping[str, str]
    torch: str
    fill: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Rule:
    """One entry of the catalogue. Exactly one of `torch`, `build`, `structure` and `guide` is set."""

    id: str
    tf: str  # canonical name
    parameters: tuple[Parameter, ...]
    also: tuple[str, ...]
    family: str
    grade: Grade
    torch: str | None = None
    build: str | None = None
    structure: str | None = None
    guide: str | None = None
    fill: Mapping[str, str] = field(default_factory=dict)
    ignore: tuple[str, ...] = ()
    refuse: tuple[str, ...] = ()
    keras: tuple[int, ...] = (2, 3)
    hazards: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    weights: Mapping[str, str] = field(default_factory=dict)
    example: Example | None = None
    proof: Literal["numeric", "distribution", "effect", "fixture"] = "numeric"
    doc: str = ""
    file: str = ""
    constant: bool = False  # a name without arguments, such as tf.float32
    reference: str | None = None  # what stands for the API where it is passed on instead of called
    when: Mapping[str, str] = field(default_factory=dict)  # conditions of `torch`; where they fail the call is left
    variants: tuple[Variant, ...] = ()  # tried in order before `torch`
    tensors: tuple[str, ...] = ()  # parameters for which a literal number or list must become a tensor
    skip: str = ""  # why the entry's proof is not run
    digest: str = ""  # hash of the entry's text; a proof holds for one digest

    @property
    def automatic(self) -> bool:
        """Whether the rewriter handles it by itself."""
        return self.guide is None


# ---------------------------------------------------------------- assess


@dataclass(frozen=True)
class Finding:
    """A call with its rule, grade and minutes. `grade` is None where no rule exists."""

    call: Call
    rule: str | None
    grade: Grade | None
    minutes: float
    message: str


@dataclass(frozen=True)
class Structure:
    """A model, layer class, fit call, tape loop … and its size in calls."""

    kind: str
    file: str
    line: int
    name: str
    size: int


@dataclass(frozen=True)
class EffortLine:
    """One line of the bill: hours, where they come from."""

    what: str
    category: str
    file: str
    count: int
    low: float
    likely: float
    high: float


@dataclass(frozen=True)
class Effort:
    """Hours. `lines` add up to `likely`."""

    low: float
    likely: float
    high: float
    lines: tuple[EffortLine, ...]


@dataclass(frozen=True)
class Hazard:
    """A place that will hurt: why, and what to do about it."""

    id: str
    file: str
    line: int
    why: str
    do: str


@dataclass(frozen=True)
class Advice:
    """`verdict` with one line of evidence per dimension."""

    verdict: Literal["migrate", "pilot", "keras-torch", "stay"]
    evidence: Mapping[str, str]


@dataclass(frozen=True)
class Assessment:
    """What `migrate assess` found out."""

    files: int
    findings: tuple[Finding, ...]
    unknown: tuple[Unknown, ...]
    structures: tuple[Structure, ...]
    effort: Effort
    hazards: tuple[Hazard, ...]
    environment: Environment
    advice: Advice
    skipped: tuple[Skipped, ...]


# ---------------------------------------------------------------- rewrite


@dataclass(frozen=True)
class Site:
    """A place where a structure was rewritten, or was not."""

    file: str
    line: int
    structure: str
    name: str
    rewritten: bool


@dataclass(frozen=True)
class Left:
    """A construct that stays as it was, and why."""

    file: str
    line: int
    rule: str
    reason: str


@dataclass(frozen=True)
class FileResult:
    """One file before and after. Equal texts where nothing changed."""

    path: str
    status: Literal["full", "partial", "unchanged", "skipped"]
    reason: str
    before: str
    after: str


@dataclass(frozen=True)
class Rewritten:
    """What `migrate rewrite` would write: changed files, new files (support code), pairs for migrate.toml."""

    files: tuple[FileResult, ...]
    sites: tuple[Site, ...]
    left: tuple[Left, ...]
    created: Mapping[str, str]
    pairs: tuple[Pair, ...]


# ---------------------------------------------------------------- pairs, parity


@dataclass(frozen=True)
class Named:
    """A loss or optimizer from the catalogue by its Keras class name, with its arguments."""

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Accept:
    """A known difference the team lives with."""

    id: str
    because: str


@dataclass(frozen=True)
class Training:
    """How to train both versions for real. `data` is a REF whose callable returns arrays (see config)."""

    data: str
    epochs: int
    metric: str
    batch: int = 32


@dataclass(frozen=True)
class Pair:
    """A TensorFlow model and its PyTorch twin, as in migrate.toml. REFs are relative to the configuration's folder."""

    name: str
    tensorflow: str
    torch: str
    inputs: tuple[str, ...]
    batch: int = 32
    target: str | None = None
    loss: Named | None = None
    optimizer: Named | None = None
    training: Training | None = None
    weights: str | None = None
    accept: tuple[Accept, ...] = ()
    budget: Mapping[str, float] = field(default_factory=dict)
    call: str | None = None
    torch_call: str | None = None
    tensorflow_args: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Check:
    """One check's verdict. `needed` is the tolerance that would have passed; numbers are relative."""

    id: str
    verdict: Verdict
    error: float | None = None
    floor: float | None = None
    needed: float | None = None
    reason: str = ""
    details: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class PairResult:
    """What parity says about one pair."""

    name: str
    verdict: Literal["pass", "fail", "error"]
    reason: str
    checks: tuple[Check, ...]
    first_divergence: Mapping[str, Any] | None = None
    differences: tuple[Mapping[str, Any], ...] = ()


# ---------------------------------------------------------------- real training


@dataclass(frozen=True)
class TrainingRun:
    """One version trained once. `test` is the metric on held-out data after training."""

    side: Literal["tensorflow", "torch"]
    seed: int
    curves: Mapping[str, tuple[float, ...]]  # "loss", "val_loss", a metric's name … -> one value an epoch
    test: float


@dataclass(frozen=True)
class TrainingResult:
    """Both versions of a pair trained from the same initial weights on the same batches, once for each seed."""

    name: str
    metric: str
    epochs: int
    runs: tuple[TrainingRun, ...]


# ---------------------------------------------------------------- bench


@dataclass(frozen=True)
class BenchRow:
    """One variant's figures; times in milliseconds per step as the name says, memory in bytes."""

    side: Literal["tensorflow", "torch"]
    mode: str
    precision: str
    step_ms: Mapping[str, float]  # median, low, high
    samples_per_second: float
    memory_bytes: int
    memory_kind: Literal["vram", "rss"]
    compile_seconds: float
    data_wait_share: float | None = None
    note: str = ""
    warmup_seconds: float = 0.0  # what the first steps took beyond steady ones, compilation not counted


@dataclass(frozen=True)
class BenchResult:
    """The rows of one pair and the deltas between them. `reason` says why there are none, where there are none."""

    name: str
    rows: tuple[BenchRow, ...]
    deltas: Mapping[str, Any]
    reason: str = ""
    missing: Mapping[str, str] = field(default_factory=dict)  # "torch compiled" -> why it could not be measured
    machine: Mapping[str, Any] = field(default_factory=dict)  # device, threads, versions, rounds, steps
    over_budget: tuple[str, ...] = ()  # what the pair's budget allows and was not kept, a sentence each
