"""What helps, from Python."""

from __future__ import annotations

from pathlib import Path

import pytest

import flashlane as fl

DEVICE = fl.Device("tiny", set={"flash.blocks_per_plane": 256, "ftl.unwritten_read": "flash"})
FLOWS = [
    fl.Flow("reader", queue_depth=2, read_ratio=1.0, duration="10ms", cache="off"),
    fl.Flow("writer", queue_depth=16, read_ratio=0.0, duration="10ms", cache="off"),
]


def test_the_answer_is_typed_and_a_table(command: str, tmp_path: Path) -> None:
    found = fl.advise(DEVICE, FLOWS, seeds=2, folder=tmp_path / "out")
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


def test_candidates_goals_and_refusals(command: str) -> None:
    tried = {"interrupt <programs>": ["flash.suspend.program = true"]}
    found = fl.advise(DEVICE, FLOWS, candidates=tried, goal="p99:reader", seeds=2)
    assert [one.label for one in found] == ["interrupt <programs>"]
    assert "interrupt &lt;programs&gt;" in found._repr_html_()
    with pytest.raises(fl.ConfigError, match="no tenant `nobody`"):
        fl.advise(DEVICE, FLOWS, goal="p99:nobody")


def test_another_schema_is_refused() -> None:
    with pytest.raises(fl.ConfigError, match=r"flashlane\.advice/1"):
        fl.Advice({"schema": "flashlane.advice/9"})
