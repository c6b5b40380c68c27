"""What helps, from Python."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

import flashlane as fl

_MADE = Path(__file__).parents[2] / "target" / "release" / "flashlane"
_PROGRAM = os.environ.get("FLASHLANE") or shutil.which("flashlane") or (_MADE if _MADE.exists() else None)

needs_program = pytest.mark.skipif(_PROGRAM is None, reason="the command flashlane is not there")

DEVICE = fl.Device("tiny", set={"flash.blocks_per_plane": 256, "ftl.unwritten_read": "flash"})
FLOWS = [
    fl.Flow("reader", queue_depth=2, read_ratio=1.0, duration="10ms", cache="off"),
    fl.Flow("writer", queue_depth=16, read_ratio=0.0, duration="10ms", cache="off"),
]


@needs_program
def test_the_answer_is_typed_and_a_table(tmp_path: Path) -> None:
    found = fl.advise(DEVICE, FLOWS, seeds=2, folder=tmp_path / "out", program=_PROGRAM)
    assert found.answer == "helps" and found.goal == "fairness" and found.victim == "reader"
    winner = found.winner
    assert winner is not None and winner.value is not None and winner.before is not None
    assert winner.value < winner.before and winner.interval is not None
    assert winner.interval[0] <= winner.value <= winner.interval[1]
    assert repr(found).startswith(found.said[0])
    assert found[0] is winner and len(found) > 20
    html = found._repr_html_()
    assert "<table>" in html and "as it is" in html and winner.label in html
    assert found.to_csv().startswith("what,verdict,value")
    assert (tmp_path / "out" / "advice.html").exists()


@needs_program
def test_candidates_goals_and_refusals() -> None:
    tried = {"interrupt <programs>": ["flash.suspend.program = true"]}
    found = fl.advise(DEVICE, FLOWS, candidates=tried, goal="p99:reader", seeds=2, program=_PROGRAM)
    assert [one.label for one in found] == ["interrupt <programs>"]
    assert "interrupt &lt;programs&gt;" in found._repr_html_()
    with pytest.raises(fl.ConfigError, match="no tenant `nobody`"):
        fl.advise(DEVICE, FLOWS, goal="p99:nobody", program=_PROGRAM)


def test_another_schema_is_refused() -> None:
    with pytest.raises(fl.ConfigError, match=r"flashlane\.advice/1"):
        fl.Advice({"schema": "flashlane.advice/9"})


def test_the_command_has_to_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.delenv("FLASHLANE", raising=False)
    with pytest.raises(fl.ConfigError, match="the command flashlane was not found"):
        fl.advise(DEVICE, FLOWS)
