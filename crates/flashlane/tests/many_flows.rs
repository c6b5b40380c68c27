//! As many tenants as a drive may have: every queue is served, under every scheduler and arbiter.

use flashlane::config::load::{self, Overrides};
use flashlane::config::validate;
use flashlane::policy::Scheduling;
use flashlane::{RunOptions, simulate};

const WORKLOAD: &str = r#"
[[flow]]
name = "tenant"
count = 1023
slo = { max = "1s" }
[flow.synthetic]
iops = 5.0
read_ratio = 0.5
requests = 3
[[flow]]
name = "closed"
priority = "urgent"
[flow.synthetic]
queue_depth = 3
requests = 30
"#;

fn run(scheduler: &str, arbitration: &str) {
    let set = |text: &str| text.to_owned();
    let sets = vec![
        set("flash.blocks_per_plane=8192"),
        set("flash.pages_per_block=16"),
        set("ftl.over_provisioning=0.5"),
        format!("interface.arbitration={arbitration}"),
    ];
    let overrides =
        Overrides { sets, scheduler: Some(scheduler.to_owned()), ..Overrides::default() };
    let device = load::device("tiny", &overrides).expect("valid");
    let workload = load::workload_from_toml(WORKLOAD, "many", &Overrides::default());
    let workload = workload.expect("valid");
    validate::check_pair(&device, &workload).expect("there is room for all");
    let options = RunOptions { check: true, ..RunOptions::default() };
    let summary = simulate(&device.config, &workload.config, &options, &|_| {}).expect("it ends");
    assert_eq!(summary.flows.len(), 1024);
    let silent = summary.flows.iter().filter(|flow| flow.requests.all() == 0).count();
    assert_eq!(silent, 0, "{scheduler}, {arbitration}: every tenant is served");
    assert_eq!(summary.missed().count(), 0);
}

#[test]
fn a_drive_serves_1024_tenants() {
    for scheduler in Scheduling::NAMES {
        run(scheduler, "round-robin");
    }
    run("fcfs", "weighted-round-robin");
    run("fcfs", "stride");
}
