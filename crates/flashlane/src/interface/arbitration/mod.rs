//! Which submission queue the device fetches from next.

mod round_robin;
mod weighted;

pub use round_robin::RoundRobinConfig;
pub use weighted::WeightedConfig;

flashlane_units::policies! {
    /// Arbitration among submission queues.
    pub enum Arbitration at "interface.arbitration" {
        "round-robin" => RoundRobin(RoundRobinConfig),
        "weighted-round-robin" => Weighted(WeightedConfig),
    }
}

/// Chooses the queue that the next entry is fetched from.
pub(crate) trait Arbiter: Send + dyn_clone::DynClone {
    /// The next of the queues that may be fetched from, a bit each, or `None` if there is none. The
    /// choice counts as taken.
    fn next(&mut self, ready: u64) -> Option<usize>;
}

dyn_clone::clone_trait_object!(Arbiter);

/// Builds the configured policy. `classes`: 0 urgent .. 3 low, by queue.
pub(crate) fn build(config: &Arbitration, classes: &[u8]) -> Box<dyn Arbiter> {
    match config {
        Arbitration::RoundRobin(config) => Box::new(round_robin::RoundRobin::new(config)),
        Arbitration::Weighted(config) => Box::new(weighted::Weighted::new(config, classes)),
    }
}

#[cfg(test)]
mod conformance {
    use super::*;

    /// Every registered policy: serves only ready queues, serves every ready queue in a bounded
    /// number of turns unless urgent ones keep it busy, and never idles while one is ready.
    #[test]
    fn every_policy_serves_ready_queues_only_and_all_of_them() {
        for name in Arbitration::NAMES {
            let config = Arbitration::by_name(name).expect("listed names exist");
            let mut arbiter = build(&config, &[1, 2, 2, 3]);
            assert_eq!(arbiter.next(0), None, "{name} has nothing at first");
            let mut served = [0; 4];
            for _ in 0..1000 {
                served[arbiter.next(0b1011).expect("something is ready")] += 1;
            }
            assert_eq!(served[2], 0, "{name} leaves queues alone that are not ready");
            assert!(served[0] > 50 && served[1] > 50 && served[3] > 50, "{name}: {served:?}");
            assert_eq!(arbiter.next(0), None, "{name} stops when nothing is ready");
        }
    }
}
