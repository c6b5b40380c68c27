//! Rules of the parts of a flow (`synthetic.parts`, or those of `synthetic.cache_engine`).

use super::cache_engine;
use super::flow::{check_address, check_filling, check_size};
use crate::SyntheticConfig;
use flashlane_device::layout::SECTOR_BYTES;
use flashlane_reading::Rules;
use flashlane_units::ByteSize;
use flashlane_workload::config::{MAX_REQUEST_BYTES, PARTS_MAX, PartConfig};

/// Checks the parts of a flow, and that the flow itself says nothing that they say.
pub(super) fn check(rules: &mut Rules, key: &str, flow: &SyntheticConfig) {
    if let Some(engine) = &flow.cache_engine {
        let key = format!("{key}.cache_engine");
        rules.require(flow.parts.is_empty(), &key, || {
            "found a cache engine beside parts, allowed: one of them".to_owned()
        });
        check_alone(
            rules,
            &key,
            flow,
            ("a cache engine", |_| "the keys of cache_engine".to_owned()),
        );
        cache_engine::check(rules, &key, engine);
    }
    if flow.parts.is_empty() {
        return;
    }
    let key = format!("{key}.parts");
    rules.require(flow.parts.len() <= PARTS_MAX, &key, || {
        format!("found {} parts, allowed: up to {PARTS_MAX}", flow.parts.len())
    });
    check_alone(rules, &key, flow, ("parts", |name| format!("{name} in each part")));
    for (index, part) in flow.parts.iter().enumerate() {
        check_part(rules, &format!("{key}[{index}]"), part);
    }
}

/// Refuses keys of the flow beside `found`; `instead` names the keys to give in place of one.
fn check_alone(
    rules: &mut Rules,
    key: &str,
    flow: &SyntheticConfig,
    (found, instead): (&str, fn(&str) -> String),
) {
    for (given, name) in given_beside(flow) {
        rules.require(!given, key, || {
            format!("found {found} beside {name} of the flow, allowed: {}", instead(name))
        });
    }
    for (given, name) in [
        (flow.bandwidth.is_some(), "bandwidth"),
        (flow.warps.is_some(), "warps"),
        (flow.fio.is_some(), "fio"),
    ] {
        rules.require(!given, key, || {
            format!("found {found} beside {name}, allowed: {found} with queue_depth or iops")
        });
    }
}

/// Keys of a flow that belong to its parts.
fn given_beside(flow: &SyntheticConfig) -> [(bool, &'static str); 8] {
    let none = SyntheticConfig::default();
    [
        (flow.read_ratio != none.read_ratio, "read_ratio"),
        (flow.trim_ratio != none.trim_ratio, "trim_ratio"),
        (flow.address != none.address, "address"),
        (flow.fill_first, "fill_first"),
        (flow.size != none.size, "size"),
        (flow.align.is_some(), "align"),
        (flow.working_set.is_some(), "working_set"),
        (flow.region.is_some() || flow.region_start.is_some(), "region"),
    ]
}

fn check_part(rules: &mut Rules, key: &str, part: &PartConfig) {
    rules.require((1e-12..=1e12).contains(&part.share), format!("{key}.share"), || {
        format!("found {}, allowed: above 0 (1e-12 to 1e12)", part.share)
    });
    let (start, end) = (part.start.0, part.end.0);
    rules.require((0.0..1.0).contains(&start), format!("{key}.start"), || {
        format!("found {}, allowed: 0 or more, below 1 (100%)", part.start)
    });
    rules.require(end > start && end <= 1.0, format!("{key}.end"), || {
        format!("found {}, allowed: above start = {}, up to 1 (100%)", part.end, part.start)
    });
    rules.share(format!("{key}.read_ratio"), part.read_ratio);
    rules.share(format!("{key}.trim_ratio"), part.trim_ratio);
    if let Some(align) = part.align {
        rules.sectors(&format!("{key}.align"), align, SECTOR_BYTES..=MAX_REQUEST_BYTES);
    }
    let requests = part.requests(None);
    check_address(rules, &format!("{key}.address"), &part.address);
    check_filling(rules, key, &requests);
    check_size(rules, &format!("{key}.size"), &part.size);
    super::flow::check_blocks(rules, key, &requests);
}

/// Refuses parts whose requests do not fit into their share of the flow's space of `bytes`.
pub(super) fn check_spaces(rules: &mut Rules, key: &str, flow: &SyntheticConfig, bytes: u64) {
    for (index, part) in flow.parts.iter().enumerate() {
        let room = ((part.end.0 - part.start.0) * bytes as f64) as u64;
        let largest = part.size.largest().max(part.align.map_or(0, |align| align.0));
        rules.require(largest <= room, format!("{key}.parts[{index}].size"), || {
            let (largest, room) = (ByteSize(largest), ByteSize(room));
            format!("found requests of {largest}, allowed: at most the part's space of {room}")
        });
    }
}
