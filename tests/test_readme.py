"""What README.md shows exists: commands, their options, make targets, extras, the configuration."""

from __future__ import annotations

import re
import shlex
import tomllib
from pathlib import Path

import click
import pytest

from migrator import cli, config

CHECKOUT = Path(__file__).resolve().parent.parent
README = (CHECKOUT / "README.md").read_text(encoding="utf-8")
FENCES = re.findall(r"^```(\w*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
SHELL = [line for language, body in FENCES if language == "" for line in body.splitlines() if line.strip()]
COMMAND_LINES = [line for line in SHELL if re.match(r"(\S*/)?migrate ", line)]


def command(name: str) -> click.Command:
    found = cli.program.get_command(click.Context(cli.program), name)
    assert found is not None, f"README shows a command `{name}`, which does not exist"
    return found


@pytest.mark.parametrize("line", COMMAND_LINES)
def test_a_command_line_of_the_readme_is_one_that_migrate_accepts(line: str) -> None:
    _, name, *arguments = shlex.split(line)
    # parses the arguments, checks that nothing is left over or missing, and runs nothing
    command(name).make_context(name, arguments)


def test_the_readme_shows_command_lines_at_all() -> None:
    assert len(COMMAND_LINES) >= 8


def test_the_table_of_commands_is_complete_and_in_the_programs_order() -> None:
    rows = re.findall(r"^\| `migrate (\w+)", README, re.MULTILINE)
    assert rows == list(cli.COMMANDS)


@pytest.mark.parametrize("row", re.findall(r"^\| `migrate \w+.*$", README, re.MULTILINE))
def test_the_options_in_a_row_of_the_table_belong_to_its_command(row: str) -> None:
    name = row.split()[2].strip("`")
    known = {option for parameter in command(name).params for option in parameter.opts}
    assert set(re.findall(r"--[a-z-]+", row)) <= known


def test_the_make_targets_exist() -> None:
    makefile = (CHECKOUT / "Makefile").read_text(encoding="utf-8")
    targets = re.findall(r"`?make (\w+)`?", README)
    assert targets
    for target in targets:
        assert re.search(rf"^{target}:", makefile, re.MULTILINE), target


def test_the_extras_exist() -> None:
    project = tomllib.loads((CHECKOUT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    shown = {name for group in re.findall(r"\[([\w,]+)\]'", README) for name in group.split(",")} - {"and-cuda"}
    assert {"cpu", "gpu"} <= shown
    assert shown <= set(project["optional-dependencies"])


@pytest.mark.parametrize("text", [body for language, body in FENCES if language == "toml"])
def test_a_configuration_in_the_readme_is_read_without_a_complaint(text: str, tmp_path: Path) -> None:
    (tmp_path / "migrate.toml").write_text(text, encoding="utf-8")
    found = config.load(tmp_path)
    assert found.pairs or found.interpreters
