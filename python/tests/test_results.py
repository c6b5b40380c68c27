from __future__ import annotations

import html
import pickle
import re
from pathlib import Path
from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import flashlane as fl
from flashlane import _flashlane
from flashlane.result import write_whole

STAGES = [
    "submission_ps", "transfer_in_ps", "firmware_ps", "cache_ps", "mapping_ps", "flash_queue_ps",
    "flash_bus_ps", "flash_array_ps", "transfer_out_ps",
]  # fmt: skip


def test_the_summary_is_that_of_the_command(result: fl.Result) -> None:
    assert result.summary["schema"] == "flashlane.summary/3"
    assert [flow.name for flow in result.flows] == ["light", "heavy"]
    assert result["heavy"].requests["read"] > 0
    assert result[0].slowdown > 1.0
    assert result.fairness == pytest.approx(result["heavy"].slowdown / result["light"].slowdown)
    with pytest.raises(KeyError, match="light"):
        result["lihgt"]
    with pytest.raises(AttributeError, match="slowdown"):
        _ = result[0].slowdwon


def test_it_shows_itself(result: fl.Result) -> None:
    text = repr(result)
    assert "light" in text and "slowdown" in text and "fairness" in text
    assert "<table>" in result._repr_html_()
    assert "IOPS" in repr(result[0])


def test_every_operation_has_its_latencies(device: fl.Device) -> None:
    mixed = fl.Flow("mixed", queue_depth=4, read_ratio=0.5, trim_ratio=0.2, flush_ratio=0.1, requests=600)
    reader = fl.Flow("reader", queue_depth=1, read_ratio=1.0, requests=100)
    found = fl.simulate(device, fl.Workload([mixed, reader]))
    rows = {(row["flow"], row["op"]): row for row in found.operations()}
    assert set(rows) == {*(("mixed", op) for op in ("read", "write", "trim", "flush")), ("reader", "read")}
    for (name, op), row in rows.items():
        latency = found[name][f"{op}_response_time_us"]
        assert row["count"] == latency["count"] == found[name]["requests"][op] > 0
        assert row["p99"] == latency["p99"] >= latency["p50"] > 0
    assert found["mixed"].flush_response_time_us["mean"] > 0
    assert found["reader"].trim_response_time_us["count"] == 0
    drawn = found.histograms.to_pandas()
    assert set(drawn[drawn.flow == "mixed"].op) == {"all", "read", "write", "trim", "flush"}


def test_the_verdict_stands_first(saturated: fl.Result, result: fl.Result) -> None:
    assert result.verdict == [] and not result.saturated
    assert "*" not in repr(result) and "flashlane-verdict" not in result._repr_html_()
    assert saturated.saturated and saturated["busy"].saturated and not saturated["calm"].saturated
    text = repr(saturated)
    assert text == str(saturated)
    assert text.startswith("Saturated: the drive does not keep up with flow busy (offered ")
    assert text.startswith("\n\n".join(saturated.verdict))
    rows = {line.split()[0]: line for line in text.splitlines() if line}
    assert rows["busy"].count("*") == 5 and "*" not in rows["calm"], "four times and the slowdown"
    assert rows["fairness"].endswith("*")
    assert "* depends on the length of the run" in text
    page = saturated._repr_html_()
    assert page.startswith('<div class="flashlane-verdict"')
    assert page.index("Saturated: ") < page.index("<table>")
    assert page.split("<td>busy</td>")[1].split("</tr>")[0].count("*") == 5
    assert repr(saturated["busy"]).startswith("FlowResult('busy': saturated, ")
    assert repr(saturated["busy"]).count("*") == 3 and "*" not in repr(saturated["calm"])
    assert list(saturated.summary)[2] == "verdict"
    assert 'id="warning"' in saturated.report()


def test_names_neither_move_the_cursor_nor_are_html(saturated: fl.Result) -> None:
    odd = pickle.loads(pickle.dumps(saturated))
    name = "\x1b[2J<script>\u202e\n"
    odd.summary["flows"][0]["name"] = name
    odd.summary["verdict"] = [f"Saturated: {name}"]
    odd.summary["device"] = "<i>\x07"
    for text in (repr(odd), odd._repr_html_(), repr(odd.flows[0])):
        assert not set(text) & set("\x1b\x07\u202e"), text
        assert r"1b" in text
    assert "<script>" not in odd._repr_html_() and "<i>" not in odd._repr_html_()
    assert "Saturated: \\u{1b}[2J<script>\\u{202e}\\u{a}\n\n" in repr(odd)


