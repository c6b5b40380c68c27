"""Kept states of drives: the second run starts from a file, and gives the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import flashlane as fl
from flashlane.errors import ConfigError

#: Just large enough for its states to be kept.
LARGE = {"base": "flin", "flash": {"blocks_per_plane": 128, "pages_per_block": 512}}
TIMES = ("wall_s", "precondition_wall_s", "requests_per_wall_s", "peak_rss_bytes")


def tenants() -> list[fl.Flow]:
    return [
        fl.Flow("reader", queue_depth=4, read_ratio=1.0, requests=500),
        fl.Flow("writer", queue_depth=8, read_ratio=0.0, requests=500),
    ]


def figures(result: fl.Result) -> dict[str, Any]:
    return {key: value for key, value in result.summary.items() if key not in TIMES}


def test_states_change_no_result_and_are_kept_once(tmp_path: Path) -> None:
    folder = tmp_path / "states"
    made = fl.simulate(LARGE, tenants(), alone=True, states="off")
    assert not folder.exists()
    runs = [fl.simulate(LARGE, tenants(), alone=True, states=folder) for _ in range(2)]
    assert [figures(run) for run in runs] == [figures(made)] * 2
    assert folder.stat().st_mode & 0o777 == 0o700
    assert len(list(folder.glob("*.state"))) == 1


def test_a_truncated_state_is_made_anew(tmp_path: Path) -> None:
    made = fl.simulate(LARGE, tenants(), states=tmp_path / "states")
    (file,) = (tmp_path / "states").glob("*.state")
    whole = file.read_bytes()
    file.write_bytes(whole[: len(whole) // 2])
    again = fl.simulate(LARGE, tenants(), states=tmp_path / "states")
    assert figures(again) == figures(made)
    assert file.read_bytes() == whole


def test_points_of_a_sweep_share_a_state(tmp_path: Path) -> None:
    over = {"scheduler": ["fcfs", "out-of-order"], "seed": [1, 2]}
    kept = fl.sweep(LARGE, tenants(), over, states=tmp_path / "states")
    assert len(list((tmp_path / "states").glob("*.state"))) == 2, "one for each seed"
    assert list(kept) == list(fl.sweep(LARGE, tenants(), over, states="off"))


def test_a_variable_names_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FLASHLANE_STATES", str(tmp_path / "states"))
    fl.simulate(LARGE, tenants())
    assert list((tmp_path / "states").glob("*.state"))


def test_a_folder_that_others_may_enter_is_refused(tmp_path: Path) -> None:
    (tmp_path / "open").mkdir(mode=0o755)
    (tmp_path / "open").chmod(0o755)
    with pytest.raises(ConfigError, match="states: .*found mode 755, allowed: a folder of mode 700"):
        fl.simulate(LARGE, tenants(), states=tmp_path / "open")
