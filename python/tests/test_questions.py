"""``plan``, ``probe`` and ``fit``: the command's answers as typed results and tables."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import flashlane as fl
from flashlane.program import VARIABLE

TENANTS = [fl.Flow("reader", iops=800, read_ratio=1.0, size="4KiB", requests=300)]


def test_a_plan_is_typed_and_shows_as_a_table(command: str) -> None:
    found = fl.plan(
        fl.Device("tiny"),
        TENANTS,
        slo={"reader": "p99=2ms"},
        count="reader",
        most=4,
        seeds=3,
        over={"scheduler": ["fcfs", "out-of-order"]},
    )
    assert (found.grow, found.flow, len(found.answers)) == ("count", "reader", 2)
    first = found.answers[0]
    assert first.variant == ("scheduler=fcfs",) and first.drives == 1
    assert 1 <= found.fits == first.fits <= 4
    assert first.trials[0].seeds == 3 and first.trials[0].verdict in ("met", "met-on-average")
    goal = first.trials[0].goals[0]
    assert (goal.flow, goal.goal, goal.limit) == ("reader", "p99", 2000.0)
    assert goal.value is not None and 0 < goal.value < 2000
    page = found._repr_html_()
    assert page.count("<tr>") == 3 and "scheduler=out-of-order" in page and found.said() in page
    assert found.to_pandas()["fits"].tolist() == [answer.fits for answer in found.answers]


def test_a_plan_says_what_limits_it(command: str) -> None:
    load = fl.plan("tiny", TENANTS, slo={"reader": "p99=90us"}, load="reader", seeds=3)
    assert load.grow == "load" and load.answers[0].limited_by == "p99 of reader"
    assert "times the load of reader fit; the limit is p99 of reader." in load.said()


def test_a_drive_is_probed_and_fitted(command: str, tmp_path: Path) -> None:
    probed = fl.probe(fl.Device("tiny"), tmp_path / "drive", only=["idle-latency", "write-latency"])
    assert probed.kind == "simulated" and probed.bytes > 0
    assert {one.probe for one in probed.series} == {"idle-latency"}
    assert "write-latency" in probed.skipped and "left out: write-latency" in probed.said()
    first = probed.series[0]
    assert first.requests > 0 and first.mean_us is not None and first.min_us is not None
    assert first.max_us is not None and 0 < first.min_us <= first.mean_us <= first.max_us
    assert probed._repr_html_().count("<tr>") == 1 + len(probed.series)
    again = fl.Probe.load(tmp_path / "drive")
    assert again == probed
    named = fl.probe("simulated:tiny", tmp_path / "named", only=["idle-latency"])
    assert [one.mean_us for one in named.series] == [one.mean_us for one in probed.series]


def test_a_fit_is_typed_and_gives_a_device(command: str, tmp_path: Path) -> None:
    table = tmp_path / "curves.csv"
    table.write_text(
        "op,pattern,size,depth,metric,value\nread,random,4KiB,1,mean_us,80\nread,random,4KiB,8,kiops,60\n"
    )
    found = fl.fit(
        table, base="tiny", out=tmp_path / "fitted.toml", vary=["flash.read_time"], evaluations=20, starts=1
    )
    assert [one.key for one in found.keys if one.source != "base"] == ["flash.read_time"]
    assert len(found.points) == 2 and all(one.fitted > 0 for one in found.points)
    assert found.evaluations > 0 and isinstance(found.fits, bool)
    assert isinstance(found.device(), fl.Device)
    page = found._repr_html_()
    assert "flash.read_time" in page and page.count("<tr>") == 2 and found.said().startswith("It ")


def test_what_the_command_refuses_is_an_error(command: str, tmp_path: Path) -> None:
    with pytest.raises(fl.ConfigError, match="nobody"):
        fl.plan("tiny", TENANTS, slo={"nobody": "p99=1ms"})
    with pytest.raises(fl.ConfigError, match="--only: found `colour`"):
        fl.probe("simulated:tiny", tmp_path / "drive", only=["colour"])
    with pytest.raises(fl.ConfigError, match="there is no figure"):
        (tmp_path / "curves.csv").write_text("op,pattern,size,depth,metric,value\n")
        fl.fit(tmp_path / "curves.csv")
    with pytest.raises(fl.ConfigError, match=r"probe\.json"):
        fl.Probe.load(tmp_path)


def test_a_command_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "none"))
    with pytest.raises(fl.ConfigError, match=f"{VARIABLE}: found .*none.*; allowed: a program"):
        fl.plan("tiny", TENANTS)
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(fl.ConfigError, match="no command `flashlane` on the path"):
        fl.plan("tiny", TENANTS)


@pytest.mark.parametrize("schema", ["flashlane.plan/9", None])
def test_an_answer_of_another_release_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, schema: str | None
) -> None:
    script = tmp_path / "flashlane"
    script.write_text(f"#!/bin/sh\necho '{json.dumps({'schema': schema})}'\n")
    script.chmod(0o755)
    monkeypatch.setenv(VARIABLE, str(script))
    with pytest.raises(fl.ConfigError, match=r"allowed: flashlane\.plan/1"):
        fl.plan("tiny", TENANTS)


def test_groups_share_a_limit() -> None:
    flows = [fl.Flow(name, queue_depth=4, read_ratio=1.0, duration="200ms") for name in ("a", "b")]
    batch: fl.keys.GroupConfig = {"name": "batch", "members": ["a", "b"], "limit": {"iops": 1000}}
    work = fl.Workload(flows, groups=[batch])
    assert work.to_dict()["group"][0]["members"] == ["a", "b"]
    found = fl.simulate(fl.Device("tiny"), work)
    assert sum(flow.iops for flow in found.flows) == pytest.approx(1000, rel=0.03)
    other: fl.keys.GroupConfig = {"name": "other", "members": ["a"], "limit": {"iops": 500}}
    more = fl.Workload(work.to_dict(), groups=[other])
    assert [group["name"] for group in more.to_dict()["group"]] == ["batch", "other"]
    stranger: fl.keys.GroupConfig = {"name": "other", "members": ["c"], "limit": {"iops": 500}}
    with pytest.raises(fl.ConfigError, match=r"group\[0\]\.members\[0\]: found"):
        fl.Workload(flows, groups=[stranger])
    with pytest.raises(TypeError, match=r"allowed: \[\[group\]\] in the file"):
        fl.Workload("tenants.toml", groups=[batch])
