"""Keywords of devices and flows: checked when they are made, and by type checkers; documented everywhere."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

import flashlane as fl
from flashlane import figures, keys

ROOT = Path(__file__).resolve().parents[2]
READER = fl.Flow("reader", queue_depth=2, read_ratio=1.0, requests=300)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: fl.Flow("r", queue_dept=1), "Flow 'r': queue_dept: unknown key `queue_dept`; did you mean"),
        (lambda: fl.Flow("r", queue_depth="4"), "Flow 'r': queue_depth: found string"),
        (lambda: fl.Flow("r", clone="tpcc", time_scal=2.0), "did you mean `time_scale`?"),
        (lambda: fl.Flow("r", trace="x.csv", formt="msr"), "did you mean `format`?"),
        (lambda: fl.Flow("r", size="x"), "Flow 'r': size: "),
        (lambda: fl.Flow("r", priority="top"), "Flow 'r': priority: "),
        (lambda: fl.Flow("", priority="top"), "flow[0].priority: "),
        (
            lambda: fl.simulate("tiny", [fl.Flow("r", queue_depth=2, iops=5.0)]),
            "Flow 'r': found queue_depth and iops",
        ),
        (lambda: fl.Device("tiny", flash={"channels": "x"}), "flash.channels: found string"),
        (
            lambda: fl.simulate("tiny", [READER], waf_only=True, warmup="1ms"),
            "warmup: found a time, allowed: a number of requests (waf_only runs without time)",
        ),
        (lambda: fl.simulate("tiny", [fl.Flow("r", trace="none.csv")]), "Flow 'r': trace: "),
        (lambda: fl.simulate("tiny", []), "Workload: found 0 flows"),
        (
            lambda: fl.Device("tiny", flash={"chanels": 4}),
            "flash.chanels: unknown key `chanels`; did you mean",
        ),
        (lambda: fl.Device("tiny", flsh={}), "did you mean `flash`?"),
        (lambda: fl.Device("tiny", scheduler="finn"), "scheduler: found `finn`; did you mean `flin`?"),
        (lambda: fl.simulate("tiny", [READER], windows="1ms"), "windows: found without alone=True"),
        (lambda: fl.simulate("tiny", [READER], seed=-1), "seed: found -1, allowed: 0 to 2^64 - 1"),
        (lambda: fl.simulate("tiny", [READER], seeds=0), "seeds: found 0, allowed: 1 to 10000"),
        (
            lambda: fl.simulate("tiny", [READER], seeds=2, blame=True),
            "seeds: found with what watches one run",
        ),
        (lambda: fl.simulate("tiny", [READER], until_steady="speed"), "allowed: iops, bandwidth, latency"),
        (lambda: fl.simulate("tiny", [READER], timeline="1ms"), 'timeline: found "1ms", allowed: two times'),
        (
            lambda: fl.simulate("tiny", [READER], waf_only=True, alone=True),
            "alone: found, allowed: not given",
        ),
    ],
)
def test_refusals_speak_of_what_the_caller_wrote(make: object, said: str) -> None:
    with pytest.raises(fl.ConfigError) as caught:
        make()  # type: ignore[operator]
    assert said in str(caught.value)
    assert "--" not in str(caught.value), "no option of the command line"


def test_a_count_is_a_whole_number() -> None:
    with pytest.raises(TypeError):
        fl.simulate("tiny", [READER], seeds=1.5)  # type: ignore[arg-type]


def test_keys_by_name_go_over_the_source_and_under_set() -> None:
    made = fl.Device("tiny", flash={"channels": 4}, ftl={"gc": {"victim": {"rga": {"choices": 3}}}})
    assert made.to_dict()["flash"]["channels"] == 4
    assert made.to_dict()["ftl"]["gc"]["victim"] == {"rga": {"choices": 3}}
    # Keys that are not named keep their values.
    assert made.to_dict()["flash"]["page_size"] == fl.Device("tiny").to_dict()["flash"]["page_size"]
    assert (
        fl.Device("tiny", flash={"channels": 4}, set={"flash.channels": 1}).to_dict()["flash"]["channels"]
        == 1
    )
    assert made.replace(scheduler="fcfs").scheduler == "fcfs"


def check(tmp_path: Path, code: str) -> str:
    """What mypy --strict says of a program."""
    file = tmp_path / "program.py"
    file.write_text(code, encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(ROOT / "target/mypy"), str(file)]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False).stdout


def test_a_type_checker_knows_keys_and_figures(tmp_path: Path) -> None:
    good = """import flashlane as fl