def test_exceptions_hold_no_control_characters(device: fl.Device, tmp_path: Path) -> None:
    odd = "a\x1b[31m\x9b\u202e"
    flow = fl.Flow(odd, queue_depth=1, read_ratio=1.0, requests=10)
    makes = [
        lambda: fl.Workload([flow]),
        lambda: fl.Device(f"{odd}.toml"),
        lambda: fl.Device({"base": "tiny", odd: 1}),
        lambda: fl.Device({"base": "tiny", "flash": {odd: object()}}),
        lambda: device.replace(scheduler=odd),
        lambda: device.replace(set={odd: 1}),
        lambda: fl.read_trace(tmp_path / odd),
        lambda: fl.clone_trace(tmp_path / odd),
        lambda: fl.simulate(device, fl.Workload([fl.Flow("x", trace=tmp_path / odd)])),
        lambda: fl.simulate(device, [flow], warmup=odd),
        lambda: fl.sweep(device, [flow], [{}], **{odd: 1}),
        lambda: fl.reproduce(odd),
        lambda: write_whole(tmp_path / odd / "x", ""),
    ]
    for index, make in enumerate(makes):
        with pytest.raises(Exception) as raised:
            make()
        said = [str(raised.value), *map(str, getattr(raised.value, "problems", []))]
        for text in said:
            assert not set(text) & set("\x1b\x9b\u202e"), (index, text)


def test_requests_have_all_stages_and_sum_up(result: fl.Result) -> None:
    assert result.requests is not None
    frame = pl.DataFrame(result.requests)
    assert len(frame) == result.summary["requests_completed"] == len(result.requests)
    sums = frame.select(pl.sum_horizontal(STAGES).alias("sum"), pl.col("complete_ps") - pl.col("submit_ps"))
    assert (sums["sum"] == sums["complete_ps"]).all()
    assert frame["complete_ps"].is_sorted()
    counted = frame.filter(pl.col("counted") & (pl.col("flow") == "light"))
    mean = (counted["complete_ps"] - counted["submit_ps"]).mean() / 1e6
    assert mean == pytest.approx(result["light"].mean_us, rel=1e-9)


def test_tables_reach_every_library_without_a_copy(result: fl.Result) -> None:
    assert result.requests is not None
    table = pa.table(result.requests)
    assert table.num_rows == len(result.requests)
    again = pa.table(result.requests)
    address = table.column("complete_ps").chunk(0).buffers()[1].address
    assert again.column("complete_ps").chunk(0).buffers()[1].address == address, "the same memory"
    pandas = pd.DataFrame.from_arrow(result.requests)
    assert list(pandas.columns) == result.requests.column_names
    assert set(pandas["flow"].astype(str)) == {"light", "heavy"}
    assert "rows" in repr(result.requests)


def test_time_series_have_a_row_for_each_flow_and_the_drive(result: fl.Result) -> None:
    assert result.timeseries is not None
    frame = pl.DataFrame(result.timeseries)
    windows = frame["end_s"].n_unique()
    assert len(frame) == 3 * windows
    drive = frame.filter(pl.col("flow").is_null())
    assert drive["chips_busy"].max() > 0.0
    assert drive["requests"].is_null().all()
    done = frame.filter(pl.col("flow") == "heavy")["requests"].sum()
    assert 0 < done <= result.summary["requests_completed"]


def test_histograms_rise_to_one(result: fl.Result) -> None:
    frame = pl.DataFrame(result.histograms).filter((pl.col("flow") == "heavy") & (pl.col("op") == "read"))
    assert frame["response_us"].is_sorted()
    assert frame["share_at_or_below"].is_sorted()
    assert frame["share_at_or_below"][-1] == 1.0
    median = frame.filter(pl.col("share_at_or_below") >= 0.5)["response_us"][0]
    assert median == pytest.approx(result["heavy"].read_response_time_us["p50"], rel=0.002)


def test_blame_sums_to_the_waiting(result: fl.Result) -> None:
    assert result.blame is not None
    for victim in result.blame["victims"]:
        waiting = sum(cell["waiting_s"] for cell in victim["cells"])
        assert waiting == pytest.approx(victim["waiting_s"], rel=1e-12)
    matrix = result.waiting()
    assert matrix["light"]["heavy"] > matrix["light"]["light"], (
        "the heavy flow is what the light one waits for"
    )
    with pytest.raises(ValueError, match="blame=True"):
        fl.simulate(result.device, result.workload).waiting()


