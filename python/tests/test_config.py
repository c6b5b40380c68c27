from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import flashlane as fl


def test_every_preset_is_a_device() -> None:
    assert {"fast18", "flin", "upi"} <= set(fl.Device.presets())
    for name in fl.Device.presets():
        assert fl.Device(name).to_dict()["flash"]["channels"] >= 1


def test_keys_and_policies_change(device: fl.Device) -> None:
    other = device.replace(scheduler="fcfs", isolation="unified", set={"flash.channels": 4})
    assert other.scheduler == "fcfs"
    assert other.to_dict()["flash"]["channels"] == 4
    assert device.to_dict()["flash"]["channels"] == 1, "the first one stays as it is"
    assert fl.Device("fast18", scheduler="fcfs", set={"flash.channels": 4}).scheduler == "fcfs"


def test_a_device_survives_toml_and_pickle(device: fl.Device) -> None:
    assert fl.Device.from_toml(device.to_toml()).to_dict() == device.to_dict()
    assert pickle.loads(pickle.dumps(device)).to_toml() == device.to_toml()


def test_a_workload_survives_toml(workload: fl.Workload) -> None:
    again = fl.Workload.from_toml(workload.to_toml())
    assert again.to_dict() == workload.to_dict()
    assert again.flows == ["light", "heavy"]
    assert "light" in repr(workload)
    deeper = workload.replace(set={"flow.heavy.synthetic.queue_depth": 64})
    assert deeper.to_dict()["flow"][1]["synthetic"]["queue_depth"] == 64


def test_files_are_read(tmp_path: Path, workload: fl.Workload) -> None:
    file = tmp_path / "work.toml"
    file.write_text(workload.to_toml())
    assert fl.Workload(file).to_dict() == workload.to_dict()
    assert len(fl.Workload.scenarios(file)) == 1


def test_flows_say_how_they_are_made() -> None:
    flow = fl.Flow("oltp", clone="tpcc", time_scale=0.5, duration="1s", priority="high")
    assert flow.to_dict() == {
        "name": "oltp",
        "priority": "high",
        "clone": {"of": "tpcc", "time_scale": 0.5, "duration": "1s"},
    }
    assert repr(flow).startswith("Flow('oltp', priority='high'")


@pytest.mark.parametrize(
    ("make", "place", "found"),
    [
        (lambda: fl.Device("fast81"), "Device: ", "fast18"),
        (lambda: fl.Device({"flash": {"chanels": 4}}), "chanels", "channels"),
        (lambda: fl.Device("fast18", set={"flash.channels": 0}), "flash.channels", "0"),
        (lambda: fl.Device("fast18", scheduler="fcsf"), "scheduler: ", "fcfs"),
        (lambda: fl.Device("fast18", compat="mqsin"), "compat", "mqsim"),
        (lambda: fl.Workload([fl.Flow("a", queue_depht=4)]), "queue_depht", "queue_depth"),
        (lambda: fl.Workload([fl.Flow("a", trace="nowhere.trace")]), "trace", "no such file"),
        (lambda: fl.simulate("fast18", [fl.Flow("a", queue_depth=1)]), "Workload: ", "duration"),
    ],
)
def test_bad_input_names_place_and_rule(make: object, place: str, found: str) -> None:
    with pytest.raises(fl.ConfigError) as caught:
        make()  # type: ignore[operator]
    assert place in str(caught.value)
    assert found in str(caught.value)
    assert caught.value.problems, "places and messages are there one by one"
    assert str(pickle.loads(pickle.dumps(caught.value))) == str(caught.value)
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, fl.Error)


def test_values_of_no_use_are_type_errors() -> None:
    with pytest.raises(TypeError, match="allowed"):
        fl.Device(3.5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="size"):
        fl.Workload([fl.Flow("a", queue_depth=1, size=object())])
    with pytest.raises(TypeError, match="both"):
        fl.Flow("a", trace="x", clone="tpcc")


def _deep(levels: int, make: str) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value] if make == "list" else {"a": value}
    return value


def _endless(make: str) -> object:
    if make == "list":
        items: list[object] = []
        items.append(items)
        return items
    keys: dict[str, object] = {}
    keys["a"] = keys
    return keys


class _Item:
    """An object whose number is again an object of this class."""

    def item(self) -> _Item:
        return self