flows = [
    fl.Flow("r", queue_depth=1, size="4KiB", address={"zipf": {"theta": 0.9}}, slo={"p99": "1ms"}),
    fl.Flow("t", trace="x.csv", format="msr", priority="high"),
    fl.Flow("c", clone="tpcc", time_scale=0.5, duration="1s"),
]
drive = fl.Device("tiny", scheduler={"flin": {"epoch": "1ms"}}, flash={"channels": 4})
result = fl.simulate(drive, flows, seeds=3)
iops: float = result["r"].iops
slow: float | None = result["r"].slowdown
p99: float = result["r"].response_time_us["p99"]
programs: int = result.summary["flash"]["user_programs"]
if result.seeds is not None:
    mean: float = result.seeds["flows[0].iops"].mean
"""
    assert "Success" in check(tmp_path, good)
    slips = (
        'fl.Flow("r", queue_dept=1)',
        'fl.Flow("r", queue_depth="4")',
        'fl.Flow("c", clone="tpcc", queue_depth=1)',
        'fl.Device("tiny", flash={"chanels": 4})',
        'fl.simulate("tiny", [])["r"].iosp',
        'fl.simulate("tiny", []).summary["flsh"]',
        'fl.simulate("tiny", [], seedz=3)',
    )
    said = check(tmp_path, "\n".join(("import flashlane as fl", *slips)))
    for line, slip in enumerate(slips, start=2):
        assert f"program.py:{line}: error:" in said, slip


@pytest.mark.slow
@pytest.mark.parametrize("script", ["python_keys.py", "python_api.py", "drawings.py", "isolation_table.py"])
def test_what_scripts_write_is_up_to_date(script: str) -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / script, "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


def public(of: object) -> list[tuple[str, object]]:
    """Members of a class that users see, its own ones."""
    return [(name, member) for name, member in vars(of).items() if not name.startswith("_")]


def test_everything_says_what_it_is() -> None:
    for name in fl.__all__:
        what = getattr(fl, name)
        if name.startswith("__") or isinstance(what, (int, str)):
            continue
        assert inspect.getdoc(what), f"{name} has no docstring"
        if not inspect.isclass(what) or issubclass(what, tuple):
            continue
        for member, value in public(what):
            if callable(value) or isinstance(value, (property, staticmethod, classmethod)):
                assert inspect.getdoc(value), f"{name}.{member} has no docstring"
    # Editors read the stubs, help() the compiled module: both say the same.
    griffe = pytest.importorskip("griffe")
    stubs = griffe.load("flashlane._flashlane", search_paths=[ROOT / "python"])
    for native in ("Device", "Table"):
        assert stubs[native].docstring.value == inspect.getdoc(getattr(fl, native)), native
    for method in ("from_toml", "replace"):
        assert stubs["Device"][method].docstring.value == inspect.getdoc(getattr(fl.Device, method)), method
    for text in ("Args:", "Raises:", "ftl.gc.victim", "docs/configuration.md"):
        assert text in (inspect.getdoc(fl.Device) or "")
    # Every key of the typed dictionaries is one that is documented for editors.
    source = inspect.getsource(keys) + inspect.getsource(figures)
    assert source.count('"""') > 1_000


