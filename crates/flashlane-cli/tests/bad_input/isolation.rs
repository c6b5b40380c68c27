//! Sets of chips that are refused.

use super::{DEVICE, WORKLOAD, assert_refused};

/// Runs the good files with `isolation` and further settings; the good device has four chips.
fn refused(isolation: &str, sets: &[&str], says: &[&str]) {
    let folder = tempfile::tempdir().expect("temporary folder");
    let device = DEVICE.replacen("scheduler", &format!("isolation = {isolation}\nscheduler"), 1);
    let device = device.replace("\"28%\"", "\"200%\"");
    let workload = WORKLOAD.replace("channels = [0, 1]\n", "");
    std::fs::write(folder.path().join("d.toml"), device).expect("written");
    std::fs::write(folder.path().join("w.toml"), workload).expect("written");
    let mut arguments = vec!["run", "--device", "d.toml", "--workload", "w.toml", "--out", "o"];
    sets.iter().for_each(|set| arguments.extend(["--set", set]));
    assert_refused(folder.path(), &arguments, says);
}

#[test]
fn parameters_of_upi_have_ranges() {
    let cases: [(&str, &[&str]); 15] = [
        ("window = \"1ns\"", &["d.toml:2: isolation.upi.window", "found 1ns, allowed: 1us to"]),
        ("hysteresis = -1.0", &["isolation.upi.hysteresis", "found -1, allowed: 0 to 100"]),
        ("relocation = 1e9", &["isolation.upi.relocation", "allowed: 0 to 1000000"]),
        ("read_gain = 0.0", &["isolation.upi.read_gain", "found 0, allowed: 0.001 to 1"]),
        ("past_reads = \"all\"", &["past_reads", "all", "window"]),
        ("read_exponent = 11.0", &["isolation.upi.read_exponent", "found 11, allowed: 0 to 10"]),
        ("traffic_exponents = [1.0, -2.0]", &["upi.traffic_exponents[1]", "found -2, allowed: 0"]),
        (
            "traffic_exponents = [1.0, 1.0, 1.0]",
            &["upi.traffic_exponents", "found 3 numbers, allowed: at most 2, one for each flow"],
        ),
        ("fill = 0.0", &["isolation.upi.fill", "found 0, allowed: 0.01 to 1"]),
        ("amplification_gain = 0.0", &["amplification_gain", "allowed: 0.001 to 1"]),
        ("read_memory = 1001", &["isolation.upi.read_memory", "found 1001, allowed: 0 to"]),
        ("traffic_limit = 1.0", &["isolation.upi.traffic_limit", "found 1, allowed: 0.1 to"]),
        ("shared_chips = [4]", &["upi.shared_chips[0]", "found 4, allowed: 0 to 3"]),
        (
            "shared_chips = [1], read_only_chips = [1]",
            &["upi.read_only_chips[0]", "found 1 a second time"],
        ),
        ("windw = \"1s\"", &["d.toml:2: isolation.upi.windw", "did you mean `window`?"]),
    ];
    for (parameters, says) in cases {
        refused(&format!("{{ upi = {{ {parameters} }} }}"), &[], says);
    }
}

#[test]
fn upi_needs_chips_room_and_a_page_level_map() {
    let cases: [(&str, &[&str], &[&str]); 5] = [
        (
            "{ upi = { shared_chips = [0, 1], read_only_chips = [2] } }",
            &[],
            &["isolation", "found 1 chips for 2 flows", "at least one chip of its own"],
        ),
        ("\"upi\"", &["flow.first.channels=[0]"], &["flow[0].channels", "none with isolation upi"]),
        ("\"upi\"", &["ftl.gc.copyback=true"], &["ftl.gc.copyback", "found true, allowed: false"]),
        ("\"upi\"", &["ftl.mapping.kind=hybrid"], &["isolation", "found upi", "hybrid mapping"]),
        (
            "\"upi\"",
            &["ftl.over_provisioning=30%"],
            &["ftl.over_provisioning", "found 0.3", "all chips that are written to but 1"],
        ),
    ];
    for (isolation, sets, says) in cases {
        refused(isolation, sets, says);
    }
}

#[test]
fn partitions_need_a_unit_for_each_flow() {
    let sets = ["flash.channels=1"];
    let says = ["isolation", "second", "partitioned"];
    refused("{ partitioned = { by = \"channel\" } }", &sets, &says);
    let interface = ["interface.kind=sata"];
    refused("\"partitioned\"", &interface, &["isolation", "found partitioned, allowed: unified"]);
}
