"""How a check runs: which interpreters, which checks, on what device, for how long."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from migrator.errors import MigrateError

Progress = Callable[[str], None]

CHECKS = ("build", "weights", "init", "forward", "onnx", "gradient", "train", "state", "compile")
DEFAULT_CHECKS = CHECKS[:-1]  # compiling takes half a minute and answers another question
SEED = 20260101


@dataclass(frozen=True)
class Options:
    """What the command line adds to a pair.

    `interpreters` maps `tensorflow` and `torch` to Python interpreters, the running one where absent. `timeout` is in
    seconds, per process. `inputs` is an .npz or .safetensors file with real inputs. `ad_hoc`: the pair comes from the
    command line; its record is not kept, and a migrate.toml beside the PyTorch file lends its accepted differences.
    `full` keeps whole arrays in a record instead of projections.
    """

    interpreters: Mapping[str, str] = field(default_factory=dict)
    checks: tuple[str, ...] = DEFAULT_CHECKS
    device: str = "auto"
    timeout: float = 900.0
    seed: int = SEED
    inputs: Path | None = None
    ad_hoc: bool = False
    full: bool = False

    def __post_init__(self) -> None:
        unknown = [check for check in self.checks if check not in CHECKS]
        if unknown or not self.checks:
            asked = ", ".join(unknown) or "(none given)"
            raise MigrateError(f"parity has no check {asked}. Choose among {', '.join(CHECKS)}.")
        if self.device not in ("auto", "cpu", "cuda"):
            raise MigrateError(f"There is no device {self.device}. Choose auto, cpu or cuda.")

    def ordered(self) -> tuple[str, ...]:
        """The requested checks in the order in which they are made."""
        return tuple(check for check in CHECKS if check in self.checks)
