//! Garbage collection.

mod greedy;
mod rga;

pub use greedy::GreedyConfig;
pub use rga::RgaConfig;

crate::policies! {
    /// Which block garbage collection empties next.
    pub enum Victim at "ftl.gc.victim" {
        "greedy" => Greedy(GreedyConfig),
        "rga" => Rga(RgaConfig),
    }
}
