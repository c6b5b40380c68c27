//! Choice of the submission queue that the device fetches from next.

mod queue_set;
mod round_robin;
mod stride;
mod weighted;

pub use queue_set::QueueSet;
pub use round_robin::RoundRobinConfig;
pub use stride::StrideConfig;
pub use weighted::WeightedConfig;

use crate::rule::{Rule, ensure};

flashlane_units::policies! {
    /// Arbitration among submission queues.
    pub enum Arbitration at "interface.arbitration" open to ArbitrationConfig {
        "round-robin" => RoundRobin(RoundRobinConfig),
        "weighted-round-robin" => Weighted(WeightedConfig),
        "stride" => Stride(StrideConfig),
    }
}

/// Configuration of an arbiter from outside.
pub trait ArbitrationConfig: Send + Sync {
    /// A new arbiter. `classes`: 0 urgent .. 3 low, by queue.
    fn build(&self, classes: &[u8]) -> Box<dyn Arbiter>;
}

/// A policy that chooses the queue of the next fetch.
pub trait Arbiter: Send + dyn_clone::DynClone {
    /// The next of the queues that may be fetched from, or `None` if there is none. The queue's
    /// turn counts as taken.
    fn next(&mut self, ready: &QueueSet) -> Option<usize>;

    /// Tells the weights of the flows, by queue, before the first turn. Policies without weights
    /// need not know.
    fn weigh(&mut self, _weights: &[u32]) {}

    /// Tells what the command costs that the last turn is for, in parts of which a plain command
    /// has [`COST_UNIT`](super::costs::COST_UNIT); 0 if a limit of rates keeps it waiting. Without
    /// this call a turn costs a plain command. Policies that count turns need not know.
    fn charge(&mut self, _queue: usize, _cost: u64) {}
}

dyn_clone::clone_trait_object!(Arbiter);

/// Builds the configured policy. `classes`: 0 urgent .. 3 low, by queue.
pub(crate) fn build(config: &Arbitration, classes: &[u8]) -> Box<dyn Arbiter> {
    match config {
        Arbitration::RoundRobin(config) => Box::new(round_robin::RoundRobin::new(config)),
        Arbitration::Weighted(config) => Box::new(weighted::Weighted::new(config, classes)),
        Arbitration::Stride(StrideConfig {}) => Box::new(stride::Stride::new(classes.len())),
        Arbitration::Outside(policy) => policy.config().build(classes),
    }
}

/// The rules that every arbiter must keep.
pub const RULES: [Rule<Arbitration>; 1] = [Rule {
    text: "it chooses ready queues only, every ready one now and then, and none where none is ready",
    check: ready_queues_only_and_all_of_them,
}];

fn ready_queues_only_and_all_of_them(config: &Arbitration) -> Result<(), String> {
    let mut arbiter = build(config, &[1, 2, 2, 3]);
    let (none, three) = (QueueSet::default(), QueueSet::from_iter([0, 1, 3]));
    ensure!(arbiter.next(&none).is_none(), "it chose a queue where none was ready");
    let mut served = [0; 4];
    for _ in 0..1000 {
        let queue = arbiter.next(&three).ok_or("it chose none, and three queues were ready")?;
        let place = served.get_mut(queue).ok_or_else(|| format!("it chose queue {queue} of 4"))?;
        *place += 1;
    }
    ensure!(served[2] == 0, "it chose a queue that was not ready");
    let all = served[0] > 50 && served[1] > 50 && served[3] > 50;
    ensure!(all, "of 1000 turns the four queues got {served:?}; allowed: above 50 for ready ones");
    ensure!(arbiter.next(&none).is_none(), "it chose a queue where none was ready any more");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Queues of all classes, of which one in a thousand is ready, are served in turn; so are all.
    #[test]
    fn the_arbiters_serve_every_one_of_65_535_queues() {
        let classes: Vec<u8> = (0..65_535_u32).map(|queue| (1 + queue / 21_845) as u8).collect();
        for name in Arbitration::NAMES {
            let config = Arbitration::by_name(name).expect("listed names exist");
            for step in [1, 997] {
                let ready: QueueSet = (0..65_535).step_by(step).collect();
                let mut arbiter = build(&config, &classes);
                let members = ready.iter().count();
                let mut served = vec![0_u32; 65_535];
                for _ in 0..8 * members {
                    served[arbiter.next(&ready).expect("queues are ready")] += 1;
                }
                let (of_ready, others): (Vec<_>, Vec<_>) =
                    served.iter().enumerate().partition(|&(queue, _)| ready.contains(queue));
                assert!(others.iter().all(|&(_, &turns)| turns == 0), "{name}: ready queues only");
                let turns = of_ready.iter().map(|&(_, &turns)| turns);
                let (least, most) = (turns.clone().min(), turns.max());
                assert!(least >= Some(3) && most <= Some(15), "{name}: {least:?} to {most:?}");
            }
        }
    }

    #[test]
    fn every_policy_keeps_to_the_rules() {
        for name in Arbitration::NAMES {
            let config = Arbitration::by_name(name).expect("listed names exist");
            assert_eq!(ready_queues_only_and_all_of_them(&config), Ok(()), "{name}");
        }
    }
}
