//! Random devices whose configuration only the test knows.

// Every test file uses a part of it.
#![allow(dead_code)]

use flashlane::config::DeviceConfig;
use flashlane::config::load::{self, Overrides};
use flashlane_engine::Rng;
use flashlane_probe::structure::Geometry;

/// A device, and what a measurement should find out.
pub(crate) struct Hidden {
    /// The configuration of the device.
    pub(crate) config: DeviceConfig,
    /// The geometry, and the order of the pages. In the order, letters of a number that is one come
    /// last.
    pub(crate) geometry: Geometry,
    /// Keys with values on top of the preset `fast18`, for people.
    pub(crate) sets: Vec<String>,
}

/// Orders of the static allocation policies.
const ORDERS: [&str; 8] = ["cwdp", "cwpd", "wcdp", "wdcp", "dcwp", "pcwd", "pwcd", "dpcw"];

/// Among keys: every switch of the released MQSim's arithmetic.
pub(crate) const COMPAT: &str = "--compat mqsim";

impl Hidden {
    /// A random device.
    pub(crate) fn random(seed: u64) -> Self {
        Self::with(seed, &[])
    }

    /// A random device, but for some keys.
    pub(crate) fn with(seed: u64, more: &[&str]) -> Self {
        let mut random = Rng::stream(seed, "hidden", 0);
        let mut pick = |from: &[u64]| from[random.below(from.len() as u64) as usize];
        let (channels, chips) = (pick(&[2, 4, 8]), pick(&[1, 2, 4]));
        let (dies, planes) = (pick(&[1, 2]), pick(&[1, 2, 4]));
        let page_kib = pick(&[4, 8, 16]);
        let pages = pick(&[32, 64, 96]);
        let kinds = pick(&[1, 2, 3]) as usize;
        let order = ORDERS[pick(&[0, 1, 2, 3, 4, 5, 6, 7]) as usize];
        let mut between = |low: u64, high: u64| low + random.below(high - low + 1);
        let logical_mib = between(256, 640);
        let spare = between(7, 30) as f64 / 100.0;
        let physical = (logical_mib << 20) as f64 * (1.0 + spare);
        let plane_bytes = (channels * chips * dies * planes * pages * page_kib) << 10;
        // A plane keeps some blocks for itself, for which there has to be room.
        let blocks = ((physical / plane_bytes as f64).ceil() as u64).max(40);
        let over_provisioning = spare.max(8.0 / (blocks - 8) as f64);
        let (read, program) = (between(20, 90), between(150, 900));
        let list = |first: u64, factor: f64| {
            let powers =
                std::iter::successors(Some(1e3 * first as f64), |time| Some(time * factor));
            powers.take(kinds).map(|time| format!("\"{time:.0}ns\"")).collect::<Vec<_>>().join(", ")
        };
        let lane = between(400, 1600);
        let mut sets = vec![
            format!("flash.technology={}", ["slc", "mlc", "tlc"][kinds - 1]),
            format!("flash.channels={channels}"),
            format!("flash.chips_per_channel={chips}"),
            format!("flash.dies_per_chip={dies}"),
            format!("flash.planes_per_die={planes}"),
            format!("flash.page_size={page_kib}KiB"),
            format!("flash.pages_per_block={pages}"),
            format!("flash.blocks_per_plane={blocks}"),
            format!("flash.read_time=[{}]", list(read, 1.35)),
            format!("flash.program_time=[{}]", list(program, 1.9)),
            format!("flash.erase_time={}us", between(1000, 8000)),
            format!("flash.channel_rate={}MT/s", between(200, 1200)),
            format!("ftl.allocation={order}"),
            format!("ftl.over_provisioning={over_provisioning}"),
            "ftl.mapping.ideal=true".to_owned(),
            "ftl.gc.threshold=4 blocks".to_owned(),
            "ftl.gc.hard_threshold=3 blocks".to_owned(),
            format!("link.lane_bandwidth={lane}MB/s"),
            format!("interface.firmware_time={}ns", between(300, 6000)),
            format!("cache.capacity={}KiB", page_kib * between(64, 4096)),
        ];
        let compat_mqsim = more.contains(&COMPAT);
        sets.extend(more.iter().filter(|one| **one != COMPAT).map(|&set| set.to_owned()));
        let overrides = Overrides { sets: sets.clone(), compat_mqsim, ..Overrides::default() };
        let [channels, chips, dies, planes] = [channels, chips, dies, planes].map(|one| one as u32);
        let order = told_apart(order, [channels, chips, dies, planes]);
        let geometry = Geometry { channels, chips, dies, planes, order };
        let config = load::device("fast18", &overrides).expect("the ranges are allowed").config;
        Self { config, geometry, sets }
    }
}

/// An order of pages, in which letters that stand for one of a kind come last; the numbers are
/// those of channels, chips, dies and planes.
fn told_apart(order: &str, numbers: [u32; 4]) -> String {
    let single = |letter: char| "cwdp".find(letter).is_some_and(|place| numbers[place] == 1);
    let several = order.chars().filter(|&letter| !single(letter));
    several.chain("cwdp".chars().filter(|&letter| single(letter))).collect()
}
