//! Configuration of a job of fio, in fio's own terms.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::fio_zbd::FioZbd;
use flashlane_units::{ByteSize, Span};

/// Seed of the draws of a job without a seed, as in fio 3.33 (`fio --cmdhelp=randseed`).
pub const FIO_SEED: u64 = 0x89;

/// The sequence of requests that fio would issue for a job. A job file fills these keys. The flow's
/// keys `queue_depth` (of each copy of the job), `requests` and `duration` also apply. Its keys for
/// operations, sizes and addresses are only for reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FioConfig {
    /// Operations of the job.
    pub rw: FioRw,
    /// True if addresses are random.
    pub random: bool,
    /// Percentage of reads where the job reads and writes (`rwmixread`). Range: 0..=100.
    pub read_percent: u32,
    /// Sizes, alignment and randomness of reads.
    pub read: FioDirection,
    /// Sizes, alignment and randomness of writes.
    pub write: FioDirection,
    /// Sizes, alignment and randomness of trims.
    pub trim: FioDirection,
    /// Sizes need not be multiples of the smallest (`bs_unaligned`).
    pub unaligned: bool,
    /// Requests that follow each other from each random address on (`rw=randread:8`). Range: 1 and
    /// above.
    pub in_a_row: u64,
    /// Bytes left out behind each request of a sequential job (`rw=read:8k`); negative to go
    /// backwards.
    pub hole: i64,
    /// Requests in a row have the same address (`rw_sequencer=identical`).
    pub identical: bool,
    /// Each block once a pass, in a random order (the opposite of `norandommap`).
    pub map: bool,
    /// Size of each file, from its start to the end of the part that requests touch. Default: the
    /// flow's space.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub file_size: Option<ByteSize>,
    /// Where requests begin in a file (`offset`).
    pub offset: FioExtent,
    /// Unit that an offset in percent is rounded to (`offset_align`). Default: the smallest
    /// request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offset_align: Option<ByteSize>,
    /// Addition to the offset for each copy of the job (`offset_increment`).
    pub offset_increment: FioExtent,
    /// Part of each file that requests touch (`size` over the number of files). Default: the rest
    /// of the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<FioExtent>,
    /// Bytes after which the job is through (`io_size`). Default: its size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_size: Option<FioExtent>,
    /// Most requests of a pass (`number_ios`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub number_ios: Option<u64>,
    /// Passes. Range: 1 and above.
    pub loops: u64,
    /// Only `duration` and `requests` end the job (`time_based`).
    pub time_based: bool,
    /// Number of files of the job, one behind the other in the flow's space. Range: 1 and above.
    pub files: u32,
    /// Order in which files get requests (`file_service_type`).
    pub file_order: FioFileOrder,
    /// Writes before each flush (`fsync`); 0: no flush.
    pub fsync: u64,
    /// Writes before each flush (`fdatasync`), unless a flush is due already; 0: no flush.
    pub fdatasync: u64,
    /// A flush of each file at the end of a pass (`end_fsync`, `fsync_on_close`).
    pub end_fsync: bool,
    /// Flushes are queued like other requests, and the job continues meanwhile (io_uring).
    pub queued_flushes: bool,
    /// The engine returns when a request is complete (sync, psync). `think` then counts complete
    /// requests.
    pub blocking: bool,
    /// Pauses (`thinktime`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub think: Option<FioThink>,
    /// Gaps of paced requests are exponential (`rate_process=poisson`).
    pub poisson: bool,
    /// Parts of the space that requests visit in turn (`zonemode=strided`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zones: Option<FioZones>,
    /// The job follows the rules of zones (`zonemode=zbd`). No effect on a drive without zones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub zbd: Option<FioZbd>,
    /// Placement identifiers of writes (`plids`, where `fdp` or `dataplacement` is on). Default:
    /// the flow's `placement`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub placement: Option<FioPlacement>,
    /// Each pass and each run has equal draws (`randrepeat`).
    pub repeat: bool,
    /// Seed of the draws (`randseed`). Default: 137, as in fio; without `repeat` the seed of the
    /// run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<u64>,
    /// Copies of the job in this flow (`numjobs`). Range: 1..=1024.
    pub jobs: u32,
    /// Number of the first copy among all jobs of its file, on which fio's draws depend. Range: 1
    /// and above.
    pub first_job: u32,
    /// Each copy has separate files, one behind the other; otherwise all copies share the files.
    pub own_files: bool,
    /// A request that is no multiple of 512 bytes covers whole blocks of this size, as it would in
    /// a file system.
    pub file_block: ByteSize,
}

impl Default for FioConfig {
    fn default() -> Self {
        Self {
            rw: FioRw::default(),
            random: false,
            read_percent: 50,
            read: FioDirection::default(),
            write: FioDirection::default(),
            trim: FioDirection::default(),
            unaligned: false,
            in_a_row: 1,
            hole: 0,
            identical: false,
            map: true,
            file_size: None,
            offset: FioExtent::default(),
            offset_align: None,
            offset_increment: FioExtent::default(),
            size: None,
            io_size: None,
            number_ios: None,
            loops: 1,
            time_based: false,
            files: 1,
            file_order: FioFileOrder::default(),
            fsync: 0,
            fdatasync: 0,
            end_fsync: false,
            queued_flushes: false,
            blocking: false,
            think: None,
            poisson: false,
            zones: None,
            zbd: None,
            placement: None,
            repeat: true,
            seed: None,
            jobs: 1,
            first_job: 1,
            own_files: true,
            file_block: ByteSize(4096),
        }
    }
}

