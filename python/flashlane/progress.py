"""Bars for those who wait."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from typing import Literal

from flashlane.optional import needed

#: What ``progress`` takes: a function that is told the share that is done (0 to 1), ``True`` for a bar of
#: tqdm or, without it, of rich, or the name of one of them.
Progress = Callable[[float], object] | bool | Literal["tqdm", "rich"] | None


@contextmanager
def shown(progress: Progress, label: str) -> Iterator[Callable[[float], object] | None]:
    """Give a function that takes the share that is done, and end its bar."""
    if progress is None or progress is False:
        yield None
    elif callable(progress):
        yield progress
    elif progress == "rich" or (progress is True and not _has_tqdm()):
        yield from _rich(label)
    else:
        yield from _tqdm(label)


def _has_tqdm() -> bool:
    return find_spec("tqdm") is not None


def _tqdm(label: str) -> Iterator[Callable[[float], object]]:
    # In notebooks as a widget, where there are widgets.
    tqdm = needed("tqdm.auto" if find_spec("ipywidgets") else "tqdm", "bar").tqdm
    form = "{desc}: {percentage:3.0f}%|{bar}| {elapsed}<{remaining}"
    with tqdm(total=1.0, desc=label, bar_format=form) as bar:

        def update(share: float) -> None:
            bar.update(max(0.0, share - bar.n))

        yield update


def _rich(label: str) -> Iterator[Callable[[float], object]]:
    with needed("rich.progress", "bar").Progress() as bar:
        task = bar.add_task(label, total=1.0)
        yield lambda share: bar.update(task, completed=share)