HOSTILE = """
import sys
sys.path.insert(0, sys.argv[1])
import flashlane as fl
from test_config import _Item, _deep, _endless
FLOW = fl.Flow("a", queue_depth=1, requests=1)
VALUES = [_deep(100_000, "dict"), _deep(100_000, "list"), _endless("dict"), _endless("list"), _Item()]
for value in VALUES:
    outer = value if isinstance(value, dict) else {"flash": value}
    for make in (
        lambda: fl.Device(outer),
        lambda: fl.Device("tiny", set={"flash": value}),
        lambda: fl.Device("tiny").replace(set={"flash": value}),
        lambda: fl.Workload({"flow": value}),
        lambda: fl.Workload([fl.Flow("a", queue_depth=1, size=value)]),
        lambda: fl.Workload([FLOW]).replace(set={"flow.a.priority": value}),
        lambda: fl.sweep("tiny", [FLOW], [{"flash": value}]),
    ):
        try:
            make()
        except fl.ConfigError as error:
            assert "allowed" in str(error) and len(str(error)) < 500, error
            assert "itself" in str(error) or "32 dicts and lists" in str(error), error
            print("refused")
"""


def test_deep_and_endless_values_are_refused() -> None:
    tests = str(Path(__file__).parent)
    done = subprocess.run(
        [sys.executable, "-c", HOSTILE, tests], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    assert done.stdout.count("refused") == 5 * 7


def test_values_that_share_are_bounded_and_integers_have_64_bits() -> None:
    value: object = [1]
    for _ in range(28):
        value = [value, value]
    with pytest.raises(fl.ConfigError, match="more than 4000000 values"):
        fl.Device({"flash": value})
    with pytest.raises(fl.ConfigError, match=r"flash.channels: found an integer beyond 64 bits"):
        fl.Device("tiny", set={"flash.channels": 2**64})
    with pytest.raises(fl.ConfigError, match="name: found text with a lone surrogate"):
        fl.Device({"name": "\ud800"})
    with pytest.raises(TypeError, match="found a key of type int"):
        fl.Device({"flash": {1: 2}})
    with pytest.raises(TypeError, match="found str in the list, allowed: Flow"):
        fl.Workload(["a"])  # type: ignore[list-item]


def test_everything_copies_and_pickles(device: fl.Device, workload: fl.Workload, result: fl.Result) -> None:
    flow = fl.Flow("a", queue_depth=2, size="4KiB")
    for again in (copy.copy, copy.deepcopy, lambda thing: pickle.loads(pickle.dumps(thing))):
        assert again(device) == device
        assert again(workload) == workload
        assert again(flow) == flow
        assert dict(again(result[0])) == dict(result[0])
        assert again(result).device == device
        assert again(result).workload == workload
        assert repr(again(result)) == repr(result)
    assert fl.Device(device.to_dict()) == device, "the same keys, written elsewhere"


def test_warnings_and_files_that_are_gone_survive_pickling(tmp_path: Path) -> None:
    trace = tmp_path / "t.trace"
    trace.write_text("".join(f"{n * 1000} 0 {8 * n} 8 1\n" for n in range(10)))
    workload = fl.Workload([fl.Flow("a", trace=trace, format="mqsim")])
    result = fl.simulate("tiny", workload)
    kept = pickle.dumps((workload, result))
    trace.unlink()
    again, old = pickle.loads(kept)
    assert again == workload
    assert old.summary == result.summary, "a result is of use without its trace"
    job = tmp_path / "j.fio"
    job.write_text("[a]\nrw=randread\nsize=1m\nnumber_ios=10\nioengine=psync\niodepth=4\n")
    from_job = fl.Workload(job)
    assert from_job.warnings, "a depth has no meaning for this engine"
    assert pickle.loads(pickle.dumps(from_job)).warnings == from_job.warnings


def test_keys_of_endless_depth_are_refused() -> None:
    key = ".".join(["a"] * 40_000)
    with pytest.raises(fl.errors.ConfigError, match=r"a key of 40000 levels.*allowed: 32 at most"):
        fl.Device("tiny", set={key: 1})


def test_a_flow_has_limits_of_rates_and_a_trace_a_number_of_requests(tmp_path: Path) -> None:
    limited = fl.Flow("a", queue_depth=4, requests=50, limit={"iops": 1000.0})
    assert limited.keys["limit"] == {"iops": 1000.0}
    result = fl.simulate("tiny", [limited])
    assert result["a"].iops == pytest.approx(1000, rel=0.1)
    trace = tmp_path / "a.trace"
    trace.write_text("0 0 8 8 1\n1000 0 16 8 1\n")
    assert fl.Flow("a", trace=trace, format="mqsim", limit=1).keys["trace"]["limit"] == 1
    both = fl.Flow("a", trace=trace, format="mqsim", limit={"iops": 5.0})
    assert both.keys["limit"] == {"iops": 5.0} and "limit" not in both.keys["trace"]
