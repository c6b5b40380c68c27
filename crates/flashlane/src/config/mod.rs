//! Configuration: what users write, with units, and what is refused.

pub mod device;
pub mod mqsim_xml;
pub mod policy;
pub mod units;
pub mod workload;

pub use device::*;
pub use policy::{PolicyDoc, PolicyInfo};
pub use workload::*;
