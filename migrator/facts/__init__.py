"""Frozen values that cross stages. A stage reads the facts of the one before it and returns its own."""

from migrator.facts.assessment import Advice, Assessment, Effort, EffortLine, Finding, Hazard, Structure
from migrator.facts.pairs import Accept, Named, Pair, Training
from migrator.facts.proofs import BenchResult, BenchRow, Check, PairResult, TrainingResult, TrainingRun
from migrator.facts.rewriting import FileResult, Left, Rewritten, Site
from migrator.facts.rules import Example, Parameter, Rule, Variant
from migrator.facts.source import (
    Call,
    Definition,
    Environment,
    Inventory,
    Project,
    Resolution,
    Skipped,
    Source,
    TensorTest,
    Unknown,
)
from migrator.facts.words import GRADES, Grade, Profile, Use, Verdict

__all__ = [
    "GRADES",
    "Accept",
    "Advice",
    "Assessment",
    "BenchResult",
    "BenchRow",
    "Call",
    "Check",
    "Definition",
    "Effort",
    "EffortLine",
    "Environment",
    "Example",
    "FileResult",
    "Finding",
    "Grade",
    "Hazard",
    "Inventory",
    "Left",
    "Named",
    "Pair",
    "PairResult",
    "Parameter",
    "Profile",
    "Project",
    "Resolution",
    "Rewritten",
    "Rule",
    "Site",
    "Skipped",
    "Source",
    "Structure",
    "TensorTest",
    "Training",
    "TrainingResult",
    "TrainingRun",
    "Unknown",
    "Use",
    "Variant",
    "Verdict",
]
