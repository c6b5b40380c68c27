//! The cases that are measured.

use crate::workloads::{
    bursts, nothing, overwriter, reader, readers, rewriter, streams, tenants, writers,
};

/// A measured workload.
pub(crate) struct Case {
    /// Name on the command line and in every file.
    pub(crate) name: &'static str,
    /// Description, for the table.
    pub(crate) about: &'static str,
    /// The drive, as TOML.
    pub(crate) device: &'static str,
    /// The workload with about the given number of requests, as TOML.
    pub(crate) workload: fn(u64) -> String,
    /// Largest number of requests of a run, with the reason.
    pub(crate) most: Option<(u64, &'static str)>,
    /// True for runs without time (`run --waf-only`).
    pub(crate) waf_only: bool,
    /// How instructions are counted; `None` if they are not.
    pub(crate) count: Option<Count>,
}

/// A shorter run of a case on a smaller drive, to count instructions.
pub(crate) struct Count {
    /// Requests of the shorter run; the longer one has four times as many.
    pub(crate) requests: u64,
    /// Keys that make the drive small.
    pub(crate) sets: &'static [&'static str],
}

impl Case {
    /// The number of requests of a run if `wanted` are asked for.
    pub(crate) fn requests(&self, wanted: u64) -> u64 {
        self.most.map_or(wanted, |(most, _)| wanted.min(most))
    }
}

/// The case of that name.
pub(crate) fn find(name: &str) -> Option<&'static Case> {
    CASES.iter().find(|case| case.name == name)
}

/// FAST'18 section 6.1.4: no cache, every translation hits; an empty drive, with real reads.
const CONTENTION: &str = r#"
base = "fast18"
[ftl]
unwritten_read = "flash"
mapping.ideal = true
precondition.enabled = false
"#;

/// The configuration of the released MQSim: an empty drive with a small mapping cache.
const MQSIM: &str = r#"
base = "fast18"
scheduler = "priority-out-of-order"
[cache.dram]
data_rate = "100MT/s"
bus_width = "1B"
[ftl]
over_provisioning = 0.0752688172
unwritten_read = "flash"
mapping.cmt_capacity = "2MiB"
precondition.enabled = false
[ftl.gc]
victim = "rga"
"#;

/// An eighth of FAST'18's drive, full.
const EIGHTH: &str = r#"
base = "fast18"
[ftl]
mapping.ideal = true
[flash]
blocks_per_plane = 256
"#;

/// FAST'18's drive, full, with room for the open blocks of many flows.
const SHARED: &str = r#"
base = "fast18"
[ftl]
mapping.ideal = true
"#;

const FLIN: &str = r#"
base = "flin"
scheduler = "flin"
"#;

const XPOINT: &str = r#"
base = "xpoint"
"#;

/// 64 GiB of flash, 8 KiB pages.
const SMALL: &str = r#"
base = "fast18"
[flash]
blocks_per_plane = 256
"#;

/// 800 GB for the host, 8 KiB pages.
const MIDDLE: &str = r#"
base = "fast18"
[flash]
blocks_per_plane = 3414
"#;

/// 16 TB for the host, 16 KiB pages.
const LARGE: &str = r#"
base = "fast18"
[flash]
channels = 16
chips_per_channel = 8
blocks_per_plane = 4268
pages_per_block = 512
page_size = "16KiB"
"#;

const NO_KEYS: &[&str] = &[];
const FEW_PAGES: &[&str] =
    &["flash.blocks_per_plane=64", "flash.pages_per_block=64", "cache.capacity=8MiB"];

/// A short run of a preconditioning case, which is enough to show that the drive works.
const PRECONDITION: Option<(u64, &str)> = Some((1_000, "measures preconditioning"));

