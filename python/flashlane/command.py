"""How the commands of the package end: ``python -m flashlane.search`` and ``python -m flashlane.cluster``."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from flashlane.errors import Error


def ended(run: Callable[[], None]) -> int:
    """Run a command to its end, its output included; its exit status."""
    try:
        run()
        sys.stdout.flush()
    except BrokenPipeError:
        # A reader that went away is no error.
        _drop_output()
    except (Error, OSError, ModuleNotFoundError) as error:
        _drop_output()
        print(f"error: {error}", file=sys.stderr)
        return 2
    return 0


def _drop_output() -> None:
    """Let Python not try again, when it ends, what could not be written."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
