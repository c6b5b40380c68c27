//! Counts for the health log.

use super::SECTOR_BYTES;
use super::work::Action;

/// What clients have asked of the drive.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Unit: sectors.
    pub(crate) sectors_read: u64,
    /// Unit: sectors.
    pub(crate) sectors_written: u64,
    /// Read commands.
    pub(crate) reads: u64,
    /// Write commands.
    pub(crate) writes: u64,
    /// Commands whose data the store could not read or keep.
    pub(crate) media_errors: u64,
}

impl Counts {
    pub(super) fn arrived(&mut self, action: &Action) {
        match action {
            Action::Read(range) => {
                self.sectors_read += range.sectors;
                self.reads += 1;
            }
            Action::Write { data, .. } => {
                self.sectors_written += data.len() as u64 / SECTOR_BYTES;
                self.writes += 1;
            }
            Action::Zero { .. } | Action::Trim(_) | Action::Flush | Action::Format(_) => {}
        }
    }

    pub(super) fn ended(&mut self, success: bool) {
        self.media_errors += u64::from(!success);
    }
}
