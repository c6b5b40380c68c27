//! The curve that shows the spare room: programmed bytes for each written byte.

use crate::data::Measured;

/// Number of points of the curve for each pass.
pub const PARTS: usize = 8;

/// The write amplification over the passes of `permutation`, [`PARTS`] points for each pass, and
/// whether it comes from the drive's own counters. `None` without measurements.
///
/// Without counters it comes from the time of a part: a write that also moves a page takes an
/// additional read and program. `copy`: the time of such a move in programs.
#[must_use]
pub fn spare_curve(series: &[Measured], copy: f64) -> Option<(Vec<f64>, bool)> {
    let mut curve = Vec::new();
    let passes: Vec<&Measured> =
        series.iter().filter(|one| one.series.name.starts_with("pass-")).collect();
    let counts = !passes.is_empty() && passes.iter().all(|one| one.counters.is_some());
    let slowest = |one: &&&Measured| time_us(one) / one.timings.len().max(1) as f64;
    let fastest = passes.iter().map(|one| slowest(&one)).fold(f64::INFINITY, f64::min);
    for pass in 0.. {
        let name = format!("pass-{pass}-");
        let all: Vec<&&Measured> =
            passes.iter().filter(|one| one.series.name.starts_with(&name)).collect();
        if all.is_empty() {
            break;
        }
        for part in all.chunks(all.len().div_ceil(PARTS)) {
            curve.push(match counts {
                true => by_counters(part)?,
                false => {
                    let writes: usize = part.iter().map(|one| one.timings.len()).sum();
                    let time: f64 = part.iter().map(|one| time_us(one)).sum();
                    1.0 + (time / writes as f64 / fastest - 1.0) / copy
                }
            });
        }
    }
    (!curve.is_empty()).then_some((curve, counts))
}

/// Time from the first request to the end of the last one. Unit: microseconds.
fn time_us(one: &Measured) -> f64 {
    one.timings.len() as f64 / one.iops() * 1e6
}

fn by_counters(part: &[&&Measured]) -> Option<f64> {
    let (before, after) = (part.first()?.counters?.0, part.last()?.counters?.1);
    let host = after.host_written.saturating_sub(before.host_written);
    let media = after.media_written.saturating_sub(before.media_written);
    (host > 0).then(|| media as f64 / host as f64)
}
