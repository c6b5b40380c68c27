//! Sizes of the requests of a job, for each direction.

use super::reader::Reader;
use super::values::{bytes, directions};
use crate::{FioConfig, FioDirection, SizeConfig};
use flashlane_device::layout::SECTOR_BYTES;
use flashlane_units::ByteSize;
use flashlane_workload::config::MAX_TRACED_BYTES;

/// Most sizes of a split.
const SIZES_MAX: usize = 1024;

/// Sizes of one direction: the smallest, the largest, and the split with percentages.
#[derive(Clone, Debug, PartialEq)]
struct Sizes {
    smallest: u64,
    largest: u64,
    split: Vec<(ByteSize, u32)>,
}

/// Parses the sizes of one direction.
type Read = fn(&str) -> Option<Sizes>;

/// Fills in the sizes, and warns of sizes that no drive accepts.
pub(super) fn sizes(reader: &mut Reader<'_>, config: &mut FioConfig) {
    let keys: [(&str, &str, Read); 3] = [
        ("bs", "bytes, such as 4096, 4k or 1m, up to 4g", single),
        ("bsrange", "SMALLEST-LARGEST, such as 4k-64k, up to 4g", range),
        ("bssplit", "SIZE/PERCENT:SIZE/PERCENT, such as 4k/60:64k/40, up to 4g", split),
    ];
    // In fio a split takes precedence over a range, and a range over a size.
    for (key, allowed, read) in keys {
        let each = reader.value(key, allowed, |text| {
            let each = directions(text)?;
            let read = |one: Option<&str>| one.map_or(Some(None), |one| read(one).map(Some));
            Some([read(each[0])?, read(each[1])?, read(each[2])?])
        });
        let targets = [&mut config.read, &mut config.write, &mut config.trim];
        for (target, sizes) in targets.into_iter().zip(each.into_iter().flatten()) {
            if let Some(sizes) = sizes {
                (target.smallest, target.largest) =
                    (ByteSize(sizes.smallest), ByteSize(sizes.largest));
                target.split = sizes.split;
            }
        }
    }
    config.unaligned = reader.flag("bs_unaligned");
    align(reader, config);
}

/// `blockalign`.
fn align(reader: &mut Reader<'_>, config: &mut FioConfig) {
    let each = reader.value("blockalign", "bytes, such as 4096 or 4k, up to 4g", |text| {
        let each = directions(text)?;
        let read = |one: Option<&str>| one.map_or(Some(None), |one| request_bytes(one).map(Some));
        Some([read(each[0])?, read(each[1])?, read(each[2])?])
    });
    let Some(each) = each else { return };
    let targets = [&mut config.read, &mut config.write, &mut config.trim];
    for (target, align) in targets.into_iter().zip(each) {
        target.align = align.map(ByteSize);
    }
    // The map has no blocks that start elsewhere than at multiples of their size.
    config.map = false;
}

/// Checks requests that are no multiple of a sector: a drive refuses them, and a file system turns
/// them into whole blocks.
pub(super) fn check_sectors(reader: &mut Reader<'_>, config: &FioConfig, used: [bool; 3]) {
    let is_odd = |size: u64| !size.is_multiple_of(SECTOR_BYTES);
    let each = [&config.read, &config.write, &config.trim];
    let sizes = |one: &FioDirection| {
        let split = one.split.iter().map(|(size, _)| size.0);
        split.chain([one.smallest.0, one.largest.0]).find(|size| is_odd(*size))
    };
    let mut odd = each.into_iter().zip(used).filter(|one| one.1).filter_map(|one| sizes(one.0));
    let Some(found) = odd.next().or_else(|| config.unaligned.then_some(config.read.smallest.0))
    else {
        return;
    };
    let key = ["bssplit", "bsrange", "bs"].into_iter().find(|key| reader.has(key)).unwrap_or("bs");
    let direct = reader.text("direct").as_deref() == Some("1")
        || reader.has("direct") && reader.text("direct").is_none();
    let block = config.file_block.0;
    if direct {
        let message = format!(
            "found {found} B with direct=1, allowed: multiples of {SECTOR_BYTES} B, which drives take; without direct=1 \
             a request covers whole blocks of {block} B, as a file system makes of it"
        );
        return reader.refuse(key, message);
    }
    let line = reader.line(key);
    let message = format!(
        "{found} B is no multiple of {SECTOR_BYTES} B: each request covers the blocks of {block} B that it touches, as a \
         file system makes of it (synthetic.fio.file_block sets their size)"
    );
    reader.notes.warn(line, key, &message);
}