/// Operations of a job (`rw`, without `rand`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FioRw {
    /// Reads.
    #[default]
    Read,
    /// Writes.
    Write,
    /// Trims.
    Trim,
    /// Reads and writes.
    ReadWrite,
    /// Trims each block before it writes it.
    TrimWrite,
}

/// Sizes and addresses of one operation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct FioDirection {
    /// Smallest request (`bs`, `bsrange`).
    pub smallest: ByteSize,
    /// Largest request.
    pub largest: ByteSize,
    /// Sizes with percentages, the rarest first (`bssplit`), instead of a range.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub split: Vec<(ByteSize, u32)>,
    /// Random addresses are multiples of this, from the offset on (`blockalign`). Default: the
    /// smallest request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub align: Option<ByteSize>,
    /// Percentage of requests that are random in a random job (`percentage_random`).
    pub random_percent: u32,
    /// Distribution of random addresses (`random_distribution`).
    pub distribution: FioDistribution,
    /// Most bytes per second (`rate`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate: Option<u64>,
}

impl Default for FioDirection {
    fn default() -> Self {
        Self {
            smallest: ByteSize(4096),
            largest: ByteSize(4096),
            split: Vec::new(),
            align: None,
            random_percent: 100,
            distribution: FioDistribution::default(),
            rate: None,
        }
    }
}

impl FioDirection {
    /// Mean size. Unit: bytes.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let total: u32 = self.split.iter().map(|(_, percent)| percent).sum();
        if total > 0 {
            let sum = self.split.iter().map(|(size, share)| size.0 as f64 * f64::from(*share));
            return sum.sum::<f64>() / f64::from(total);
        }
        (self.smallest.0 as f64 + self.largest.0 as f64) / 2.0
    }
}

/// Distribution of random addresses.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FioDistribution {
    /// Every block is equally likely.
    #[default]
    Random,
    /// Zipf over the blocks.
    Zipf(FioSkew),
    /// Pareto over the blocks.
    Pareto(FioSkew),
    /// Normal over the blocks; `parameter` is the deviation in percent of the blocks.
    Normal(FioSkew),
    /// Percentages of the requests to parts of the space, from its start, up to the second value.
    Zoned(Vec<(u32, FioExtent)>),
}

/// A skewed distribution.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FioSkew {
    /// Exponent, power or deviation.
    pub parameter: f64,
    /// Place of the most popular block, as a share of the space. Default: drawn for zipf and
    /// pareto, 0.5 for normal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub center: Option<f64>,
}

/// A length in bytes or in percent.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FioExtent {
    /// Bytes.
    Bytes(ByteSize),
    /// Percent of the file. Range: 0..=100.
    Percent(u32),
    /// Zones of the drive (`size=4z`), with `zbd` and on a drive with zones. Range: 0..=2^32.
    Zones(u64),
}

impl Default for FioExtent {
    fn default() -> Self {
        Self::Bytes(ByteSize(0))
    }
}

impl FioExtent {
    /// The length in bytes. `whole`: 100 percent. Zones have no length before [`Self::in_zones`].
    #[must_use]
    pub fn of(self, whole: u64) -> u64 {
        match self {
            Self::Bytes(bytes) => bytes.0,
            Self::Percent(percent) => {
                (u128::from(whole) * u128::from(percent) / 100).try_into().unwrap_or(whole)
            }
            Self::Zones(_) => 0,
        }
    }

    /// The length on a drive whose zones have `zone` bytes.
    #[must_use]
    pub fn in_zones(self, zone: u64) -> Self {
        match self {
            Self::Zones(count) => Self::Bytes(ByteSize(count.saturating_mul(zone))),
            _ => self,
        }
    }
}

/// Order in which files get requests. The number is the requests that a file gets at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum FioFileOrder {
    /// The files in turn.
    RoundRobin(u64),
    /// A random file each time.
    Random(u64),
    /// The next file when a file is done.
    Sequential,
}

impl Default for FioFileOrder {
    fn default() -> Self {
        Self::RoundRobin(1)
    }
}

/// Pauses of a job.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FioThink {
    /// Length of a pause, which begins when no request is outstanding (`thinktime`).
    pub time: Span,
    /// Requests between pauses (`thinktime_blocks`). Default: 1, or no such pauses beside `after`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocks: Option<u64>,
    /// True if `blocks` counts issued requests, instead of complete ones (`thinktime_blocks_type`).
    #[serde(default)]
    pub issued: bool,
    /// Time between pauses (`thinktime_iotime`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Span>,
    /// True if pauses shift the times of paced requests (`rate_ignore_thinktime`); otherwise the
    /// job catches up.
    #[serde(default)]
    pub shifts_rate: bool,
}

/// Parts of the space that requests visit in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FioZones {
    /// Bytes to transfer before the next zone (`zonesize`).
    pub size: ByteSize,
    /// Size of a zone (`zonerange`).
    pub range: ByteSize,
    /// Bytes between zones (`zoneskip`).
    #[serde(default)]
    pub skip: ByteSize,
}

/// Placement identifiers among which each write of a job takes one: handles of flexible data
/// placement, or streams.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FioPlacement {
    /// The identifiers (`plids`); one may stand several times. No effect on a drive with
    /// `placement.mode = "none"`. Range: 1 to 128 identifiers, each below the number of the drive's
    /// identifiers (`placement.handles`).
    pub ids: Vec<u16>,
    /// Each write draws its identifier (`plid_select=random`); otherwise the writes to a file take
    /// them in turn.
    #[serde(default)]
    pub random: bool,
}
