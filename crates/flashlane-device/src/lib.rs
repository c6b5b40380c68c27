//! The simulated drive: everything that has state in simulated time. It knows no tenants, no
//! traces, and nothing of what is measured.
//!
//! The modules are listed in the order in which a request meets them; see `ARCHITECTURE.md`.

// Words that every stage may import.
pub mod cause;
pub mod collection_order;
pub mod compat;
pub mod config;
mod context;
pub mod event;
pub mod grain;
pub mod layout;
pub mod request;
pub mod rule;
pub mod transaction;

// The pipeline.
pub mod cache; // 4
pub mod flash; // 7
pub mod ftl; // 5
pub mod host; // 2
pub mod interface; // 3
pub mod isolation;
mod link; // Between host and interface.
pub mod scheduler; // 6

// The loop over all stages, and the registration of policies.
pub mod device;
pub mod policy;
