//! Everything that the program can try on a drive, one setting at a time.

use flashlane::config::{DeviceConfig, HandleEach, handle_each};
use flashlane::policy::{Isolation, Scheduling, Separation, Victim};

use super::candidate::Candidate;
use super::figures::Figures;
use super::kinds::Kind;

/// The kind of settings that only matter where blocks are collected.
pub(super) const COLLECTION: &str = "collection";
/// The kind of settings by which hosts place their data.
pub(super) const PLACEMENT: &str = "placement";
/// The family of a limit, before the name of the tenant.
pub(super) const LIMIT: &str = "limit of ";

/// Largest number of tenants that are each put first in turn. Where there are more, only the one
/// that the goal protects.
const FIRST_MAX: usize = 6;

/// The candidates apart from limits. `victim` is the place of the tenant that the goal protects.
pub(super) fn all(device: &DeviceConfig, kinds: &[Kind], victim: usize) -> Vec<Candidate> {
    let mut all = Vec::new();
    let names = |list: Vec<flashlane::policy::PolicyInfo>| {
        list.into_iter().map(|policy| policy.name.into_owned())
    };
    for name in names(Scheduling::list()) {
        let set = format!("scheduler={name}");
        all.push(Candidate::new("scheduler", format!("the scheduler {name}"), &[&set]));
    }
    let first: Vec<&Kind> = match kinds.len() <= FIRST_MAX {
        true => kinds.iter().collect(),
        false => kinds.iter().filter(|kind| kind.members.contains(&victim)).collect(),
    };
    for kind in first.iter().filter(|_| kinds.len() > 1) {
        let class = format!("{}.priority=urgent", kind.key);
        let label = format!("the scheduler priority-out-of-order with {} urgent", kind.name);
        let sets = ["scheduler=priority-out-of-order", &class];
        all.push(Candidate::new("scheduler", label, &sets));
    }
    for name in names(Isolation::list()) {
        let set = format!("isolation={name}");
        all.push(Candidate::new("isolation", format!("isolation {name}"), &[&set]));
    }
    let by_channel = "isolation={ partitioned = { by = \"channel\" } }";
    let label = "isolation partitioned by channel".to_owned();
    all.push(Candidate::new("isolation", label, &[by_channel]));
    all.extend(suspension());
    all.extend(host(&first, kinds.len()));
    all.extend(caches(device));
    all.extend(collection());
    all.extend(placement(device, kinds));
    all
}

/// A placement handle for each kind of tenants, on a drive that could offer handles.
fn placement(device: &DeviceConfig, kinds: &[Kind]) -> Vec<Candidate> {
    let flows: Vec<String> = kinds.iter().map(|kind| kind.key.clone()).collect();
    let of = |each: HandleEach| {
        let sets: Vec<&str> = each.sets.iter().map(String::as_str).collect();
        Candidate::new(PLACEMENT, each.label, &sets)
    };
    handle_each(device, &flows).into_iter().map(of).collect()
}

fn suspension() -> Vec<Candidate> {
    let (program, erase) = ("flash.suspend.program=true", "flash.suspend.erase=true");
    let of = |label: &str, sets: &[&str]| Candidate::new("suspension", label.to_owned(), sets);
    vec![
        of("suspend programs", &[program]),
        of("suspend erases", &[erase]),
        of("suspend programs and erases", &[program, erase]),
    ]
}

/// Fetching of commands, and arbitration among queues.
fn host(first: &[&Kind], kinds: usize) -> Vec<Candidate> {
    let mut all = Vec::new();
    for size in [1, 4, 16, 64] {
        let set = format!("interface.queue_fetch_size={size}");
        let commands = if size == 1 { "command" } else { "commands" };
        let label = format!("hold at most {size} {commands} of each queue");
        all.push(Candidate::new("fetch size", label, &[&set]));
    }
    for ahead in [1, 4] {
        let set = format!("interface.fetch_ahead={ahead}");
        let label = match ahead {
            1 => "fetch one command at a time".to_owned(),
            _ => format!("fetch {ahead} commands at a time"),
        };
        all.push(Candidate::new("fetch ahead", label, &[&set]));
    }
    for kind in first.iter().filter(|_| kinds > 1) {
        let class = format!("{}.priority=urgent", kind.key);
        let label = format!("weighted arbitration with {} urgent", kind.name);
        let sets =
            ["interface.arbitration=weighted-round-robin", &class, "interface.fetch_ahead=1"];
        all.push(Candidate::new("arbitration", label, &sets));
    }
    all
}

fn caches(device: &DeviceConfig) -> Vec<Candidate> {
    let of =
        |family: &str, label: &str, set: &str| Candidate::new(family, label.to_owned(), &[set]);
    let mut all = Vec::new();
    if device.cache.capacity.0 > 0 {
        let equal = "cache.sharing=equal-partitioning";
        all.push(of("data cache", "equal parts of the data cache", equal));
        let rate = "cache.admission=rate";
        all.push(of("admission", "writes admitted to the data cache at the rate of flash", rate));
    }
    if !device.ftl.mapping.ideal {
        let equal = "ftl.mapping.sharing=equal-partitioning";
        all.push(of("mapping cache", "equal parts of the mapping cache", equal));
    }
    all
}

fn collection() -> Vec<Candidate> {
    let mut all = Vec::new();
    // A drive without collection is a comparison, and nothing that can be built.
    for policy in Victim::list().into_iter().filter(|policy| policy.name != "none") {
        let set = format!("ftl.gc.victim={}", policy.name);
        let label = format!("collection by {}", policy.name);
        all.push(Candidate::new(COLLECTION, label, &[&set]));
    }
    let of = |label: &str, set: &str| Candidate::new(COLLECTION, label.to_owned(), &[set]);
    all.push(of("collection that gives way to requests", "ftl.gc.preemptible=true"));
    all.push(of("collection in proportion to writes", "ftl.gc.pacing=proportional"));
    for policy in Separation::list() {
        let set = format!("ftl.separation={}", policy.name);
        let label = format!("separation of hot data by {}", policy.name);
        all.push(Candidate::new("separation", label, &[&set]));
    }
    all
}

