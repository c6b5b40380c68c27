from __future__ import annotations

import pickle
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
        (lambda: fl.Device("fast81"), "--device", "fast18"),
        (lambda: fl.Device({"flash": {"chanels": 4}}), "chanels", "channels"),
        (lambda: fl.Device("fast18", set={"flash.channels": 0}), "flash.channels", "0"),
        (lambda: fl.Device("fast18", scheduler="fcsf"), "--scheduler", "fcfs"),
        (lambda: fl.Device("fast18", compat="mqsin"), "compat", "mqsim"),
        (lambda: fl.Workload([fl.Flow("a", queue_depht=4)]), "queue_depht", "queue_depth"),
        (lambda: fl.Workload([fl.Flow("a", trace="nowhere.trace")]), "trace", "no such file"),
        (lambda: fl.simulate("fast18", [fl.Flow("a", queue_depth=1)]), "flow", "duration"),
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
