//! What the requests of a job are: operations, sizes, addresses.

use super::reader::Reader;
use super::values::{bytes, directions};
use crate::config::{AddressConfig, HotColdConfig, MixedConfig, SizeConfig, ZipfConfig};
use crate::reading::allowed;
use flashlane_units::{ByteSize, Ratio};

/// Most sizes of a range.
const SIZES_MAX: u64 = 1024;

/// What `rw` says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pattern {
    pub(super) reads: bool,
    pub(super) writes: bool,
    pub(super) trims: bool,
    pub(super) is_random: bool,
}

const PATTERNS: [(&str, Pattern); 10] = {
    const fn of(reads: bool, writes: bool, trims: bool, is_random: bool) -> Pattern {
        Pattern { reads, writes, trims, is_random }
    }
    [
        ("read", of(true, false, false, false)),
        ("write", of(false, true, false, false)),
        ("trim", of(false, false, true, false)),
        ("randread", of(true, false, false, true)),
        ("randwrite", of(false, true, false, true)),
        ("randtrim", of(false, false, true, true)),
        ("rw", of(true, true, false, false)),
        ("readwrite", of(true, true, false, false)),
        ("randrw", of(true, true, false, true)),
        ("randreadwrite", of(true, true, false, true)),
    ]
};

/// What `rw` says, without what may follow a colon.
pub(super) fn pattern(reader: &mut Reader<'_>) -> Option<Pattern> {
    let names: Vec<&str> = PATTERNS.iter().map(|pattern| pattern.0).collect();
    let rw = reader.text("rw").unwrap_or_else(|| "read".to_owned());
    let (name, modifier) = rw.split_once(':').unwrap_or((&rw, ""));
    let Some((_, pattern)) = PATTERNS.iter().find(|one| one.0 == name) else {
        reader.refuse("rw", format!("found {rw:?}; {}", allowed(name, &names)));
        return None;
    };
    if !modifier.is_empty() && !pattern.is_random {
        let line = reader.line("rw");
        let message = "the holes between the requests are left out: they follow each other";
        reader.notes.warn(line, "rw", message);
    }
    Some(*pattern)
}

/// Requests that follow each other before the next random address: `randread:8`.
fn in_a_row(reader: &mut Reader<'_>) -> u64 {
    let rw = reader.text("rw").unwrap_or_default();
    let Some((_, count)) = rw.split_once(':') else { return 1 };
    match count.parse::<u64>() {
        Ok(count) if count > 0 => count,
        _ => {
            reader.refuse(
                "rw",
                format!("found {rw:?}, allowed: a number behind the colon, such as randread:8"),
            );
            1
        }
    }
}

/// Share of reads.
pub(super) fn mix(reader: &mut Reader<'_>, pattern: Pattern) -> f64 {
    let read = reader.number("rwmixread", 0..=100);
    let write = reader.number("rwmixwrite", 0..=100);
    if let (Some(read), Some(write)) = (read, write)
        && read + write != 100
    {
        let message = format!("found {write} beside rwmixread={read}, allowed: both sum to 100");
        reader.refuse("rwmixwrite", message);
    }
    match (pattern.reads, pattern.writes) {
        (true, true) => read.or(write.map(|write| 100 - write)).unwrap_or(50) as f64 / 100.0,
        (true, false) => 1.0,
        _ => 0.0,
    }
}

pub(super) fn smallest(size: &SizeConfig) -> u64 {
    match size {
        SizeConfig::Fixed(size) => size.0,
        SizeConfig::Normal { normal } => normal.mean.0,
        SizeConfig::Discrete { discrete } => {
            discrete.iter().map(|(size, _)| size.0).min().unwrap_or(4096)
        }
    }
}

