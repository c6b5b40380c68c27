//! The keys of a job as numbers of a given space.

use flashlane_units::RequestOp;

use crate::config::{
    FioConfig, FioDirection, FioDistribution, FioExtent, FioRw, FioSkew, SyntheticConfig,
};
use flashlane_device::layout::{SECTOR_BYTES, ZoneGeometry};

/// Operations with sizes of their own, in fio's order.
pub(super) const DIRECTIONS: [RequestOp; 3] = [RequestOp::Read, RequestOp::Write, RequestOp::Trim];
pub(super) const READ: usize = 0;
pub(super) const WRITE: usize = 1;
pub(super) const TRIM: usize = 2;

/// A job, as all its copies see it. Unit: bytes, unless stated.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub(super) config: FioConfig,
    pub(super) directions: [Direction; 3],
    /// Most outstanding requests of each copy.
    pub(super) depth: u32,
    /// The space of the flow, in whole sectors.
    space: u64,
    /// Distance between files.
    stride: u64,
    /// Size of a file.
    pub(super) file: u64,
    /// Part of a file that requests touch, and where it begins for the first copy.
    pub(super) size: u64,
    offset: u64,
    increment: u64,
    /// Bytes after which the job ends, over all passes.
    pub(super) limit: u64,
    /// Bytes of one pass.
    pub(super) pass: u64,
    /// Requests after which the job ends, over all passes. Unit: requests.
    pub(super) requests: u64,
    /// Requests go to zones of the drive (`zonemode=zbd`).
    pub(super) on_zones: bool,
}

/// An operation of a job.
#[derive(Clone, Debug)]
pub(super) struct Direction {
    pub(super) smallest: u64,
    pub(super) largest: u64,
    pub(super) split: Vec<(u64, u32)>,
    pub(super) align: u64,
    pub(super) random_percent: u32,
    pub(super) spread: Spread,
    pub(super) rate: Option<u64>,
}

/// Distribution of random requests.
#[derive(Clone, Debug)]
pub(super) enum Spread {
    Random,
    Zipf(FioSkew),
    Pareto(FioSkew),
    Normal(FioSkew),
    /// For each percentage from 1 to 100: first block and number of blocks.
    Zoned(Box<[(u64, u64); 100]>),
}

/// A region of a file. Unit: bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Region {
    /// Start in the file.
    pub(super) start: u64,
    /// Length.
    pub(super) length: u64,
}

impl Plan {
    /// The job in a space of `sectors` sectors. `zones`: those of the drive.
    pub(super) fn new(
        synthetic: &SyntheticConfig,
        config: &FioConfig,
        sectors: u64,
        zones: Option<ZoneGeometry>,
    ) -> Self {
        let space = sectors * SECTOR_BYTES;
        let config = &in_zones(config, zones);
        let on_zones = zones.filter(|_| config.zbd.is_some());
        // Files, offsets and sizes are in whole zones.
        let zone = on_zones.map_or(1, |zones| zones.size * SECTOR_BYTES);
        let directions = [&config.read, &config.write, &config.trim];
        let smallest = directions.iter().map(|one| one.smallest.0).min().unwrap_or(1).max(1);
        let (stride, file) = files(config, space, zone);
        let align = config.offset_align.map_or(smallest, |align| align.0).max(1);
        let aligned = |extent: FioExtent| match extent {
            FioExtent::Percent(_) => extent.of(file).next_multiple_of(align),
            _ => extent.of(file),
        };
        let aligned = |extent: FioExtent| aligned(extent).next_multiple_of(zone);
        let offset = aligned(config.offset).min(file.saturating_sub(1));
        let rest = file - offset;
        let size = config.size.map_or(rest, |size| size.of(file)).min(rest) / zone * zone;
        let whole = size * u64::from(config.files.max(1));
        let pass = config.io_size.map_or(whole, |bytes| bytes.of(whole));
        let loops = config.loops.max(1);
        let reach = config.zones.map_or(size, |zones| zones.range.0.min(size));
        Self {
            directions: directions.map(|one| Direction::new(one, size, reach)),
            depth: synthetic.queue_depth.unwrap_or(1),
            space,
            stride,
            file,
            size,
            offset,
            increment: aligned(config.offset_increment),
            limit: pass.saturating_mul(loops),
            pass,
            requests: config.number_ios.map_or(u64::MAX, |count| count.saturating_mul(loops)),
            on_zones: on_zones.is_some(),
            config: config.clone(),
        }
    }

    /// True if the job does this operation at all.
    pub(super) fn does(&self, direction: usize) -> bool {
        let all: &[usize] = match self.config.rw {
            FioRw::Read => &[READ],
            FioRw::Write => &[WRITE],
            FioRw::Trim => &[TRIM],
            FioRw::ReadWrite => &[READ, WRITE],
            FioRw::TrimWrite => &[WRITE, TRIM],
        };
        all.contains(&direction)
    }

