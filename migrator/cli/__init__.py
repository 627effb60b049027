"""`migrate`: the command line. One command a module of this package, found by name and loaded when it is asked for.

Commands are thin: they read options, call `migrator.pipeline` and print. They return an exit code. What goes wrong
arrives here as an exception and leaves as a sentence on standard error; a traceback is shown to those who ask for it
with MIGRATE_DEBUG=1.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence
from typing import NoReturn

import click

from migrator import __version__
from migrator.cli.output import say
from migrator.errors import ExitCode, MigrateError

COMMANDS = ("assess", "rewrite", "record", "parity", "bench", "run", "report", "rules", "doctor")
INTERRUPTED = 130


class Program(click.Group):
    """Commands by name, each imported only when it is used or listed."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """In the order of the work, not of the alphabet."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of the module `migrator.cli.<name>`, which calls it `command`."""
        if cmd_name not in COMMANDS:
            return None
        found: click.Command = importlib.import_module(f"migrator.cli.{cmd_name}").command
        return found


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110})
@click.version_option(__version__, prog_name="migrate", message="%(prog)s %(version)s")
def program() -> None:
    """Moves a TensorFlow codebase to PyTorch 2 and proves every step."""


def main() -> NoReturn:
    """The console script: runs the command line and exits with its code."""
    sys.exit(execute(sys.argv[1:]))


def execute(arguments: Sequence[str]) -> int:
    """Runs one command line and returns its exit code; whatever goes wrong has been said on standard error."""
    try:
        # not program.main: it turns a closed pipe into exit code 1, which here means that work remains
        with program.make_context("migrate", list(arguments)) as context:
            code = program.invoke(context)
        sys.stdout.flush()
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.ClickException as error:
        error.show()
        return int(ExitCode.UNABLE)
    except (click.Abort, KeyboardInterrupt):
        return INTERRUPTED
    except BrokenPipeError:
        # whoever read us has enough; keep the interpreter from complaining about it at its end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return int(ExitCode.CLEAN)
    except MigrateError as error:
        _debug()
        say(f"migrate: {error.message}")
        return int(error.code)
    except Exception as error:
        _debug()
        say(_unexpected(error))
        return int(ExitCode.UNABLE)
    return int(code or 0)


def _debug() -> None:
    if os.environ.get("MIGRATE_DEBUG"):
        import traceback

        say(traceback.format_exc())


def _unexpected(error: Exception) -> str:
    """A sentence for what nobody foresaw: a missing package has a remedy, anything else is a defect of ours."""
    if isinstance(error, ModuleNotFoundError) and error.name and not error.name.startswith("migrator"):
        return (
            f"migrate: the package '{error.name.partition('.')[0]}' is not installed. "
            "Install it with: pip install 'tf2torch-migrator[cpu]' (or [gpu])."
        )
    what = " ".join(str(error).split()) or "no message"
    return (
        f"migrate: this is a defect of migrate {__version__}, not of your code ({type(error).__name__}: {what[:300]}). "
        "Please report it with the command line and the traceback that MIGRATE_DEBUG=1 shows."
    )
