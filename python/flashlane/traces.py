"""Traces of block I/O: reading, cloning."""

from __future__ import annotations

from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from flashlane import _flashlane
from flashlane._flashlane import Table
from flashlane.progress import Progress, shown

if TYPE_CHECKING:
    from flashlane._flashlane import Reading


def _reading(path: str | PathLike[str], keys: dict[str, Any]) -> Reading:
    return {
        "path": fspath(path),
        "format": keys.get("format"),
        "columns": keys.get("columns"),
        "time_unit": keys.get("time_unit"),
        "size_unit": keys.get("size_unit"),
        "action": keys.get("action"),
        "devices": keys.get("devices"),
        "limit": keys.get("limit"),
        "delay": bool(keys.get("delay", False)),
    }


def read_trace(
    path: str | PathLike[str],
    *,
    format: str | None = None,
    columns: str | None = None,
    time_unit: str | None = None,
    size_unit: str | None = None,
    action: str | None = None,
    devices: list[int] | None = None,
    limit: int | None = None,
    delay: bool = False,
) -> Table:
    """Read a trace of any format that flashlane knows (docs/traces.md), plain or compressed.

    Args:
        path: the file.
        format: its format; not needed where the file describes itself.
        columns: column map, for example ``"t=1[us],op=3,off=4,len=5;sep=comma"``.
        time_unit: unit of the time column instead of the format's: ``s``, ``ms``, ``us``, ``ns``, ``ps``.
        size_unit: unit of offsets and lengths where files come in several: ``B``, ``KiB``, ``sector``.
        action: event of a request that counts in traces of Linux' block layer: ``Q`` (arrival, the
            default), ``D`` (sent to the drive), ``C`` (completed).
        devices: only requests of these devices.
        limit: largest number of requests that are read.
        delay: accept times that step back: such a request arrives together with the one above it.

    Returns:
        One row a request: ``time_ps`` since the first one, ``op`` (``read``, ``write``, ``trim``, ``flush``),
        ``offset_bytes``, ``bytes``, ``device``.

    Raises:
        flashlane.errors.TraceError: with the file, the line, what was found and what is allowed.
    """
    reading = _reading(
        path,
        {
            "format": format,
            "columns": columns,
            "time_unit": time_unit,
            "size_unit": size_unit,
            "action": action,
            "devices": devices,
            "limit": limit,
            "delay": delay,
        },
    )
    return _flashlane.read_trace(reading)[0]


class Clone:
    """Parameters of a statistical clone. Synthetic: only the statistics are those of a trace.

    ``Flow(..., clone=path)`` takes what :meth:`save` writes.
    """

    def __init__(self, parameters: str) -> None:
        """Keep the parameters, TOML."""
        #: The parameters as TOML, as ``flashlane trace clone`` prints them.
        self.parameters = parameters

    def generate(self, requests: int, *, time_scale: float = 1.0, seed: int | None = None) -> Table:
        """Draw a synthetic trace, with the columns of :func:`read_trace`.

        Args:
            requests: how many.
            time_scale: gaps are multiplied by this: 0.1 is ten times as fast.
            seed: of the draws; the one in the parameters without it.
        """
        return _flashlane.generate(self.parameters, requests, time_scale, seed)

    def save(self, path: str | PathLike[str], *, overwrite: bool = False) -> None:
        """Write the parameters, whole or not at all.

        Args:
            path: the file. One that flashlane did not write, or that was changed since, is refused.
            overwrite: replace such a file.
        """
        from pathlib import Path

        from flashlane.result import write_whole

        write_whole(Path(path), self.parameters, overwrite)

    def __repr__(self) -> str:
        """Name and origin."""
        import tomllib

        parameters = tomllib.loads(self.parameters)
        return f"Clone({parameters['name']!r}: {parameters['summary']})"


def clone_trace(
    source: str | PathLike[str],
    *,
    name: str | None = None,
    progress: Progress = None,
    **reading: Any,
) -> Clone:
    """Give the parameters of a clone.

    Args:
        source: a built-in clone (:func:`clone_names`), a file of parameters, or a trace to fit one to.
        name: name of the fitted clone. Default: the file's, up to the first dot.
        progress: called with the share that is done; ``True`` for a bar.
        reading: how to read the trace, as :func:`read_trace` takes it.
    """
    unknown = reading.keys() - (_reading("", {}).keys() - {"path"})
    if unknown:
        raise TypeError(f"clone_trace: found {', '.join(sorted(unknown))}; allowed: as read_trace")
    with shown(progress, f"clone of {fspath(source)}") as told:
        return Clone(_flashlane.clone_parameters(_reading(source, reading), name, told))


def clone_names() -> list[str]:
    """Names of the built-in clones: the traces of FLIN's Table 2 and UPI's tenants."""
    return _flashlane.clone_names()
