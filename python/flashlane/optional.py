"""Libraries that the package uses where they are there."""

from __future__ import annotations

from importlib import import_module
from typing import Any


def needed(name: str, extra: str) -> Any:
    """Import a library, or say how to get it."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            f"this needs {name.split('.')[0]}: pip install 'flashlane[{extra}]'", name=error.name
        ) from error
