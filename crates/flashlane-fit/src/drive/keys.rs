//! Keys of the fitted device: those that the structure gives, and those that are varied.

use flashlane_probe::Collected;
use flashlane_probe::structure::{Buffer, Geometry, Programs, Wait};

use super::{Inside, Written};
use crate::calibrate::Parameter;
use crate::unit::Unit;

/// Largest capacity of the simulated drive; reads behave equally on a small part. Unit: bytes.
pub(super) const MOST_BYTES: u64 = 2 << 30;

/// Pages of a block, if nothing determines them.
const PAGES_PER_BLOCK: u64 = 64;

/// The parameters with their starts and bounds.
pub(super) fn parameters(data: &Collected, inside: &Inside) -> Vec<Parameter> {
    let parameter = |key: &str, start: f64, low: f64, high: f64, unit: Unit| Parameter {
        key: key.to_owned(),
        start: start.clamp(low, high),
        low,
        high,
        unit,
    };
    let us = 1e6;
    let mut all = vec![parameter("interface.firmware_time", us, 0.05 * us, 40.0 * us, Unit::Time)];
    for (which, &level) in inside.levels.iter().enumerate() {
        let key = format!("flash.read_time.{which}");
        all.push(parameter(&key, 0.9 * level * us, 0.1 * level * us, level * us, Unit::Time));
    }
    let (rate, lane) = (Unit::TransfersPerSecond, Unit::BytesPerSecond);
    all.push(parameter("flash.channel_rate", bus(data), 2e7, 6e9, rate));
    if data.probe("idle-latency").iter().any(|one| one.mean_us() > 0.0) {
        all.push(parameter("link.lane_bandwidth", 1e9, 5e7, 1e10, lane));
    }
    all
}

/// The rate of a bus, from the difference between the times of a page and a small read. Unit: bytes
/// a second.
fn bus(data: &Collected) -> f64 {
    let mean = |name: &str| data.series("conflicts", name).map(|one| (one.mean_us(), one));
    let rate = mean("large-alone-0").zip(mean("small-alone-0")).map(|(large, small)| {
        let first = |one: &flashlane_probe::Measured| f64::from(one.series.requests[0].bytes);
        (first(large.1) - first(small.1)) / (large.0 - small.0) * 1e6
    });
    rate.filter(|rate| rate.is_finite() && *rate > 0.0).unwrap_or(4e8)
}

/// The keys of parameters with their values, as `--set` takes them. A key with a number at its end
/// is an element of a list.
pub(super) fn sets(parameters: &[Parameter], values: &[f64]) -> Vec<String> {
    let mut lists: Vec<(String, Vec<String>)> = Vec::new();
    for (parameter, &value) in parameters.iter().zip(values) {
        let toml = parameter.unit.toml(value);
        let list = parameter.key.rsplit_once('.').filter(|(_, end)| end.parse::<u32>().is_ok());
        let key = list.map_or(parameter.key.as_str(), |(key, _)| key);
        match lists.last_mut().filter(|(last, _)| last == key) {
            Some((_, values)) => values.push(toml),
            None => lists.push((key.to_owned(), vec![toml])),
        }
    }
    let set = |(key, values): (String, Vec<String>)| match key.as_str() {
        "flash.read_time" | "flash.program_time" => format!("{key}=[{}]", values.join(", ")),
        _ => format!("{key}={}", values[0]),
    };
    lists.into_iter().map(set).collect()
}

/// The geometry if none was found.
fn plain() -> Geometry {
    Geometry { channels: 8, chips: 4, dies: 1, planes: 1, order: "cwdp".to_owned() }
}

/// The facts that determine the structure of a fitted drive.
#[derive(Clone, Copy)]
pub(super) struct Shape<'a> {
    /// Least capacity. Unit: bytes.
    pub(super) bytes: u64,
    pub(super) inside: &'a Inside,
    pub(super) geometry: Option<&'a Geometry>,
    pub(super) written: &'a Written,
    /// Number of processors that run the firmware.
    pub(super) servers: u32,
}

/// The keys that the structure gives, as `--set` takes them.
pub(super) fn structure(shape: &Shape<'_>) -> Vec<String> {
    let plain = plain();
    let Geometry { channels, chips, dies, planes, order } = shape.geometry.unwrap_or(&plain);
    let mut sets = vec![
        format!("flash.channels={channels}"),
        format!("flash.chips_per_channel={chips}"),
        format!("flash.dies_per_chip={dies}"),
        format!("flash.planes_per_die={planes}"),
        format!("ftl.allocation={order}"),
    ];
    let others = others(shape).into_iter();
    sets.extend(others.map(|other| format!("{}={}", other.key, other.toml.trim_matches('"'))));
    sets
}

