"""The only code that knows the order of stages. Commands call these functions; none of them prints or exits."""

from migrator.pipeline.selection import Selection, from_config, from_options
from migrator.pipeline.stages import (
    Mode,
    Outcome,
    assess,
    bench,
    parity,
    quiet,
    record,
    report,
    require_empty,
    rewrite,
    train,
)
from migrator.pipeline.whole import Options as RunOptions
from migrator.pipeline.whole import Whole, run

__all__ = [
    "Mode",
    "Outcome",
    "RunOptions",
    "Selection",
    "Whole",
    "assess",
    "bench",
    "from_config",
    "from_options",
    "parity",
    "quiet",
    "record",
    "report",
    "require_empty",
    "rewrite",
    "run",
    "train",
]
