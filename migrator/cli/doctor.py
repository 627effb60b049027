"""`migrate doctor`: what is installed, which device, and what each command lacks."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from migrator.cli.options import text_or_json
from migrator.cli.output import emit, emit_json
from migrator.cli.progress import progress

if TYPE_CHECKING:
    from migrator.doctor import Health, Interpreter, Need


@click.command("doctor", short_help="What is installed, and what each command lacks.")
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    help="Look at the interpreters this migrate.toml names; by default the one in the current folder, if there is one.",
)
@text_or_json
def command(config: Path | None, form: str) -> int:
    """Say what is installed, which device there is, and what each command lacks."""
    from migrator import config as configuration
    from migrator import doctor

    file = config or configuration.find(Path.cwd())
    interpreters = configuration.load(file).interpreters if file else {}
    with progress("importing the frameworks to see their devices"):
        health = doctor.examine(interpreters)
    if form == "json":
        emit_json({"schema": "migrate.doctor/1", **asdict(health)})
    else:
        emit("\n".join(_text(health)))
    return 0


def _text(health: Health) -> list[str]:
    compiler = health.compiler or "none: torch.compile cannot run; install g++ or clang++"
    lines = [
        f"migrate {health.version}, {health.system}, {health.cores} cores",
        f"C++ compiler for torch.compile: {compiler}",
    ]
    own = health.interpreters["own"]
    lines += ["", f"Packages beside migrate ({own.python}, Python {own.version}):", *_packages(own)]
    for side in ("tensorflow", "torch"):
        lines += ["", *_side(side, health.interpreters[side], own)]
    lines += ["", "Commands:", *(_command(need) for need in health.commands)]
    if any(need.missing for need in health.commands):
        lines += ["", f"Install what is missing beside migrate with: pip install 'tf2torch-migrator[{health.extra}]'"]
    return lines


def _packages(found: Interpreter) -> list[str]:
    return [f"  {name:<12} {version or 'not installed'}" for name, version in found.packages.items()]


def _side(side: str, found: Interpreter, own: Interpreter) -> list[str]:
    where = "beside migrate" if found.python == own.python else found.python
    lines = [f"The {side} side runs {where}, Python {found.version or 'unknown'}:"]
    if found.python != own.python:
        lines += _packages(found)
    if found.error:
        lines.append(f"  does not work: {found.error}")
    elif found.packages.get(side):
        lines.append(f"  devices      {', '.join(found.devices) if found.devices else 'CPU only, no GPU seen'}")
    else:
        lines.append(f"  {side} is not installed")
    return lines


def _command(need: Need) -> str:
    if not need.missing:
        return f"  {need.command:<11} ready"
    parts = [
        f"{', '.join(names)} {'beside migrate' if place == 'own' else f'on the {place} side'}"
        for place, names in need.missing.items()
    ]
    return f"  {need.command:<11} lacks {'; '.join(parts)}"
