//! Limits of rates: what limited tenants get, and what the others have of it.

use flashlane::config::load::{self, Overrides};
use flashlane::config::validate::validate;
use flashlane::metrics::{AloneBasis, Summary};
use flashlane::observe::{Blame, Observe};
use flashlane::{RunOptions, simulate_in_detail};

/// A tenant that reads all that it can, with some more keys.
fn reader(name: &str, keys: &str) -> String {
    format!(
        "[[flow]]\nname = '{name}'\n{keys}\nsynthetic = {{ queue_depth = 16, read_ratio = 1.0, \
         duration = '200ms' }}\n"
    )
}

fn run(workload: &str, options: &RunOptions) -> (Summary, Option<Blame>) {
    let device = load::device("tiny", &Overrides::default()).expect("a valid device").config;
    let workload = load::workload_from_toml(workload, "test", &Overrides::default());
    let workload = workload.expect("a valid workload").config;
    assert_eq!(validate(&device, &workload), []);
    let options = RunOptions { check: true, ..options.clone() };
    let found = simulate_in_detail(&device, &workload, &options, &|_| {});
    let (summary, details) = found.expect("the run finishes");
    (summary, details.blame)
}

fn rates(workload: &str) -> Vec<f64> {
    let (summary, _) = run(workload, &RunOptions::default());
    summary.flows.iter().map(|flow| flow.iops).collect()
}

fn assert_close(found: f64, wanted: f64) {
    assert!((found / wanted - 1.0).abs() < 0.02, "{found}, wanted: {wanted}");
}

#[test]
fn a_tenant_gets_its_rate_and_the_others_the_rest() {
    let pair = |keys: &str| rates(&[reader("a", keys), reader("b", "")].concat());
    let free = pair("");
    let limited = pair("limit = { iops = 1000 }");
    assert_close(limited[0], 1000.0);
    assert!(limited[1] > 1.3 * free[1], "{free:?} {limited:?}");
    let bytes = pair("limit = { bandwidth = '8.192MB/s', burst = '0s' }");
    assert_close(bytes[0], 2000.0);
    let loose = pair("limit = { iops = 100000000, bandwidth = '900GB/s' }");
    assert_eq!(loose, free, "a limit that nobody reaches changes nothing");
}

/// In the host, a limit keeps the same rate, and the submission queue stays free of what waits.
#[test]
fn a_limit_in_the_host_keeps_the_same_rate_outside_of_the_queue() {
    let pair = |keys: &str| rates(&[reader("a", keys), reader("b", "")].concat());
    let free = pair("");
    let (device, host) =
        (pair("limit = { iops = 1000 }"), pair("limit = { iops = 1000, at = 'host' }"));
    assert_close(host[0], 1000.0);
    assert_close(host[1], device[1]);
    assert_eq!(pair("limit = { iops = 1e8, at = 'host' }"), free, "nobody reaches it");
    let waits = |at: &str| {
        let keys = format!("limit = {{ iops = 1000, at = '{at}' }}");
        let (summary, _) = run(&reader("a", &keys), &RunOptions::default());
        let flow = &summary.flows[0];
        (flow.end_to_end_us.mean, flow.response_time_us.mean)
    };
    let ((whole, response), (same, all)) = (waits("host"), waits("device"));
    assert!(whole > 10_000.0 && response < 1000.0, "16 outstanding wait: {whole} {response}");
    assert_close(same, whole);
    assert_close(all, whole);
}

#[test]
fn a_group_in_the_host_shares_its_rate_beside_limits_of_the_device() {
    let group =
        "[[group]]\nname = 'g'\nmembers = ['a', 'b']\nlimit = { iops = 5000, at = 'host' }\n";
    let own = reader("a", "limit = { iops = 2000 }");
    let found = rates(&[&*own, &*reader("b", ""), group].concat());
    assert_close(found[0], 2000.0);
    // Commands that have passed in the host and wait in the device are paid for already: 16.
    let both = found[0] + found[1];
    assert!((5000.0 - 80.0..5050.0).contains(&both), "{found:?}");
}

#[test]
fn kinds_have_limits_of_their_own() {
    let mixed = reader("a", "limit = { read.iops = 500, write.bandwidth = '4.096MB/s' }");
    let mixed = mixed.replace("read_ratio = 1.0", "read_ratio = 0.5");
    let (summary, _) = run(&mixed, &RunOptions::default());
    let flow = &summary.flows[0];
    let span = summary.window_end_s - summary.window_start_s;
    let [reads, writes] = [&flow.read_response_time_us, &flow.write_response_time_us]
        .map(|latency| latency.count as f64 / span);
    // Entries of a queue are fetched in order: the slower kind decides about both.
    assert!(reads <= 520.0 && writes <= 1040.0, "{reads} {writes}");
    assert!(reads > 450.0, "{reads} {writes}");
}

