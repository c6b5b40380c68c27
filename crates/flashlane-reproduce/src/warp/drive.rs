//! Drives of superblocks without time, and flows of several parts.

use std::fmt::Write as _;

use flashlane::Error;

use crate::{Job, Run};

/// Pages of a reclaim unit. Those of the drives have more; amplification hardly depends on it.
pub(super) const UNIT_PAGES: u32 = 512;

/// A drive whose reclaim units span all of its dies. Its victims are those with the fewest valid
/// pages, and it empties one at once as soon as few are free.
pub(super) struct Drive {
    /// Reclaim units.
    pub(super) units: u32,
    /// Pages of a reclaim unit; a multiple of 8.
    pub(super) unit_pages: u32,
    /// Reclaim units that hold the logical space.
    pub(super) logical_units: f64,
    /// Collection keeps this many reclaim units free.
    pub(super) kept_free: u32,
    /// Placement handles.
    pub(super) handles: u32,
    /// Each handle holds a reclaim unit at all times.
    pub(super) always_open: bool,
    /// Collection keeps the data of handles apart.
    pub(super) persistent: bool,
}

impl Drive {
    /// Logical pages.
    pub(super) fn pages(&self) -> f64 {
        self.logical_units * f64::from(self.unit_pages)
    }

    fn text(&self) -> String {
        let &Self { units, unit_pages, logical_units, kept_free, .. } = self;
        let &Self { handles, always_open, persistent, .. } = self;
        let isolation = if persistent { "persistently" } else { "initially" };
        format!(
            r#"
name = "superblocks"
[flash]
technology = "tlc"
channels = 4
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 1
blocks_per_plane = {units}
pages_per_block = {}
page_size = "4KiB"
channel_rate = "2400MT/s"
read_time = ["50us"]
program_time = ["500us"]
erase_time = "3ms"
[placement]
mode = "fdp"
handles = {handles}
always_open = {always_open}
isolation = "{isolation}"
[ftl]
superblock = "drive"
over_provisioning = {}
precondition.enabled = false
wear_leveling.static_threshold = 0
[ftl.mapping]
ideal = true
[ftl.gc]
victim = "greedy"
threshold = "{} blocks"
hard_threshold = "{kept_free} blocks"
max_concurrent_per_plane = 1
preemptible = false
"#,
            unit_pages / 8,
            f64::from(units) / logical_units - 1.0,
            kept_free + 1,
        )
    }

    /// A run of a flow without time: `written` times the logical space, of which the last fifth
    /// counts. `keys`: its source but for the number of requests. `size`: pages of a request once
    /// the space is filled, in the mean; `filled`: requests that fill it.
    pub(super) fn job(
        &self,
        keys: &str,
        written: f64,
        (filled, size): (f64, f64),
    ) -> Result<Job, Error> {
        let until = |times: f64| (filled + (times - 1.0) * self.pages() / size) as u64;
        let workload = format!(
            "[[flow]]\nname = \"writer\"\ncache = \"off\"\non_end = \"stop\"\n[flow.synthetic]\n\
             queue_depth = 64\nrequests = {}\n{keys}",
            until(written)
        );
        let job = Job::of_device(&self.text(), &workload)?;
        Ok(job.without_time(until(written * 0.8)))
    }
}

/// A part of a flow.
pub(super) struct Part {
    /// Share of the bytes.
    pub(super) share: f64,
    pub(super) handle: u32,
    /// Start and end in the space.
    pub(super) space: [f64; 2],
    /// Bytes of its requests.
    pub(super) size: &'static str,
    /// The distribution of its addresses, as TOML.
    pub(super) address: String,
    /// The part first writes all of its space.
    pub(super) fills: bool,
}

/// The parts, as a table of the configuration.
pub(super) fn parts(parts: &[Part]) -> String {
    let mut text = String::new();
    for Part { share, handle, space: [from, to], size, address, fills } in parts {
        writeln!(
            text,
            "[[flow.synthetic.parts]]\nshare = {share}\nplacement = {handle}\nstart = {from}\n\
             end = {to}\nsize = \"{size}\"\naddress = {address}\nfill_first = {fills}"
        )
        .expect("text can be written");
    }
    text
}

/// Amplification of the counted part of a run.
pub(super) fn amplification(run: &Run) -> f64 {
    let flash = &run.summary.flash;
    1.0 + flash.gc_programs as f64 / flash.user_programs as f64
}
