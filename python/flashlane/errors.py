"""The errors of the package. Each kind of error has one exception, and one exit status of the command."""

from __future__ import annotations


class Error(Exception):
    """Any error of the simulator."""


class ConfigError(Error, ValueError):
    """The configuration is refused.

    Attributes:
        problems: pairs of place (file and line, or key) and message (what was found, what is
            allowed), one for each problem.
    """

    def __init__(self, message: str, problems: list[tuple[str, str]] | None = None) -> None:
        """Keep the message and its problems."""
        super().__init__(message)
        self.problems = problems or []

    def __reduce__(self) -> tuple[type[ConfigError], tuple[str, list[tuple[str, str]]]]:
        """Pickle with the problems."""
        return (type(self), (str(self), self.problems))


class TraceError(Error, ValueError):
    """A trace is refused."""


class OutOfMemoryError(Error, MemoryError):
    """The run needs more memory than there is; the message says how much, and what makes it smaller."""


class OutputError(Error, OSError):
    """An output cannot be written."""


class RefusedError(Error, ValueError):
    """A drive does not take a command, and is as it was before.

    Attributes:
        row: the row of the table; ``None`` for a command that was submitted by itself.
    """

    def __init__(self, message: str, row: int | None = None) -> None:
        """Keep the message and the row."""
        super().__init__(message)
        self.row = row

    def __reduce__(self) -> tuple[type[RefusedError], tuple[str, int | None]]:
        """Pickle with the row."""
        return (type(self), (str(self), self.row))


class StuckError(Error, RuntimeError):
    """The simulated device could not finish the work; the message says which requests and why."""
