//! What flows have when they run alone: the whole drive, or what isolation gives to them.

use flashlane::config::load::{self, Overrides};
use flashlane::config::validate::validate;
use flashlane::metrics::{AloneBasis, Summary};
use flashlane::{RunOptions, simulate};

const READER: &str = "[[flow]]\nname = \"reader\"\n[flow.synthetic]\niops = 15000\n\
                      requests = 1500\nread_ratio = 1.0\nsize = \"4KiB\"\n";
const WRITER: &str = "[[flow]]\nname = \"writer\"\ncache = \"off\"\n[flow.synthetic]\n\
                      iops = 3000\nrequests = 300\nread_ratio = 0.2\nsize = \"8KiB\"\n";

fn run(flows: &str, set: &str, alone_basis: AloneBasis) -> Summary {
    let sets = vec![set.to_owned(), "ftl.over_provisioning=60%".to_owned()];
    let overrides = Overrides { sets, ..Overrides::default() };
    let device = load::device("tiny", &overrides).expect("a valid device").config;
    let workload = load::workload_from_toml(flows, "test", &Overrides::default());
    let workload = workload.expect("a valid workload").config;
    assert_eq!(validate(&device, &workload), []);
    let options = RunOptions { alone: true, alone_basis, check: true, ..RunOptions::default() };
    let summary = simulate(&device, &workload, &options, &|_| {}).expect("the run finishes");
    assert!(summary.flows.iter().all(|flow| flow.alone_basis == Some(alone_basis)));
    summary.without_clocks()
}

fn alone(summary: &Summary) -> Vec<Option<f64>> {
    summary.flows.iter().map(|flow| flow.alone_end_to_end_us).collect()
}

/// In open loops, runs alone count the same requests.
#[test]
fn all_isolations_share_one_baseline() {
    let flows = [READER, WRITER].concat();
    let unified = run(&flows, "isolation=unified", AloneBasis::WholeDrive);
    for isolation in ["partitioned", "upi"] {
        let set = format!("isolation={isolation}");
        let whole = run(&flows, &set, AloneBasis::WholeDrive);
        assert_eq!(alone(&whole), alone(&unified), "{isolation}");
        let same = run(&flows, &set, AloneBasis::SameIsolation);
        assert_ne!(alone(&same), alone(&unified), "{isolation}");
        let beside = |summary: &Summary| summary.flows[0].end_to_end_us;
        assert_eq!(beside(&whole), beside(&same), "the run of all flows is the same");
    }
}

#[test]
fn without_isolation_both_are_the_same() {
    let flows = [READER, WRITER].concat();
    let whole = run(&flows, "isolation=unified", AloneBasis::WholeDrive);
    let same = run(&flows, "isolation=unified", AloneBasis::SameIsolation);
    assert_eq!(alone(&whole), alone(&same));
}

/// A tenant on half of the channels waits for its own requests there.
#[test]
fn lists_of_a_flow_do_not_bind_it_alone() {
    let listed = READER.replace("[flow.synthetic]", "channels = [0]\n[flow.synthetic]");
    let listed = listed.replace("iops = 15000", "queue_depth = 16");
    for flows in [listed.clone(), [&*listed, WRITER].concat()] {
        let whole = run(&flows, "isolation=unified", AloneBasis::WholeDrive);
        let same = run(&flows, "isolation=unified", AloneBasis::SameIsolation);
        let faster = whole.flows[0].alone_end_to_end_us.expect("it ran alone")
            / same.flows[0].alone_end_to_end_us.expect("it ran alone");
        assert!(faster < 0.8, "{faster}");
    }
    let single = run(&listed, "isolation=unified", AloneBasis::SameIsolation);
    assert_eq!(single.flows[0].slowdown, Some(1.0));
    let single = run(&listed, "isolation=unified", AloneBasis::WholeDrive);
    assert!(single.flows[0].slowdown.expect("it ran alone") > 1.2);
}

/// Chips of their own leave a tenant's planes few open blocks. With the data of all tenants on all
/// planes, blocks of each of them are open on each plane.
#[test]
fn a_whole_drive_without_room_for_everybody_is_refused_before_the_run() {
    let device = "base = 'tiny'\nisolation = 'partitioned'\n[flash]\nblocks_per_plane = 10\n\
                  [ftl]\nover_provisioning = 3.0\ngc.threshold = '3 blocks'\n";
    let device =
        load::device_from_toml(device, "test", &Overrides::default()).expect("valid").config;
    let flows: String = (0..4)
        .map(|flow| {
            format!("[[flow]]\nname = '{flow}'\nsynthetic = {{ queue_depth = 1, requests = 20 }}\n")
        })
        .collect();
    let workload =
        load::workload_from_toml(&flows, "test", &Overrides::default()).expect("valid").config;
    assert_eq!(validate(&device, &workload), []);
    let run = |alone_basis| {
        let options = RunOptions { alone: true, alone_basis, check: true, ..RunOptions::default() };
        simulate(&device, &workload, &options, &|_| {})
    };
    let error = run(AloneBasis::WholeDrive).expect_err("no room").to_string();
    for part in ["--alone-basis: found whole-drive", "must hold", "same-isolation"] {
        assert!(error.contains(part), "{error}");
    }
    run(AloneBasis::SameIsolation).expect("it runs");
}
