//! Scheduling policies.

mod fcfs;
mod out_of_order;
mod priority_out_of_order;
mod read_priority;

pub use fcfs::FcfsConfig;
pub use out_of_order::OutOfOrderConfig;
pub use priority_out_of_order::PriorityOutOfOrderConfig;
pub use read_priority::ReadPriorityConfig;

crate::policies! {
    /// Which transaction a die serves next.
    pub enum Scheduling at "scheduler" {
        "fcfs" => Fcfs(FcfsConfig),
        "read-priority" => ReadPriority(ReadPriorityConfig),
        "out-of-order" => OutOfOrder(OutOfOrderConfig),
        "priority-out-of-order" => PriorityOutOfOrder(PriorityOutOfOrderConfig),
    }
}