def test_seeds_give_means_and_intervals() -> None:
    result = fl.simulate(
        "tiny", [READER, fl.Flow("writer", queue_depth=4, read_ratio=0.0, requests=300)], seeds=3
    )
    assert result.seeds is not None and result.seeds.seeds == [1, 2, 3]
    p99 = result.seeds["flows[0].response_time_us.p99"]
    assert p99.low is not None and p99.high is not None and p99.low < p99.mean < p99.high
    assert len(p99.values) == 3 and p99.mean == pytest.approx(result["reader"].p99_us)
    alone = [fl.simulate("tiny", result.workload, seed=seed)["reader"].p99_us for seed in (1, 2, 3)]
    assert alone == list(p99.values)
    assert "means over 3 seeds from 1" in repr(result)
    assert "95 %" in result.report()
    assert fl.simulate("tiny", [READER]).seeds is None


def test_a_run_goes_on_until_it_is_steady() -> None:
    flow = fl.Flow("reader", queue_depth=4, read_ratio=1.0, duration="20ms")
    result = fl.simulate("tiny", [flow], until_steady="latency", round="5ms")
    steady = result.steady_state
    assert steady is not None and steady["tracked"] == "latency" and steady["reached"]
    assert len(steady["rounds"]) >= 5
    assert fl.simulate("tiny", [flow]).steady_state is None


def test_a_timeline_is_a_table_and_a_file(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    result = fl.simulate("tiny", [READER], timeline="0..200us")
    assert result.timeline is not None
    rows = pyarrow.table(result.timeline).to_pylist()
    assert {"part", "track", "name", "flow", "request", "start_ps", "end_ps"} == set(rows[0])
    assert all(row["start_ps"] <= 200_000_000 and row["start_ps"] <= row["end_ps"] for row in rows)
    assert {row["flow"] for row in rows} == {"reader"}
    result.save_timeline(tmp_path / "run.pftrace")
    assert (tmp_path / "run.pftrace").stat().st_size > 1_000
    with pytest.raises(ValueError, match="kept no timeline"):
        fl.simulate("tiny", [READER]).save_timeline(tmp_path / "none.pftrace")


def test_a_table_is_a_data_frame(tmp_path: Path) -> None:
    pandas, polars = pytest.importorskip("pandas"), pytest.importorskip("polars")
    result = fl.simulate("tiny", [READER], requests=True, timeseries=True, timeline=True)
    for table in (result.requests, result.timeseries, result.timeline, result.histograms):
        assert table is not None
        rows = list(table)
        assert len(rows) == len(table) and list(rows[0]) == table.column_names
        frame = pandas.DataFrame(table)
        assert list(frame.columns) == table.column_names and len(frame) == len(table)
        assert polars.DataFrame(table).to_dicts() == rows
        quick = table.to_pandas()
        for name in table.column_names:
            assert frame[name].dropna().to_list() == quick[name].dropna().to_list(), name


def test_charts_are_drawn_with_either_library() -> None:
    pytest.importorskip("matplotlib").use("Agg")
    pytest.importorskip("altair")
    flows = [READER, fl.Flow("writer", queue_depth=4, read_ratio=0.0, requests=300)]
    one = fl.simulate("tiny", flows, blame=True, timeseries=True, label="one")
    two = fl.simulate("tiny", flows, seed=2, label="two")
    for draw in (
        one.plot_latency,
        one.plot_breakdown,
        one.plot_timeseries,
        one.plot_blame,
        lambda **keys: fl.plot_compare(one, two, **keys),
    ):
        axes = draw()
        assert axes.get_legend() is not None and axes.get_legend().get_texts()
        chart = draw(backend="altair").to_dict()
        marks = {row["series"] for row in chart["data"]["values"]}
        assert marks == {text.get_text() for text in axes.get_legend().get_texts()}
        with pytest.raises(ValueError, match="allowed: matplotlib, altair"):
            draw(backend="gnuplot")
        with pytest.raises(ValueError, match="with matplotlib"):
            draw(backend="altair", ax=axes)