/// A key of the structure that is not part of the geometry.
pub(super) struct Other {
    pub(super) key: &'static str,
    /// Value of the key, as TOML.
    pub(super) toml: String,
    /// The measurement that determines it; `None` for a default.
    pub(super) determined_by: Option<&'static str>,
}

/// When collection begins, as `--set` takes it. It cannot be observed from outside.
pub(super) fn collection() -> [String; 2] {
    ["ftl.gc.threshold=4 blocks", "ftl.gc.hard_threshold=3 blocks"].map(str::to_owned)
}

/// Planes of a drive.
pub(super) fn planes(geometry: Option<&Geometry>) -> u64 {
    geometry.unwrap_or(&plain()).all_planes()
}

/// The keys besides the geometry, for a drive of at least `bytes` bytes.
pub(super) fn others(shape: &Shape<'_>) -> Vec<Other> {
    let Shape { bytes, inside, geometry, written, servers } = *shape;
    // Pages of several kinds may have equal read times and different program times.
    let programmed = written.programs.as_ref().map_or(1, |programs| programs.levels.len());
    let kinds = inside.levels.len().max(programmed);
    let technology = ["slc", "mlc", "tlc", "qlc"][kinds.clamp(1, 4) - 1];
    let page = inside.page.unwrap_or(4096);
    let planes = planes(geometry);
    let programs = written.programs.as_ref();
    let per_block = programs.and_then(|programs| programs.pages_per_block);
    let in_block = per_block.unwrap_or(PAGES_PER_BLOCK);
    let of_plane = bytes as f64 / (page * planes) as f64;
    let (blocks, spare) = match &written.spare {
        Some(spare) => {
            let pages = of_plane * (1.0 + spare.over_provisioning);
            let blocks = (pages / in_block as f64).round() as u64;
            (blocks, (blocks * in_block) as f64 / of_plane - 1.0)
        }
        // Room for the spare share, and for the blocks that a plane keeps for itself.
        None => (((of_plane * 1.4) as u64).div_ceil(in_block).max(40), 0.28),
    };
    let other = |key, toml: &str, by| Other { key, toml: toml.to_owned(), determined_by: by };
    let text = |toml: &str| format!("\"{toml}\"");
    let told = written.spare.as_ref().map(|_| "permutation");
    let mut all = vec![
        other("flash.technology", &text(technology), Some("kinds of pages in conflicts")),
        other("flash.page_size", &text(&format!("{page}B")), inside.page.map(|_| "page-boundary")),
        other("flash.pages_per_block", &in_block.to_string(), per_block.map(|_| "behind-writes")),
        other("flash.blocks_per_plane", &blocks.to_string(), told),
        other("ftl.over_provisioning", &format!("{spare:.6}"), told),
        other("ftl.mapping.ideal", "true", None),
        other("ftl.gc.threshold", &text("4 blocks"), None),
        other("ftl.gc.hard_threshold", &text("3 blocks"), None),
    ];
    if let Some(victim) = written.spare.as_ref().and_then(|spare| spare.victim) {
        all.push(other("ftl.gc.victim", &text(victim), told));
    }
    if servers > 1 {
        let told = Some("depth, where one processor does not fit");
        all.push(other("interface.firmware_servers", &servers.to_string(), told));
    }
    if let Some(Buffer::Bytes(buffer)) = written.buffer {
        let capacity = text(&format!("{buffer}B"));
        all.push(other("cache.capacity", &capacity, Some("read-back")));
    }
    let Some(programs) = programs else { return all };
    let bound = (programs.bound as f64 / planes as f64).round().max(1.0);
    let behind = Some("behind-writes");
    all.push(other("cache.write_back_pages_per_plane", &format!("{bound:.0}"), behind));
    if let Some(us) = programs.erase_us {
        let erase = text(&format!("{:.0}ns", us * 1e3));
        all.push(other("flash.erase_time", &erase, behind));
    }
    if let Wait::Interruption(us) = programs.wait {
        all.push(other("flash.suspend.program", "true", behind));
        let time = text(&format!("{:.0}ns", us * 1e3));
        all.push(other("flash.suspend.program_time", &time, behind));
    }
    all
}

/// The parameters that are varied until writes take as long as measured: tPROG of each kind of
/// page.
pub(super) fn of_writes(programs: &Programs) -> Vec<Parameter> {
    let parameter = |(which, level): (usize, &f64)| {
        let level = level * 1e6;
        Parameter {
            key: format!("flash.program_time.{which}"),
            start: 0.95 * level,
            low: 0.2 * level,
            high: level,
            unit: Unit::Time,
        }
    };
    programs.levels.iter().enumerate().map(parameter).collect()
}
