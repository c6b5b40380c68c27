"""What a process that ends in the middle of a write leaves."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from flashlane import OutputError, _flashlane
from flashlane.result import write_whole

# Written out again and again, so that a signal comes in the middle of a write.
WRITER = """
import pathlib, sys
from flashlane.result import write_whole
text = "x" * 10_000_000
while True:
    write_whole(pathlib.Path(sys.argv[1]) / "big.json", text)
"""


def _ended_by(folder: Path, number: signal.Signals) -> int:
    """Status of a writer that gets a signal while it writes."""
    with subprocess.Popen([sys.executable, "-c", WRITER, str(folder)], stderr=subprocess.DEVNULL) as writer:
        deadline = time.monotonic() + 60
        while not _temporary(folder):
            assert writer.poll() is None and time.monotonic() < deadline
        writer.send_signal(number)
        return writer.wait(60)


def _temporary(folder: Path) -> list[Path]:
    return [path for path in folder.glob(".flashlane-*") if path.name != ".flashlane-manifest.json"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs /proc")
def test_the_next_write_removes_what_a_dead_process_left(tmp_path: Path) -> None:
    stranger = tmp_path / ".flashlane-of-another-host"
    stranger.touch()
    for _ in range(20):
        stranger.unlink()
        assert _ended_by(tmp_path, signal.SIGTERM) == -signal.SIGTERM
        left = _temporary(tmp_path)
        stranger.touch()
        if left:
            break
    assert left, "no signal came in the middle of a write"
    write_whole(tmp_path / "small.json", "{}")
    assert _temporary(tmp_path) == [stranger], "what may be in use elsewhere stays"
    assert (tmp_path / "small.json").read_text() == "{}"


def test_an_interrupt_leaves_nothing(tmp_path: Path) -> None:
    for _ in range(3):
        assert _ended_by(tmp_path, signal.SIGINT) != 0
        assert _temporary(tmp_path) == []
        assert (tmp_path / "big.json").stat().st_size == 10_000_000


def test_a_file_of_the_user_stays(tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    page.write_text("mine")
    with pytest.raises(OutputError, match=r"flashlane did not write it; .*overwrite=True"):
        write_whole(page, "ours")
    assert page.read_text() == "mine"
    write_whole(page, "ours", overwrite=True)
    write_whole(page, "again")
    page.write_text("changed")
    with pytest.raises(OutputError, match="changed since flashlane wrote it"):
        write_whole(page, "ours")
    assert page.read_text() == "changed"


def test_a_folder_has_one_writer_at_a_time(tmp_path: Path) -> None:
    (tmp_path / "front.csv").write_text("mine")
    held = _flashlane.HeldFolder(tmp_path, ["trials.csv"], False)
    with held, pytest.raises(OutputError, match="writes results there"):
        _flashlane.HeldFolder(tmp_path, [], False)
    with pytest.raises(OutputError, match=r"front\.csv: flashlane did not write it"):
        _flashlane.HeldFolder(tmp_path, ["front.csv"], False)
