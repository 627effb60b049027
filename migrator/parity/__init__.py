"""Parity: two versions of a model compute the same thing, proven from a record of the TensorFlow side."""

from migrator.parity.checking import check
from migrator.parity.options import CHECKS, DEFAULT_CHECKS, Options, Progress
from migrator.parity.recording import record
from migrator.parity.training import spread, tensorflow_spread, train_for_real

__all__ = [
    "CHECKS",
    "DEFAULT_CHECKS",
    "Options",
    "Progress",
    "check",
    "record",
    "spread",
    "tensorflow_spread",
    "train_for_real",
]
