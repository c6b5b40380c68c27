//! Requests of flows that come from MQSim's workload files.
//!
//! Stage 1 of 8. Addresses are relative to the start of the flow. MQSim's generators can be
//! followed draw for draw; corrections on the way to the device are explained in the code that
//! makes them.

mod mrg;
mod synthetic;
mod trace;

pub use mrg::MqsimRandom;
pub use synthetic::{GeneratorMode, MqsimSource};
pub use trace::{LineSource, MqsimTraceSource, TraceLine};

/// A corrected place in the flow's space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Placed {
    sector: u64,
    sectors: u32,
    moved: bool,
    clipped: bool,
}

/// Puts a request into the first `limit` sectors (at least 1). A request that is longer than the
/// range is cut. A request that reaches over the end is moved back to a multiple of `unit`.
///
/// Differs from MQSim: it first cuts requests into pages, and wraps every page outside by its
/// absolute address. The rest of a request can then land anywhere in the flow.
fn place(sector: u64, sectors: u32, limit: u64, unit: u64) -> Placed {
    debug_assert!(limit > 0, "an empty range holds no request");
    let kept = u64::from(sectors).min(limit);
    let last = limit - kept;
    let at = if sector <= last { sector } else { last - last % unit };
    Placed {
        sector: at,
        sectors: kept as u32,
        moved: at != sector,
        clipped: kept != u64::from(sectors),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_moved_back_or_cut_into_the_range() {
        let placed = |sector, sectors, moved, clipped| Placed { sector, sectors, moved, clipped };
        assert_eq!(place(0, 8, 100, 1), placed(0, 8, false, false));
        assert_eq!(place(92, 8, 100, 1), placed(92, 8, false, false));
        assert_eq!(place(93, 8, 100, 1), placed(92, 8, true, false));
        assert_eq!(place(96, 8, 100, 16), placed(80, 8, true, false));
        assert_eq!(place(50, 200, 100, 1), placed(0, 100, true, true));
        assert_eq!(place(0, 1, 1, 1), placed(0, 1, false, false));
    }
}
