"""The command line itself: what it lists, how it ends, and that a defect is a sentence too."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest

from migrator import __version__, cli
from migrator.errors import ExitCode, MigrateError


def failing(error: BaseException) -> click.Command:
    def body() -> int:
        raise error

    return click.Command("doctor", callback=body)


@pytest.fixture
def failure(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Makes the command `doctor` raise this."""

    def install(error: BaseException) -> None:
        monkeypatch.setattr(cli.Program, "get_command", lambda self, ctx, name: failing(error))

    return install


def test_the_version_is_the_packages(migrate: Any) -> None:
    said = migrate("--version")
    assert (said.code, said.out) == (0, f"migrate {__version__}\n")


def test_the_module_is_the_program() -> None:
    done = subprocess.run([sys.executable, "-m", "migrator", "--version"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, f"migrate {__version__}\n")


def test_help_lists_every_command_with_a_whole_sentence(migrate: Any) -> None:
    listed = migrate("--help").out.partition("Commands:")[2].splitlines()
    assert [line.split()[0] for line in listed if line.strip()] == list(cli.COMMANDS)
    assert all(line.endswith(".") and not line.endswith("...") for line in listed if line.strip())


@pytest.mark.parametrize("name", cli.COMMANDS)
def test_every_command_has_help_for_each_of_its_options(migrate: Any, name: str) -> None:
    command = cli.program.get_command(click.Context(cli.program), name)
    assert command is not None
    assert command.help
    assert migrate(name, "--help").code == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["frobnicate"], "No such command 'frobnicate'"),
        (["assess"], "Missing argument 'PATH'"),
        (["assess", ".", "--nonsense"], "No such option"),
        (["assess", ".", "--format", "yaml"], "'yaml' is not one of"),
        (["assess", ".", "--rate", "-1"], "--rate"),
        (["rewrite", "."], "exactly one of --out DIR, --in-place, --diff and --check"),
        (["rewrite", ".", "--out", "a", "--diff"], "exactly one of"),
        (["run", "."], "Missing option '--out'"),
        (["parity", "name", "--torch", "a.py:build"], "leave out the pair 'name'"),
        (["parity", "--config", "m.toml", "--torch", "a.py:build"], "leave out --config"),
    ],
)
def test_wrong_usage_is_exit_2_and_says_what_is_wrong(migrate: Any, arguments: list[str], says: str) -> None:
    said = migrate(*arguments)
    assert said.code == 2
    assert says in said.err
    assert said.out == ""


@pytest.mark.parametrize("code", list(ExitCode))
def test_a_users_error_is_its_sentence_and_its_own_exit_code(migrate: Any, failure: Any, code: ExitCode) -> None:
    failure(MigrateError("The file x.py is odd. Mend it.", code))
    said = migrate("doctor")
    assert (said.code, said.out, said.err) == (int(code), "", "migrate: The file x.py is odd. Mend it.\n")


@pytest.mark.parametrize("error", [KeyboardInterrupt(), click.Abort()])
def test_an_interrupt_ends_quietly(migrate: Any, failure: Any, error: BaseException) -> None:
    failure(error)
    said = migrate("doctor")
    assert said.code == 130
    assert said.err.strip() == ""
    assert said.out == ""


def test_a_defect_is_one_sentence_with_how_to_report_it(migrate: Any, failure: Any) -> None:
    failure(KeyError("lost"))
    said = migrate("doctor")
    assert said.code == 2
    assert "defect of migrate" in said.err
    assert "KeyError: 'lost'" in said.err
    assert "MIGRATE_DEBUG=1" in said.err
    assert "Traceback" not in said.err


def test_the_traceback_is_shown_to_those_who_ask(migrate: Any, failure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MIGRATE_DEBUG", "1")
    failure(KeyError("lost"))
    assert "Traceback (most recent call last)" in migrate("doctor").err


def test_a_package_that_is_not_installed_names_the_extra(migrate: Any, failure: Any) -> None:
    failure(ModuleNotFoundError("No module named 'matplotlib'", name="matplotlib.pyplot"))
    said = migrate("doctor")
    assert said.code == 2
    assert "'matplotlib' is not installed" in said.err
    assert "pip install 'tf2torch-migrator[cpu]'" in said.err


def test_a_reader_that_closes_early_is_no_error(tmp_path: Path) -> None:
    program = "from migrator.cli import execute\nimport click, sys\n"
    program += "from migrator import cli\n"
    program += "cli.Program.get_command = lambda s, c, n: click.Command('x', callback=lambda: print('y\\n' * 10**6))\n"
    program += "sys.exit(execute(['x']))\n"
    script = tmp_path / "script.py"
    script.write_text(program)
    line = f"'{sys.executable}' '{script}' 2>'{tmp_path}/err' | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True)
    assert done.stdout.splitlines() == ["y", "0"]
    assert (tmp_path / "err").read_text() == ""
