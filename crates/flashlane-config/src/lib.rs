//! Configuration: the keys and values that users write, with units, and the rules that they must
//! keep.

pub mod bounds;
pub mod fio_job;
mod handle_each;
mod layout;
pub mod load;
pub mod mqsim_xml;
pub mod preset;
pub mod schema;
pub mod validate;
pub mod workload;

pub use flashlane_device::config::*;
pub use flashlane_units::{policy, units};
pub use handle_each::{HandleEach, handle_each};
pub use workload::*;
