//! Presets of real drives against public figures. `--nocapture` prints the table of
//! `docs/drives.md`, `UPDATE_DOCS=1` writes it there.
//!
//! Latency at queue depth 1 and peaks are fitted, everything between is a prediction.

use flashlane::config::load::{self, Overrides};
use flashlane::{RunOptions, Warmup, simulate};

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Unit {
    /// Mean response time. Unit: microseconds.
    Mean,
    /// Thousand requests per second.
    Kiops,
    /// Unit: gigabytes (10^9) per second.
    Bandwidth,
}

/// What the figure is for the preset.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Role {
    /// The preset was fitted to it: latency within 5 %, peaks within 10 %.
    Fitted,
    /// A prediction, within 15 %.
    Predicted,
}

/// A public figure.
struct Figure {
    preset: &'static str,
    /// Share of reads: 1 or 0.
    reads: u32,
    size: &'static str,
    depth: u32,
    streaming: bool,
    /// On a drive in steady state, with fewer blocks than the preset has.
    sustained: bool,
    unit: Unit,
    value: f64,
    role: Role,
    /// Where the figure comes from; "unverified" where nobody here has seen the page.
    source: &'static str,
}

use Role::{Fitted, Predicted};
use Unit::{Bandwidth, Kiops, Mean};

const fn random(
    preset: &'static str,
    reads: u32,
    depth: u32,
    unit: Unit,
    value: f64,
    role: Role,
    source: &'static str,
) -> Figure {
    let (size, streaming, sustained) = ("4KiB", false, false);
    Figure { preset, reads, size, depth, streaming, sustained, unit, value, role, source }
}

const fn stream(
    preset: &'static str,
    reads: u32,
    value: f64,
    role: Role,
    source: &'static str,
) -> Figure {
    Figure {
        preset,
        reads,
        size: "128KiB",
        depth: 32,
        streaming: true,
        sustained: false,
        unit: Bandwidth,
        value,
        role,
        source,
    }
}

const R: u32 = 1;
const W: u32 = 0;
const NVM: &str = "NVMeBenchmarks data set, device zns-a (arXiv 2310.19094)";
const ANAND: &str = "AnandTech 11209";
const PUGET: &str = "Puget Systems specification page";
const LEGIT: &str = "legitreviews, techbriefly";
const UNVERIFIED: &str = "data sheet, unverified";

const FIGURES: &[Figure] = &[
    random("zn540", R, 1, Mean, 73.3, Fitted, NVM),
    random("zn540", R, 2, Kiops, 26.5, Predicted, NVM),
    random("zn540", R, 4, Kiops, 51.4, Predicted, NVM),
    random("zn540", R, 8, Kiops, 96.8, Predicted, NVM),
    random("zn540", R, 16, Kiops, 171.0, Predicted, NVM),
    random("zn540", R, 32, Kiops, 271.0, Predicted, NVM),
    random("zn540", R, 64, Kiops, 363.0, Predicted, NVM),
    random("zn540", R, 128, Kiops, 423.0, Predicted, NVM),
    random("zn540", R, 256, Kiops, 436.0, Fitted, NVM),
    Figure { size: "16KiB", ..random("zn540", R, 1, Mean, 101.6, Predicted, NVM) },
    Figure { size: "16KiB", ..random("zn540", R, 128, Kiops, 160.0, Predicted, NVM) },
    random("p4800x", R, 1, Mean, 8.9, Fitted, ANAND),
    random("p4800x", R, 16, Kiops, 550.0, Predicted, "AnandTech 11209 (specification)"),
    random("p4800x", R, 64, Kiops, 584.8, Fitted, ANAND),
    random("p4800x", W, 16, Kiops, 500.0, Fitted, "AnandTech 11209 (specification)"),
    stream("p4800x", R, 2.4, Fitted, ANAND),
    stream("p4800x", W, 2.0, Fitted, ANAND),
    random("970-pro", R, 1, Mean, 67.0, Fitted, UNVERIFIED),
    random("970-pro", W, 1, Mean, 18.0, Fitted, UNVERIFIED),
    random("970-pro", R, 128, Kiops, 370.0, Fitted, PUGET),
    random("970-pro", W, 128, Kiops, 500.0, Fitted, PUGET),
    stream("970-pro", R, 3.5, Fitted, PUGET),
    stream("970-pro", W, 2.3, Fitted, PUGET),
    random("980-pro", R, 1, Mean, 45.5, Fitted, UNVERIFIED),
    random("980-pro", W, 1, Mean, 16.7, Fitted, UNVERIFIED),
    random("980-pro", R, 512, Kiops, 1000.0, Fitted, LEGIT),
    random("980-pro", W, 512, Kiops, 1000.0, Fitted, LEGIT),
    stream("980-pro", R, 7.0, Fitted, LEGIT),
    stream("980-pro", W, 5.0, Fitted, LEGIT),
    random("p4510", R, 1, Mean, 77.0, Fitted, UNVERIFIED),
    random("p4510", W, 1, Mean, 18.0, Fitted, UNVERIFIED),
    random("p4510", R, 256, Kiops, 637.0, Fitted, UNVERIFIED),
    Figure { sustained: true, ..random("p4510", W, 128, Kiops, 81.5, Fitted, UNVERIFIED) },
    stream("p4510", R, 3.2, Fitted, UNVERIFIED),
    stream("p4510", W, 2.0, Fitted, UNVERIFIED),
    random("p3700", R, 1, Mean, 77.9, Fitted, ANAND),
    random("p3700", R, 16, Kiops, 167.2, Predicted, ANAND),
    random("micron-9100", R, 1, Mean, 107.7, Fitted, ANAND),
    random("micron-9100", R, 16, Kiops, 135.7, Predicted, ANAND),
];