    /// The region of a file that the requests of a copy touch.
    pub(super) fn region(&self, copy: u32) -> Region {
        let start = self.offset.saturating_add(self.increment.saturating_mul(u64::from(copy)));
        let start = start.min(self.file.saturating_sub(1));
        Region { start, length: self.size.min(self.file - start) }
    }

    /// Start of a file of a copy in the space of the flow.
    pub(super) fn file_start(&self, copy: u32, file: u32) -> u64 {
        let before = if self.config.own_files {
            u64::from(copy) * u64::from(self.config.files) + u64::from(file)
        } else {
            u64::from(file)
        };
        before * self.stride % self.space.max(1)
    }

    /// The sectors that a request covers in the space of the flow: first, number.
    pub(super) fn sectors(&self, start: u64, bytes: u64) -> (u64, u64) {
        let space = self.space / SECTOR_BYTES;
        let unit = match start.is_multiple_of(SECTOR_BYTES) && bytes.is_multiple_of(SECTOR_BYTES) {
            true => SECTOR_BYTES,
            false => self.config.file_block.0.max(SECTOR_BYTES),
        };
        let first = (start / unit * unit / SECTOR_BYTES).min(space.saturating_sub(1));
        let end = (start + bytes).next_multiple_of(unit) / SECTOR_BYTES;
        (first, end.min(space).max(first + 1) - first)
    }
}

impl Direction {
    fn new(direction: &FioDirection, size: u64, reach: u64) -> Self {
        let smallest = direction.smallest.0.max(1);
        let align = direction.align.map_or(smallest, |align| align.0).max(1);
        let blocks = blocks(reach, smallest, align);
        let spread = match &direction.distribution {
            FioDistribution::Random => Spread::Random,
            FioDistribution::Zipf(skew) => Spread::Zipf(*skew),
            FioDistribution::Pareto(skew) => Spread::Pareto(*skew),
            FioDistribution::Normal(skew) => Spread::Normal(*skew),
            FioDistribution::Zoned(zones) => Spread::Zoned(zoned(zones, blocks, align, size)),
        };
        Self {
            smallest,
            largest: direction.largest.0.max(smallest),
            split: direction.split.iter().map(|(size, share)| (size.0, *share)).collect(),
            align,
            random_percent: direction.random_percent,
            spread,
            rate: direction.rate.filter(|rate| *rate > 0),
        }
    }
}

/// The distance between the files of a job and the size of each, both in whole zones of `zone`
/// bytes. Unit: bytes.
fn files(config: &FioConfig, space: u64, zone: u64) -> (u64, u64) {
    let copies = if config.own_files { u64::from(config.jobs.max(1)) } else { 1 };
    let files = u64::from(config.files.max(1)) * copies;
    let stride = match config.file_size {
        Some(size) => size.0.next_multiple_of(config.file_block.0.max(SECTOR_BYTES)),
        None if files == 1 => space,
        None => (space / files / SECTOR_BYTES * SECTOR_BYTES).max(SECTOR_BYTES),
    };
    let stride = match config.file_size {
        Some(_) => stride.next_multiple_of(zone),
        None => (stride / zone * zone).max(zone),
    };
    let file = config.file_size.map_or(stride, |size| size.0).min(space);
    (stride, file / zone * zone)
}

/// The configuration with the lengths of zones of this drive.
fn in_zones(config: &FioConfig, zones: Option<ZoneGeometry>) -> FioConfig {
    let zone = zones.map_or(0, |zones| zones.size * SECTOR_BYTES);
    FioConfig {
        offset: config.offset.in_zones(zone),
        offset_increment: config.offset_increment.in_zones(zone),
        size: config.size.map(|size| size.in_zones(zone)),
        io_size: config.io_size.map(|size| size.in_zones(zone)),
        ..config.clone()
    }
}

/// Number of aligned places at which a request may start.
pub(super) fn blocks(reach: u64, smallest: u64, align: u64) -> u64 {
    reach.saturating_sub(smallest.saturating_sub(align)) / align
}

/// The zone of each percentage: its first block and its number of blocks.
fn zoned(zones: &[(u32, FioExtent)], blocks: u64, align: u64, size: u64) -> Box<[(u64, u64); 100]> {
    let mut places = Box::new([(0, blocks.max(1)); 100]);
    let (mut share, mut from) = (0_usize, FioExtent::Percent(0));
    let block = |extent: FioExtent| match extent {
        FioExtent::Percent(percent) => blocks * u64::from(percent) / 100,
        _ => (extent.of(size).min(size) / align).min(blocks),
    };
    for &(percent, to) in zones {
        let first = block(from);
        let count = match (from, to) {
            (FioExtent::Percent(from), FioExtent::Percent(to)) => {
                blocks * u64::from(to.saturating_sub(from)) / 100
            }
            _ => block(to).saturating_sub(first),
        };
        let end = (share + percent as usize).min(100);
        places[share..end].fill((first, count.max(1)));
        (share, from) = (end, to);
    }
    places
}