#[test]
fn members_of_a_group_share_its_rate() {
    let group = "[[group]]\nname = 'batch'\nmembers = ['a', 'b']\nlimit = { iops = 1000 }\n";
    let three = |count: &str| [reader("a", count), reader("b", ""), reader("c", "")].concat();
    let found = rates(&[&*three(""), group].concat());
    assert_close(found[0] + found[1], 1000.0);
    assert!((found[0] / found[1] - 1.0).abs() < 0.05, "members take turns: {found:?}");
    assert!(found[2] > 10_000.0, "{found:?}");
    // A name with a count stands for all copies.
    let found = rates(&[&*three("count = 3"), group].concat());
    assert_close(found[..4].iter().sum(), 1000.0);
}

#[test]
fn time_for_a_limit_is_charged_to_it() {
    let blaming = RunOptions {
        observe: Observe { blame: true, ..Observe::default() },
        ..RunOptions::default()
    };
    for limit in ["limit = { iops = 1000 }", "limit = { iops = 1000, at = 'host' }"] {
        let (_, blame) = run(&[reader("a", limit), reader("b", "")].concat(), &blaming);
        let blame = blame.expect("it was asked for");
        let share = |flow: &str| {
            let victim = blame.victims.iter().find(|victim| victim.flow == flow);
            let victim = victim.expect("it is there");
            let cells = victim.cells.iter().filter(|cell| cell.cause == "rate-limit");
            assert!(cells.clone().all(|cell| cell.culprit == flow));
            cells.map(|cell| cell.ps as f64).sum::<f64>() / victim.waiting_ps as f64
        };
        assert!(share("a") > 0.9, "{limit}: {}", share("a"));
        assert!(share("b") == 0.0, "{limit}: {}", share("b"));
    }
    let (_, blame) = run(&reader("b", ""), &blaming);
    let causes = blame.expect("it was asked for").causes;
    assert!(causes.iter().all(|cause| cause.name != "rate-limit"), "nobody has a limit");
}

#[test]
fn alone_on_the_whole_drive_a_tenant_has_no_limit() {
    let pair = [reader("a", "limit = { iops = 1000 }"), reader("b", "")].concat();
    let alone = |alone_basis| {
        let options = RunOptions { alone: true, alone_basis, ..RunOptions::default() };
        run(&pair, &options).0.flows[0].slowdown.expect("it ran alone")
    };
    assert!(alone(AloneBasis::WholeDrive) > 5.0);
    assert!(alone(AloneBasis::SameIsolation) < 1.1);
}

/// A device that waits for a limit for longer than 20 s is not stuck, and the flow does not starve.
#[test]
fn a_slow_limit_is_no_fault_of_the_device() {
    let slow =
        reader("a", "limit = { iops = 0.01 }").replace("duration = '200ms'", "requests = 20000");
    for slow in [slow.clone(), slow.replace("0.01", "0.01, at = 'host'")] {
        let (summary, _) = run(&slow, &RunOptions::default());
        assert_eq!(summary.requests_completed, 20_000);
    }
    let busy = reader("b", "").replace("duration = '200ms'", "iops = 2000, requests = 100000");
    let busy = busy.replace("queue_depth = 16, ", "");
    let slow = slow.replace("requests = 20000", "requests = 3");
    let slow = slow.replace("limit = { iops = 0.01 }", "on_end = 'stop'\nlimit = { iops = 0.04 }");
    let (summary, _) = run(&[slow, busy].concat(), &RunOptions::default());
    assert!(!summary.flows[0].starved && !summary.flows[1].starved, "{:?}", summary.verdict);
}

#[test]
fn what_is_no_limit_is_refused() {
    let refused = |workload: &str| {
        let device = load::device("tiny", &Overrides::default()).expect("a valid device").config;
        let found = load::workload_from_toml(workload, "test", &Overrides::default());
        let problems = validate(&device, &found.expect("it can be read").config);
        let lines = problems.iter().map(|one| format!("{}: {}\n", one.place, one.message));
        lines.collect::<String>()
    };
    let group = |members: &str| {
        let head = "[[group]]\nname = 'g'\nlimit.iops = 5\nmembers =";
        [&*reader("a", ""), head, members, "\n"].concat()
    };
    for (workload, words) in [
        (reader("a", "limit = { iops = 0 }"), "flow[0].limit.iops: found 0, allowed: 0.001 to"),
        (reader("a", "limit = {}"), "flow[0].limit: found no rate, allowed: iops, bandwidth"),
        (reader("a", "limit = { iops = 5, burst = '7200s' }"), "limit.burst"),
        (reader("a", "limit.write.bandwidth = '1B/s'"), "limit.write.bandwidth: found 1B/s"),
        (group("['x']"), "group[0].members[0]: found \"x\""),
        (group("['a', 'a']"), "found \"a\" twice, allowed: once"),
        (group("[]"), "found no member, allowed: one flow or more"),
    ] {
        let said = refused(&workload);
        assert!(said.contains(words), "{said}, wanted: {words}");
    }
}
