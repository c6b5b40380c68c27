from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

import flashlane as fl


def test_a_trace_becomes_a_table(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    path.write_text("1000 0 8 16 1\n3000 0 64 8 0\n")
    frame = pl.DataFrame(fl.read_trace(path, format="mqsim"))
    assert frame["time_ps"].to_list() == [0, 2_000_000]
    assert frame["op"].cast(pl.String).to_list() == ["read", "write"]
    assert frame["offset_bytes"].to_list() == [4096, 32768]
    assert frame["bytes"].to_list() == [8192, 4096]
    assert len(fl.read_trace(path, format="mqsim", limit=1)) == 1


def test_units_say_what_bare_columns_are(tmp_path: Path) -> None:
    path = tmp_path / "bare.trace"
    path.write_text("1000 0 8192 4096 1\n3000 0 65536 4096 0\n")
    frame = pl.DataFrame(fl.read_trace(path, time_unit="us", size_unit="B"))
    assert frame["time_ps"].to_list() == [0, 2_000_000_000]
    assert frame["offset_bytes"].to_list() == [8192, 65536]
    with pytest.raises((fl.TraceError, fl.ConfigError), match="acres"):
        fl.read_trace(path, size_unit="acres")
    with pytest.raises((fl.TraceError, fl.ConfigError), match="fortnight"):
        fl.read_trace(path, time_unit="fortnight")
    with pytest.raises(TypeError, match="unit"):
        fl.clone_trace(path, unit="B")


def test_events_of_the_block_layer_are_chosen(tmp_path: Path) -> None:
    path = tmp_path / "a.blkparse"
    path.write_text(
        "8,0 1 1 0.000000000 10 Q R 8 + 8 [fio]\n8,0 1 2 0.000100000 10 D R 8 + 8 [fio]\n"
        "8,0 1 3 0.000500000 0 C R 8 + 8 [0]\n8,0 1 4 0.000600000 10 Q W 64 + 8 [fio]\n"
    )
    assert len(fl.read_trace(path, format="blkparse")) == 2
    assert len(fl.read_trace(path, format="blkparse", action="C")) == 1


def test_a_trace_that_is_refused_names_file_and_rule(tmp_path: Path) -> None:
    path = tmp_path / "bare.trace"
    path.write_text("1000 0 8 16 1\n3000 0 64 8 0\n")
    with pytest.raises((fl.TraceError, fl.ConfigError), match=r"bare\.trace"):
        fl.read_trace(path)
    with pytest.raises((fl.TraceError, fl.ConfigError), match=r"none\.trace"):
        fl.read_trace(tmp_path / "none.trace", format="mqsim")


def test_clones_are_drawn_saved_and_run(tmp_path: Path, device: fl.Device) -> None:
    assert "tpcc" in fl.clone_names()
    clone = fl.clone_trace("tpcc")
    assert "synthetic" in repr(clone)
    table = clone.generate(500, time_scale=0.1, seed=3)
    assert len(table) == 500
    assert pl.DataFrame(table).equals(pl.DataFrame(clone.generate(500, time_scale=0.1, seed=3)))
    clone.save(tmp_path / "mine.toml")
    flow = fl.Flow("a", clone=tmp_path / "mine.toml", requests=300)
    assert fl.simulate(device, [flow]).flows[0].requests["read"] > 0
    with pytest.raises(fl.ConfigError, match="tpcc"):
        fl.clone_trace("tpc")
    with pytest.raises(TypeError, match="allowed"):
        fl.clone_trace("tpcc", formta="x")


def test_a_fit_keeps_the_share_of_reads(tmp_path: Path) -> None:
    table = pl.DataFrame(fl.clone_trace("tpcc").generate(3000))
    reads = (table["op"].cast(pl.String) == "read").mean()
    path = tmp_path / "t.csv"
    rows = zip(
        table["time_ps"], table["op"].cast(pl.String), table["offset_bytes"], table["bytes"], strict=True
    )
    path.write_text("".join(f"{t // 10**6},{'R' if op == 'read' else 'W'},{o},{b}\n" for t, op, o, b in rows))
    fitted = fl.clone_trace(
        path, format="columns", columns="t=1[us],op=2,off=3[B],len=4[B];sep=comma;read=R;write=W"
    )
    again = pl.DataFrame(fitted.generate(3000))
    assert (again["op"].cast(pl.String) == "read").mean() == pytest.approx(reads, abs=0.05)