/// Why a candidate need not be tried, by what the unchanged drive does.
pub(super) fn pointless(candidate: &Candidate, before: &Figures) -> Option<&'static str> {
    let of = |family: &str| candidate.families.iter().any(|one| one == family);
    if (of(COLLECTION) || of("separation") || of(PLACEMENT)) && !before.collects {
        return Some("the drive collects no block in this time");
    }
    let erases = of("suspension") && candidate.sets.iter().all(|set| set.contains("erase"));
    if erases && !before.erases {
        return Some("the drive erases no block in this time");
    }
    None
}

/// A limit of the rate of a kind's tenants, at a part of their rate. Each of them has the limit.
pub(super) fn limit(kind: &Kind, part: f64, before: &Figures) -> Candidate {
    let sum: f64 = kind.members.iter().map(|&at| before.tenants[at].bandwidth).sum();
    let rate = rounded(part * sum / kind.members.len() as f64);
    let set = format!("{}.limit.bandwidth={rate}B/s", kind.key);
    let each = if kind.members.len() > 1 { "each of " } else { "" };
    let rate = shown_rate(rate as f64);
    let label =
        format!("a limit of {rate} for {each}{} ({:.0} % of its rate)", kind.name, 100.0 * part);
    let mut candidate = Candidate::new(&format!("{LIMIT}{}", kind.name), label, &[&set]);
    candidate.limited.clone_from(&kind.members);
    candidate
}

/// A rate with three digits. Unit: bytes per second.
fn rounded(rate: f64) -> u64 {
    let size = libm::pow(10.0, (libm::floor(libm::log10(rate.max(1.0))) - 2.0).max(0.0));
    ((rate / size).round() * size).max(1.0) as u64
}

/// A rate in the unit that fits.
pub(super) fn shown_rate(rate: f64) -> String {
    let (size, unit) = match rate {
        1e9.. => (1e9, "GB/s"),
        1e6.. => (1e6, "MB/s"),
        1e3.. => (1e3, "kB/s"),
        _ => (1.0, "B/s"),
    };
    let value = rate / size;
    match value {
        100.0.. => format!("{value:.0} {unit}"),
        10.0.. => format!("{value:.1} {unit}"),
        _ => format!("{value:.2} {unit}"),
    }
}

#[cfg(test)]
mod tests {
    use super::super::figures::Tenant;
    use super::*;

    fn kind(name: &str, members: &[usize]) -> Kind {
        Kind { name: name.into(), key: format!("flow.{name}"), members: members.to_vec() }
    }

    #[test]
    fn a_limit_is_a_round_part_of_the_present_rate() {
        let tenant = |bandwidth| Tenant { bandwidth, ..Tenant::default() };
        let tenants = vec![tenant(7.0), tenant(123_456_789.0), tenant(123_456_789.0)];
        let before = Figures { tenants, collects: false, erases: false, amplification: 1.0 };
        let two = limit(&kind("backup", &[1, 2]), 0.5, &before);
        assert_eq!(two.sets, ["flow.backup.limit.bandwidth=61700000B/s"]);
        assert_eq!(two.label, "a limit of 61.7 MB/s for each of backup (50 % of its rate)");
        assert_eq!((&two.limited[..], two.families[0].as_str()), (&[1, 2][..], "limit of backup"));
        let one = limit(&kind("log", &[0]), 0.5, &before);
        assert_eq!(one.sets, ["flow.log.limit.bandwidth=4B/s"]);
    }

    fn device(text: &str) -> DeviceConfig {
        let overrides = flashlane::config::load::Overrides::default();
        let device = flashlane::config::load::device_from_toml(text, "test", &overrides);
        device.expect("valid").config
    }

    #[test]
    fn handles_are_tried_where_there_are_superblocks() {
        let kinds = [kind("a", &[0]), kind("b", &[1])];
        let of = |text: &str| -> Vec<Vec<String>> {
            let all = all(&device(text), &kinds, 0).into_iter();
            all.filter(|one| one.families == [PLACEMENT]).map(|one| one.sets).collect()
        };
        let found = of("base = 'tiny'\nftl.superblock = 'drive'");
        assert_eq!(found.len(), 2, "initially and persistently isolated");
        assert_eq!(found[0][3..], ["flow.a.placement=0", "flow.b.placement=1"]);
        assert!(of("base = 'tiny'").is_empty(), "a block of a plane is no reclaim unit");
    }

    #[test]
    fn every_registered_policy_is_tried() {
        let device = device("base = 'tiny'");
        let kinds = [kind("a", &[0]), kind("b", &[1])];
        let all = all(&device, &kinds, 0);
        for policy in Scheduling::list() {
            let set = format!("scheduler={}", policy.name);
            assert!(all.iter().any(|one| one.sets == [set.clone()]), "{set}");
        }
        assert!(all.iter().all(|one| one.sets != ["ftl.gc.victim=none"]));
        let mut labels: Vec<&str> = all.iter().map(|one| one.label.as_str()).collect();
        labels.sort_unstable();
        labels.dedup();
        assert_eq!(labels.len(), all.len(), "each has a name of its own");
        let idle =
            Figures { tenants: Vec::new(), collects: false, erases: false, amplification: 1.0 };
        let left = all.iter().filter(|one| pointless(one, &idle).is_none()).count();
        assert!(left > 15 && left < all.len(), "{left} of {}", all.len());
    }
}
