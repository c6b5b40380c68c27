//! Which submission queue the device fetches from next.

mod round_robin;
mod weighted;

pub use round_robin::RoundRobinConfig;
pub use weighted::WeightedConfig;

crate::policies! {
    /// Arbitration among submission queues.
    pub enum Arbitration at "interface.arbitration" {
        "round-robin" => RoundRobin(RoundRobinConfig),
        "weighted-round-robin" => Weighted(WeightedConfig),
    }
}