/// Sizes of the requests and their mean. Unit: bytes.
///
/// fio may have other sizes for reads than for writes. Here a size is drawn before it is known what
/// the request does: both are mixed as `read_ratio` says.
pub(super) fn sizes(
    reader: &mut Reader<'_>,
    pattern: Pattern,
    read_ratio: f64,
) -> (SizeConfig, f64) {
    let given: Vec<&str> =
        ["bs", "bsrange", "bssplit"].into_iter().filter(|key| reader.has(key)).collect();
    // A job's own key goes before one of a global section; fio takes a split before a range before
    // a size.
    let key = given.last().copied().unwrap_or("bs");
    let (allowed, read): (&str, fn(&str) -> Option<Sizes>) = match key {
        "bsrange" => ("SMALLEST-LARGEST, such as 4k-64k, at most 1024 sizes", range),
        "bssplit" => ("SIZE/PERCENT:SIZE/PERCENT, such as 4k/60:64k/40", split),
        _ => ("bytes, such as 4096, 4k or 1m", single),
    };
    let both = reader.value(key, allowed, |text| {
        let (reads, writes, trims) = directions(text)?;
        let used = [
            (pattern.reads, reads, read_ratio),
            (pattern.writes, writes, 1.0 - read_ratio),
            (pattern.trims, trims, 1.0),
        ];
        let used: Vec<(&str, f64)> =
            used.iter().filter(|one| one.0).map(|one| (one.1, one.2)).collect();
        let same = used.iter().all(|one| one.0 == used[0].0);
        let used = if same { vec![(used[0].0, 1.0)] } else { used };
        let mut mixed = Vec::new();
        for (text, share) in used {
            let sizes = read(text)?;
            let total: f64 = sizes.iter().map(|(_, weight)| weight).sum();
            let scale = if same { 1.0 } else { share / total };
            mixed.extend(sizes.into_iter().map(|(size, weight)| (size, weight * scale)));
        }
        Some((mixed, same))
    });
    let (discrete, same) = both.unwrap_or_else(|| (vec![(ByteSize(4096), 1.0)], true));
    if !same {
        let line = reader.line(key);
        let message = "reads and writes of one job have the same sizes here: both are mixed";
        reader.notes.warn(line, key, message);
    }
    if let ([(size, _)], "bs") = (&discrete[..], key) {
        return (SizeConfig::Fixed(*size), size.0 as f64);
    }
    let total: f64 = discrete.iter().map(|(_, weight)| weight).sum();
    let mean = discrete.iter().map(|(size, weight)| size.0 as f64 * weight).sum::<f64>() / total;
    (SizeConfig::Discrete { discrete }, mean)
}

/// Sizes and how often each is drawn.
type Sizes = Vec<(ByteSize, f64)>;

fn single(text: &str) -> Option<Sizes> {
    bytes(text).filter(|size| *size > 0).map(|size| vec![(ByteSize(size), 1.0)])
}

/// The multiples of the smaller size up to the larger one, each as likely as the others (fio 3.33,
/// measured).
fn range(text: &str) -> Option<Sizes> {
    let (low, high) = text.split_once('-')?;
    let (low, high) = (bytes(low)?, bytes(high)?);
    let count = high.checked_div(low)?;
    if !(1..=SIZES_MAX).contains(&count) {
        return None;
    }
    Some((1..=count).map(|times| (ByteSize(low * times), 1.0)).collect())
}

/// Sizes and their percentages; those without share what is left.
fn split(text: &str) -> Option<Sizes> {
    let mut sizes = Vec::new();
    for part in text.split(':') {
        let (size, percent) = part.split_once('/').unwrap_or((part, ""));
        let size = bytes(size).filter(|size| *size > 0)?;
        let percent = match percent.trim() {
            "" => None,
            percent => Some(percent.parse::<u32>().ok().filter(|percent| *percent <= 100)?),
        };
        sizes.push((ByteSize(size), percent));
    }
    let given: u32 = sizes.iter().filter_map(|(_, percent)| *percent).sum();
    let open = sizes.iter().filter(|(_, percent)| percent.is_none()).count();
    let rest = f64::from(100_u32.checked_sub(given)?) / (open.max(1) as f64);
    let weights = sizes.into_iter().map(|(size, percent)| (size, percent.map_or(rest, f64::from)));
    let sizes: Vec<(ByteSize, f64)> = weights.filter(|(_, weight)| *weight > 0.0).collect();
    (!sizes.is_empty() && sizes.len() <= SIZES_MAX as usize).then_some(sizes)
}

