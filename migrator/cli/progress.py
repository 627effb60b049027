"""What a long step is doing: a line that lives on a terminal, plain lines in a log. Always on standard error.

Stages call it with a short text; they know nothing of rich or of terminals. Work that is done within a second stays
silent.
"""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import click

Progress = Callable[[str], None]
SILENT_SECONDS = 1.0


@contextmanager
def progress(first: str) -> Iterator[Progress]:
    """Gives the callable to hand down, for as long as the work lasts; `first` says what it starts with."""
    if sys.stderr.isatty():
        from rich.console import Console

        with Console(stderr=True).status(first) as status:
            yield lambda text: status.update(text)
        return
    lines = _Lines(first)
    try:
        yield lines.tell
    finally:
        lines.stop()


class _Lines:
    """Plain lines: each new text once, with the seconds since the start."""

    def __init__(self, first: str) -> None:
        self._start, self._text, self._shown = time.monotonic(), first, ""
        self._lock = threading.Lock()
        self._timer = threading.Timer(SILENT_SECONDS, self._show)
        self._timer.daemon = True
        self._timer.start()

    def tell(self, text: str) -> None:
        """Takes the newest text, and prints it unless the work is still so young that it may stay silent."""
        self._text = text
        if time.monotonic() - self._start >= SILENT_SECONDS:
            self._show()

    def stop(self) -> None:
        """The work is over; nothing is printed any more."""
        self._timer.cancel()

    def _show(self) -> None:
        with self._lock:
            if self._text != self._shown:
                self._shown = self._text
                click.echo(f"[{time.monotonic() - self._start:4.0f} s] {self._text}", err=True)