impl Figure {
    fn workload(&self) -> String {
        let requests = match (self.streaming, self.sustained) {
            (true, _) => 12_000,
            (_, true) => 300_000,
            _ => (400 * self.depth).clamp(2_000, 60_000),
        };
        format!(
            "[[flow]]\nname = \"one\"\n[flow.synthetic]\nqueue_depth = {}\nread_ratio = {}\n\
             size = \"{}\"\nalign = \"4KiB\"\naddress = \"{}\"\nrequests = {requests}\n",
            self.depth,
            self.reads,
            self.size,
            if self.streaming { "streaming" } else { "uniform" },
        )
    }

    /// Reads of an empty drive cost flash reads, so that none has to be filled first.
    fn measure(&self, device: &str) -> f64 {
        let sets = match self.sustained {
            false => &["ftl.precondition.enabled=false", "ftl.unwritten_read=flash"][..],
            true => &[
                "flash.blocks_per_plane=512",
                "flash.pages_per_block=64",
                "ftl.gc.threshold=8 blocks",
            ],
        };
        let sets = sets.iter().map(ToString::to_string).collect();
        let overrides = Overrides { sets, ..Overrides::default() };
        let device = load::device(device, &overrides).unwrap_or_else(|e| panic!("{e}")).config;
        let workload = load::workload_from_toml(&self.workload(), "w", &Overrides::default());
        let workload = workload.unwrap_or_else(|e| panic!("{e}")).config;
        let before = if self.sustained { 150_000 } else { 4 * self.depth };
        let warmup = Warmup::Requests(u64::from(before));
        let options = RunOptions { warmup, ..RunOptions::default() };
        let summary = simulate(&device, &workload, &options, &|_| {});
        let summary = summary.unwrap_or_else(|e| panic!("{}: {e}", self.preset));
        let flow = &summary.flows[0];
        match self.unit {
            Mean => flow.response_time_us.mean,
            Kiops => flow.iops / 1e3,
            Bandwidth => flow.bandwidth_bytes_per_s / 1e9,
        }
    }

    fn name(&self) -> String {
        let kind = match (self.streaming, self.reads) {
            _ if self.sustained => "random write in steady state",
            (false, R) => "random read",
            (false, _) => "random write",
            (true, R) => "sequential read",
            (true, _) => "sequential write",
        };
        let unit = match self.unit {
            Mean => "us",
            Kiops => "kIOPS",
            Bandwidth => "GB/s",
        };
        format!("{} {kind}, depth {}, {unit}", self.size.replace("KiB", " KiB"), self.depth)
    }

    fn tolerance(&self) -> f64 {
        match (self.role, self.unit) {
            (Fitted, Mean) => 0.05,
            (Fitted, _) => 0.10,
            (Predicted, _) => 0.15,
        }
    }
}

#[test]
fn presets_meet_public_figures() {
    // `DRIVE=zn540` picks one preset; with `DRIVE_FILES=folder` presets are read from there.
    let only = std::env::var("DRIVE").ok();
    let folder = std::env::var("DRIVE_FILES").ok();
    let mut failures = Vec::new();
    let mut table = String::from(
        "| preset | figure | public | ours | error | | source |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    for figure in FIGURES {
        if only.as_ref().is_some_and(|only| only != figure.preset) {
            continue;
        }
        let device = folder.as_ref().map_or_else(
            || figure.preset.to_owned(),
            |folder| format!("{folder}/{}.toml", figure.preset),
        );
        let ours = figure.measure(&device);
        let error = ours / figure.value - 1.0;
        let role = match figure.role {
            Fitted => "fitted",
            Predicted => "predicted",
        };
        table += &format!(
            "| `{}` | {} | {} | {ours:.1} | {:+.1} % | {role} | {} |\n",
            figure.preset,
            figure.name(),
            figure.value,
            100.0 * error,
            figure.source
        );
        if error.abs() > figure.tolerance() {
            failures.push(format!("{} {}: {ours}", figure.preset, figure.name()));
        }
    }
    println!("{table}");
    if std::env::var_os("UPDATE_DOCS").is_some() && only.is_none() && folder.is_none() {
        update_docs(&table);
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Puts the table into the page about drives, after its heading.
fn update_docs(table: &str) {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/drives.md");
    let page = std::fs::read_to_string(path).expect("the page exists");
    let (before, rest) = page.split_once("| preset |").expect("the page has the table");
    let (_, after) = rest.split_once("\n\n").expect("text follows the table");
    std::fs::write(path, format!("{before}{table}\n{after}")).expect("the page can be written");
}
