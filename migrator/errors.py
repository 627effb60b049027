"""The one exception a user may cause, and the exit codes it carries."""

import enum


class ExitCode(enum.IntEnum):
    """What a command's end means to a script."""

    CLEAN = 0
    WORK = 1
    UNABLE = 2


class MigrateError(Exception):
    """One or two plain sentences for the user: what is wrong, where, what to do."""

    def __init__(self, message: str, code: ExitCode = ExitCode.UNABLE) -> None:
        super().__init__(message)
        self.message = message
        self.code = code
