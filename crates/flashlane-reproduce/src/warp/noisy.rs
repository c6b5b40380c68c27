//! Noisy handles: one handle overwrites a little of its data again and again. With initial
//! isolation, collection mixes its copies with those of a quiet handle, whose data is then copied
//! more often. The study sees this on both real drives, and gives no numbers for them.

use flashlane::Error;
use flashlane::metrics::HandleSummary;

use super::drive::{Drive, Part, UNIT_PAGES, parts};
use crate::{Bound, Findings, Lab, Row, Run, Table};

const NAME: &str = "noisy";

/// Share of the bytes that the quiet handle writes. Each handle has a half of the space.
const QUIET: f64 = 0.1;
/// The noisy handle sends this share of its writes to the rest of its half.
const NOISY: f64 = 0.02;
/// Capacities written.
const WRITTEN: f64 = 8.0;

fn keys() -> String {
    let noisy = format!(
        "{{ hot-cold = {{ hot_region = {NOISY}, hot_traffic = {}, scattered = true }} }}",
        1.0 - NOISY
    );
    let part = |handle, share, space, address| Part {
        share,
        handle,
        space,
        size: "4KiB",
        address,
        fills: true,
    };
    let quiet = part(0, QUIET, [0.0, 0.5], "\"uniform\"".to_owned());
    parts(&[quiet, part(1, 1.0 - QUIET, [0.5, 1.0], noisy)])
}

fn quiet(run: &Run) -> &HandleSummary {
    let placement = run.summary.placement.as_ref().expect("the drive has handles");
    &placement.handles[0]
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let units: u32 = if lab.smoke { 100 } else { 1000 };
    let mut jobs = Vec::new();
    for persistent in [false, true] {
        let logical_units = f64::from(units) / 1.14;
        let kept_free = (units / 100).max(3);
        let (unit_pages, handles) = (UNIT_PAGES, 2);
        let always_open = false;
        let drive =
            Drive { units, unit_pages, logical_units, kept_free, handles, always_open, persistent };
        jobs.push(drive.job(&keys(), WRITTEN, (drive.pages(), 1.0))?);
    }
    let runs = lab.run(&jobs)?;
    let columns = ["isolation", "quiet handle, x", "its copies that the noisy one causes"];
    let mut table = Table::new(NAME, "Amplification of the quiet handle", &columns);
    let mut found = Vec::new();
    for (name, run) in ["initially", "persistently"].into_iter().zip(&runs) {
        let handle = quiet(run);
        let amplification = handle.write_amplification.unwrap_or(1.0);
        let copied: u64 = handle.copied_for_bytes.iter().sum();
        let caused = handle.copied_for_bytes[1] as f64 / copied.max(1) as f64;
        table.row(vec![name.into(), amplification.into(), caused.into()]);
        found.push((amplification, caused));
    }
    let ratio = found[0].0 / found[1].0;
    let note = "the quiet handle's amplification, initially over persistently isolated";
    let bound = Bound::AtLeast(1.2);
    let raised = Row::statement_over_seeds(NAME, "noise raises others", &[ratio], bound, "x", note);
    let note = "share of the quiet handle's copies that are charged to the noisy one";
    let blamed = Row::check_over_seeds(
        NAME,
        "the noisy handle is named",
        &[found[0].1],
        Bound::AtLeast(0.5),
        "",
        note,
    );
    Ok(Findings { rows: vec![raised, blamed], tables: vec![table] })
}