def test_a_result_pickles(result: fl.Result) -> None:
    again: fl.Result = pickle.loads(pickle.dumps(result))
    assert again.summary == result.summary
    assert again.requests is not None and result.requests is not None
    assert pa.table(again.requests).equals(pa.table(result.requests))
    assert again.report() == result.report()


def test_same_seed_same_result_and_threads_change_nothing(device: fl.Device, workload: fl.Workload) -> None:
    def unchanging(**options: int) -> str:
        """The summary without the figures that differ from run to run."""
        outcome = fl.simulate(device, workload, alone=True, **options)._outcome
        return _flashlane.without_wall_times(outcome["summary"])

    assert unchanging(threads=1) == unchanging(threads=2)
    assert unchanging(threads=1) != unchanging(seed=2)


def test_a_report_is_one_page(result: fl.Result, tmp_path: Path) -> None:
    page = result.report(tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page
    assert page.startswith("<!DOCTYPE html>")
    both = fl.compare(result, result)
    assert 'id="comparison"' in both
    with pytest.raises(fl.OutputError, match="cannot be written"):
        result.report(tmp_path / "no" / "such" / "folder.html")


def _heads(page: str) -> list[str]:
    table = page.split('id="comparison-title"')[1].split("</thead>")[0]
    return [html.unescape(head) for head in re.findall(r"</span>([^<]*)</th>", table)]


def test_columns_are_named_by_what_differs_and_take_several_seeds(
    device: fl.Device, workload: fl.Workload, tmp_path: Path
) -> None:
    fcfs = device.replace(scheduler="fcfs")

    def runs(drive: fl.Device, **options: Any) -> list[fl.Result]:
        return [fl.simulate(drive, workload, alone=True, seed=seed, **options) for seed in (1, 2, 3)]

    ours, old = runs(device), runs(fcfs)
    assert _heads(fl.compare(ours[0], old[0])) == [device.scheduler, "fcfs"]
    assert _heads(fl.compare(ours[0], ours[1])) == ["seed 1", "seed 2"]
    assert _heads(fl.compare(ours[0], ours[0])) == ["pair (1)", "pair (2)"]
    named = [fl.simulate(drive, workload, label=label) for drive, label in ((device, "new"), (fcfs, "old"))]
    assert _heads(fl.compare(*named)) == ["new", "old"]
    page = fl.compare(ours, old, path=tmp_path / "both.html")
    assert _heads(page) == [device.scheduler, "fcfs"]
    assert "Figures are means over 3 seeds" in page
    row = page.split("heavy: slowdown")[1].split("</tr>")[0]
    assert row.count("±") == 2
    slow = [run["heavy"].slowdown for run in ours]
    assert f">{sum(slow) / 3:.2f} ±" in row
    with pytest.raises(fl.ConfigError, match="differs from the first one in more than its seed"):
        fl.compare([ours[0], old[1]])
    with pytest.raises(fl.ConfigError, match="seed 1 twice"):
        fl.compare([ours[0], ours[0]])
    with pytest.raises(TypeError, match="found no result"):
        fl.compare()


def test_plots_draw_every_flow(result: fl.Result) -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    assert len(result.plot_latency().lines) == 2
    assert len(result.plot_breakdown().patches) == 2 * 9


def test_charts_of_results(result: fl.Result) -> None:
    pytest.importorskip("matplotlib").use("Agg")
    assert len(result.plot_timeseries().lines) == 2
    assert len(result.plot_timeseries("iops").lines) == 2
    with pytest.raises(ValueError, match="found 'colour', allowed: mean_us, p99_us, iops, "):
        result.plot_timeseries("colour")
    bars = result.plot_blame()
    assert bars.get_xlabel() == "waiting time of a request (us)" and len(bars.patches) >= 2
    assert len(fl.plot_compare(result, result, figure="slowdown").patches) == 4


def test_tables_of_other_libraries(result: fl.Result) -> None:
    assert result.requests is not None
    pytest.importorskip("pandas")
    frame = result.requests.to_pandas()
    assert len(frame) == len(result.requests) and "complete_ps" in frame.columns
    pytest.importorskip("polars")
    assert result.requests.to_polars().height == len(frame)


def test_policies_are_listed() -> None:
    names = [policy.name for policy in fl.policies("scheduler")]
    assert "flin" in names and "out-of-order" in names
    assert {policy.family for policy in fl.policies()} >= {"isolation", "ftl.gc.victim"}
    with pytest.raises(ValueError, match="found 'colour', allowed: scheduler"):
        fl.policies("colour")
