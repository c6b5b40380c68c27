//! The buffer for writes, from reads of what was just written.

use crate::data::Measured;

/// Of reads from the last written place backwards, how many came from the buffer: those before the
/// first long run of reads that took as long as one from flash. `None` where none did.
#[must_use]
pub fn buffer_edge(backwards: &Measured, flash_us: f64) -> Option<usize> {
    let from_buffer = |at: usize| backwards.timings[at].latency.as_us() < 0.6 * flash_us;
    let edge = (0..backwards.timings.len()).find(|&at| !from_buffer(at))?;
    (edge > 0).then_some(edge)
}

/// Room of the buffer, from the series of `read-back` and the mean latency of a read of the same
/// size from flash. Unit: bytes, microseconds.
#[must_use]
pub fn buffer_bytes(series: &[Measured], flash_us: f64) -> Option<u64> {
    let backwards = series.iter().find(|one| one.series.name == "backwards")?;
    let size = u64::from(backwards.series.requests.first()?.bytes);
    Some(buffer_edge(backwards, flash_us)? as u64 * size)
}
