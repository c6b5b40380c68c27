"""How the package asks the command ``flashlane``, and how answers show as tables."""

from __future__ import annotations

import html
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from flashlane._flashlane import Device
from flashlane.errors import ConfigError, Error, StuckError
from flashlane.workload import Flow, Workload

#: The variable that names the command, where it is not on the path.
VARIABLE = "FLASHLANE_COMMAND"


def command() -> str:
    """The command ``flashlane``: the one that ``FLASHLANE_COMMAND`` names, or the one on the path."""
    named = os.environ.get(VARIABLE)
    found = shutil.which(named or "flashlane")
    if found is None:
        told = f"{VARIABLE}: found {named!r}" if named else "found no command `flashlane` on the path"
        raise ConfigError(f"{told}; allowed: a program, as docs/install.md has it, or its name in {VARIABLE}")
    return found


def asked(arguments: Sequence[str | PathLike[str]], answers: Sequence[int] = (0,)) -> str:
    """Run the command; what it printed where it ends with a status of ``answers``.

    Raises:
        flashlane.errors.Error: it ended with an error, which is the message.
    """
    called = [command(), *(fspath(argument) for argument in arguments)]
    done = subprocess.run(called, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode in answers:
        return done.stdout
    said = done.stderr.strip().removeprefix("error: ") or f"ended with status {done.returncode}"
    kinds: dict[int, type[Error]] = {2: ConfigError, 3: StuckError}
    raise kinds.get(done.returncode, Error)(said)


def checked(answer: dict[str, Any], schema: str) -> dict[str, Any]:
    """An answer of this format; one of another release is refused."""
    if answer.get("schema") != schema:
        raise ConfigError(f"{command()}: found schema {answer.get('schema')}, allowed: {schema}")
    return answer


@contextmanager
def files(
    device: Device | str | PathLike[str] | dict[str, Any],
    workload: Workload | list[Flow] | str | PathLike[str] | dict[str, Any],
) -> Iterator[tuple[str, str]]:
    """Device and workload as the command takes them: names and paths as they are, others as files."""
    with tempfile.TemporaryDirectory(prefix="flashlane-") as folder:
        yield device_file(device, Path(folder)), _workload_file(workload, Path(folder))


def device_file(device: Device | str | PathLike[str] | dict[str, Any], folder: Path) -> str:
    """A device as the command takes it."""
    if isinstance(device, (str, PathLike)):
        return fspath(device)
    path = folder / "device.toml"
    text = device.to_toml() if isinstance(device, Device) else Device(device).to_toml()
    path.write_text(text, encoding="utf-8")
    return str(path)


def _workload_file(
    workload: Workload | list[Flow] | str | PathLike[str] | dict[str, Any], folder: Path
) -> str:
    if isinstance(workload, (str, PathLike)):
        return fspath(workload)
    made = workload if isinstance(workload, Workload) else Workload(workload)
    path = folder / "workload.toml"
    path.write_text(made.to_toml(), encoding="utf-8")
    return str(path)


def text_of(value: Any) -> str:
    """A cell of a table."""
    if value is None:
        return "-"
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def html_table(said: str, rows: Sequence[dict[str, Any]]) -> str:
    """Rows as a table for notebooks, below a sentence."""
    heads = list(dict.fromkeys(key for row in rows for key in row))
    head = "".join(f"<th>{html.escape(name)}</th>" for name in heads)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(text_of(row.get(name)))}</td>" for name in heads) + "</tr>"
        for row in rows
    )
    return f"<p>{html.escape(said)}</p><table><tr>{head}</tr>{body}</table>"
