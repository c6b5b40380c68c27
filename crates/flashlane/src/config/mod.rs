//! Configuration: the keys and values that users write, with units, and the rules that they must
//! keep.

pub mod bounds;
pub mod device;
pub mod energy;
pub mod fio_job;
mod layout;
pub mod load;
pub mod mqsim_xml;
pub mod preset;
pub mod schema;
pub mod validate;
pub mod workload;

pub use device::*;
pub use energy::{EnduranceConfig, EnergyConfig};
pub use flashlane_units::{PolicyDoc, PolicyInfo, policy, units};
pub use workload::*;