/// Where requests go.
pub(super) fn address(
    reader: &mut Reader<'_>,
    pattern: Pattern,
    size: &SizeConfig,
) -> AddressConfig {
    if !pattern.is_random {
        for key in ["random_distribution", "percentage_random"] {
            if reader.has(key) {
                let line = reader.line(key);
                reader.notes.warn(line, key, "has no effect on a sequential job");
            }
        }
        return AddressConfig::Streaming;
    }
    let in_a_row = in_a_row(reader);
    let random = reader.number("percentage_random", 0..=100).unwrap_or(100);
    let Some(text) = reader.text("random_distribution") else {
        return match (random, in_a_row) {
            (100, 1) => AddressConfig::Uniform,
            (100, count) => partly_streaming((count - 1) as f64 / count as f64),
            (random, _) => partly_streaming((100 - random) as f64 / 100.0),
        };
    };
    if random != 100 {
        let message = "found beside percentage_random, allowed: one of them".to_owned();
        reader.refuse("random_distribution", message);
    }
    distribution(reader, &text, size)
}

/// Random addresses, but for a share that continues a stream.
fn partly_streaming(share: f64) -> AddressConfig {
    let (streaming, stream_space) = (Ratio(share), Ratio(1.0));
    AddressConfig::Mixed(MixedConfig { streaming, stream_space, phase: None })
}

/// `random_distribution`.
fn distribution(reader: &mut Reader<'_>, text: &str, size: &SizeConfig) -> AddressConfig {
    let (kind, parameter) = text.split_once(':').unwrap_or((text, ""));
    let extent = ByteSize(smallest(size));
    let found = match kind {
        "random" if parameter.is_empty() => Some(AddressConfig::Uniform),
        "zipf" => {
            let theta = parameter.parse::<f64>().ok().filter(|theta| (0.0..=5.0).contains(theta));
            theta.map(|theta| AddressConfig::Zipf(ZipfConfig { theta, extent }))
        }
        "zoned" => zones(parameter).map(|(zones, count)| {
            if count > 2 {
                let line = reader.line("random_distribution");
                let message = "the zones behind the first one are one zone here";
                reader.notes.warn(line, "random_distribution", message);
            }
            AddressConfig::HotCold(zones)
        }),
        _ => None,
    };
    found.unwrap_or_else(|| {
        let message = format!(
            "found {text:?}, allowed: random, zipf:THETA (0 to 5), zoned:A/B:C/D (A % of the requests to the first B % \
             of the region, the rest to the rest)"
        );
        reader.refuse("random_distribution", message);
        AddressConfig::Uniform
    })
}

/// Zones, of which the first is the hot one; those behind it are one. Their number as well.
fn zones(text: &str) -> Option<(HotColdConfig, usize)> {
    // What is left out, at the end, is the rest.
    let number = |text: &str, rest: u32| match text.trim() {
        "" => Some(rest),
        text => text.parse::<u32>().ok(),
    };
    let (mut first, mut access, mut size, mut count) = (None, 0_u32, 0_u32, 0);
    for zone in text.split(':') {
        let (one, other) = zone.split_once('/')?;
        let (one, other) = (
            number(one, 100_u32.checked_sub(access)?)?,
            number(other, 100_u32.checked_sub(size)?)?,
        );
        first.get_or_insert((one, other));
        access = access.checked_add(one)?;
        size = size.checked_add(other)?;
        count += 1;
    }
    let (hot_access, hot_size) = first?;
    let whole = access == 100 && size == 100 && count > 1;
    let found = HotColdConfig {
        hot_region: Ratio(f64::from(hot_size) / 100.0),
        hot_traffic: Ratio(f64::from(hot_access) / 100.0),
    };
    (whole && (1..100).contains(&hot_size)).then_some((found, count))
}