/// Every case, in the order of the table.
pub(crate) const CASES: &[Case] = &[
    Case {
        name: "backend-2-2",
        about: "FAST'18 back-end contention, random 8 KiB reads at depths 2 and 2",
        device: CONTENTION,
        workload: |n| readers((2, n / 2), (2, n / 2)),
        most: None,
        waf_only: false,
        count: Some(Count { requests: 10_000, sets: NO_KEYS }),
    },
    Case {
        name: "backend-2-16",
        about: "the same at depths 2 and 16",
        device: CONTENTION,
        workload: |n| readers((2, n), (16, n)),
        most: None,
        waf_only: false,
        count: Some(Count { requests: 10_000, sets: NO_KEYS }),
    },
    Case {
        name: "backend-2-256",
        about: "the same at depths 2 and 256",
        device: CONTENTION,
        workload: |n| readers((2, n), (256, n)),
        most: None,
        waf_only: false,
        count: Some(Count { requests: 10_000, sets: NO_KEYS }),
    },
    Case {
        name: "mqsim-default",
        about: "MQSim's default: cached random 4 KiB writes at depths 16 and 2, 2 MiB mapping cache",
        device: MQSIM,
        workload: writers,
        most: None,
        waf_only: false,
        count: Some(Count { requests: 10_000, sets: NO_KEYS }),
    },
    Case {
        name: "gc-writes",
        about: "random 8 KiB writes at depth 32 with collection, full drive of 64 GiB",
        device: EIGHTH,
        workload: rewriter,
        most: Some((5_000_000, "a write moves four pages of collection")),
        waf_only: false,
        count: Some(Count { requests: 5_000, sets: FEW_PAGES }),
    },
    Case {
        name: "flin-bursts",
        about: "clones of tpcc, tpce, msnfs and wsrch in open loop under FLIN",
        device: FLIN,
        workload: bursts,
        most: Some((
            5_000_000,
            "pages wait in long queues, and bursts repeat until every flow is done",
        )),
        waf_only: false,
        count: Some(Count {
            requests: 5_000,
            sets: &[
                "flash.blocks_per_plane=128",
                "flash.pages_per_block=32",
                "cache.capacity=8MiB",
            ],
        }),
    },
    Case {
        name: "sequential",
        about: "streams of 128 KiB, one reads and one writes, depth 8 each, full drive of 64 GiB",
        device: EIGHTH,
        workload: streams,
        most: Some((1_000_000, "a request is 16 pages")),
        waf_only: false,
        count: Some(Count { requests: 1_000, sets: FEW_PAGES }),
    },
    Case {
        name: "xpoint-qd1",
        about: "3D XPoint, random 4 KiB reads at depth 1",
        device: XPOINT,
        workload: reader,
        most: None,
        waf_only: false,
        count: Some(Count { requests: 5_000, sets: NO_KEYS }),
    },
    Case {
        name: "flows-64",
        about: "64 flows at depth 4, 70 % random 8 KiB reads, full drive of 512 GiB",
        device: SHARED,
        workload: tenants,
        most: None,
        waf_only: false,
        count: Some(Count {
            requests: 5_000,
            sets: &[
                "flash.blocks_per_plane=1200",
                "flash.pages_per_block=8",
                "cache.capacity=8MiB",
            ],
        }),
    },
    Case {
        name: "waf-only",
        about: "random 8 KiB writes without time, past the cache, full drive of 64 GiB",
        device: EIGHTH,
        workload: overwriter,
        most: None,
        waf_only: true,
        count: Some(Count { requests: 20_000, sets: FEW_PAGES }),
    },
    Case {
        name: "precondition-64gb",
        about: "steady state of 64 GiB of flash, 8 KiB pages",
        device: SMALL,
        workload: nothing,
        most: PRECONDITION,
        waf_only: false,
        count: None,
    },
    Case {
        name: "precondition-800gb",
        about: "steady state of a drive of 800 GB, 8 KiB pages",
        device: MIDDLE,
        workload: nothing,
        most: PRECONDITION,
        waf_only: false,
        count: None,
    },
    Case {
        name: "precondition-16tb",
        about: "steady state of a drive of 16 TB, 16 KiB pages",
        device: LARGE,
        workload: nothing,
        most: PRECONDITION,
        waf_only: false,
        count: None,
    },
];
