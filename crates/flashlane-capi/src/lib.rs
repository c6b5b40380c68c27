//! The drive for programs in C and C++: `flashlane.h` and `libflashlane`.
//!
//! This crate translates between C and [`flashlane::Drive`], and does nothing else. The functions
//! and types here are written for the header, which cbindgen makes of them: their documentation is
//! for programmers in C, and names things as the header does. `docs/c.md` is the introduction.
//!
//! Rules of this border:
//! - Every function catches panics (`border.rs`). A panic makes the drive dead.
//! - Every drive is behind a lock that is only tried, so that a second thread is an error.
//! - A pointer is checked for NULL before anything else. Unsafe code is in `pointers.rs` alone.

mod border;
mod drive;
mod error;
mod make;
mod nvme;
mod pointers;
mod snapshot;
mod text;
mod types;
mod zones;

pub use border::on_drive;
pub use drive::{
    Drive, flashlane_advance, flashlane_drive_free, flashlane_drive_new, flashlane_next_event,
    flashlane_now, flashlane_outstanding, flashlane_schedule, flashlane_sectors, flashlane_step,
    flashlane_submit,
};
pub use error::{Failure, Status, flashlane_last_error, flashlane_status_name};
pub use nvme::{
    Nvme, NvmeHost, flashlane_nvme_advance, flashlane_nvme_free, flashlane_nvme_mmio_read,
    flashlane_nvme_mmio_write, flashlane_nvme_new, flashlane_nvme_next_event,
    flashlane_nvme_set_ready, flashlane_nvme_summary,
};
pub use snapshot::{
    Snapshot, flashlane_snapshot_free, flashlane_snapshot_new, flashlane_snapshot_restore,
};
pub use text::{
    flashlane_abi_version, flashlane_blame, flashlane_string_free, flashlane_summary,
    flashlane_version,
};
pub use types::{
    Command, Completion, Config, FLASHLANE_ABI_VERSION, FLASHLANE_BLAME, FLASHLANE_CHECK,
    FLASHLANE_NEVER, FLASHLANE_PLACED, FLASHLANE_SECTOR_BYTES, Op, Report, Tenant,
};
pub use zones::{
    EventKind, PlacementEvent, Zone, ZoneState, flashlane_fail_zone, flashlane_placement_events,
    flashlane_zones,
};