/// A size of a request. Unit: bytes. Range: 1 to 4 GiB, the largest request.
fn request_bytes(text: &str) -> Option<u64> {
    bytes(text).filter(|size| (1..=MAX_TRACED_BYTES).contains(size))
}

fn single(text: &str) -> Option<Sizes> {
    let size = request_bytes(text)?;
    Some(Sizes { smallest: size, largest: size, split: Vec::new() })
}

fn range(text: &str) -> Option<Sizes> {
    let (low, high) = text.split_once(['-', ':'])?;
    let (smallest, largest) = (request_bytes(low)?, request_bytes(high)?);
    (smallest <= largest).then(|| Sizes { smallest, largest, split: Vec::new() })
}

/// Sizes with their percentages; sizes without a percentage share the rest.
fn split(text: &str) -> Option<Sizes> {
    let mut sizes = Vec::new();
    for part in text.split(':') {
        let (size, percent) = part.split_once('/').unwrap_or((part, ""));
        let size = request_bytes(size)?;
        let percent = match percent.trim() {
            "" => None,
            percent => Some(percent.parse::<u32>().ok().filter(|percent| *percent <= 100)?),
        };
        sizes.push((ByteSize(size), percent));
    }
    let given: u32 = sizes.iter().filter_map(|(_, percent)| *percent).sum();
    let open = sizes.iter().filter(|(_, percent)| percent.is_none()).count() as u32;
    let rest = 100_u32.checked_sub(given)? / open.max(1);
    let mut split: Vec<(ByteSize, u32)> =
        sizes.into_iter().map(|(size, percent)| (size, percent.unwrap_or(rest))).collect();
    // fio checks the rarest size first.
    split.sort_by_key(|one| one.1);
    let smallest = split.iter().map(|one| one.0.0).min()?;
    let largest = split.iter().map(|one| one.0.0).max()?;
    let valid = split.len() <= SIZES_MAX && split.iter().any(|one| one.1 > 0);
    valid.then_some(Sizes { smallest, largest, split })
}

/// The sizes for reports: those of the directions that a job uses, with their shares.
pub(super) fn described(config: &FioConfig, shares: [f64; 3]) -> SizeConfig {
    let block = config.file_block.0.max(SECTOR_BYTES);
    let whole = |size: u64| match size % SECTOR_BYTES {
        0 => ByteSize(size),
        _ => ByteSize(size.next_multiple_of(block)),
    };
    let mut discrete: Vec<(ByteSize, f64)> = Vec::new();
    let mut add = |size: u64, weight: f64| {
        let size = whole(size);
        match discrete.iter_mut().find(|one| one.0 == size) {
            Some(one) => one.1 += weight,
            None if weight > 0.0 => discrete.push((size, weight)),
            None => {}
        }
    };
    for (one, share) in [&config.read, &config.write, &config.trim].into_iter().zip(shares) {
        let total: u32 = one.split.iter().map(|(_, percent)| percent).sum();
        if total > 0 {
            one.split.iter().for_each(|&(size, percent)| {
                add(size.0, share * f64::from(percent) / f64::from(total));
            });
        } else if one.smallest == one.largest {
            add(one.smallest.0, share);
        } else {
            // The ends of a range, and a few steps between them.
            let steps = (one.largest.0 / one.smallest.0).clamp(2, 16);
            (0..steps).for_each(|step| {
                let size = one.smallest.0 + (one.largest.0 - one.smallest.0) * step / (steps - 1);
                add((size / one.smallest.0).max(1) * one.smallest.0, share / steps as f64);
            });
        }
    }
    match &discrete[..] {
        [(size, _)] => SizeConfig::Fixed(*size),
        [] => SizeConfig::default(),
        _ => SizeConfig::Discrete { discrete },
    }
}
