//! Streams over zones: each active zone is written from its start to its end, and then another zone
//! takes its turn.

use std::collections::BTreeSet;

use flashlane_engine::Rng;

/// The active zones of a space. A request goes to one of them, chosen at random. The zone that
/// takes the turn of a full one is any that is not active.
#[derive(Clone, Debug)]
pub(crate) struct Zones {
    /// Unit: sectors.
    size: u64,
    /// Number of zones of the space.
    count: u64,
    /// Zone, and the sectors of it that were written.
    active: Vec<(u64, u64)>,
    /// The active zones by number: there may be tens of thousands.
    taken: BTreeSet<u64>,
}

impl Zones {
    /// Zones of `size` sectors over `limit` sectors; what is left behind the last one belongs to
    /// none. `active` is bounded by the number of zones.
    pub(crate) fn new(limit: u64, size: u64, active: u32, rng: &mut Rng) -> Self {
        let size = size.min(limit);
        let count = limit / size;
        let mut zones = Self { size, count, active: Vec::new(), taken: BTreeSet::new() };
        for _ in 0..u64::from(active).min(count) {
            let zone = zones.free(rng);
            zones.active.push((zone, 0));
            zones.taken.insert(zone);
        }
        zones
    }

    /// A zone that is not active; the last one, where all others are active.
    fn free(&self, rng: &mut Rng) -> u64 {
        let others = self.count - self.active.len() as u64;
        if others == 0 {
            return self.active.last().map_or(0, |&(zone, _)| zone);
        }
        loop {
            let zone = rng.below(self.count);
            if !self.taken.contains(&zone) {
                return zone;
            }
        }
    }

    /// The start of the next request. Unit: sectors.
    pub(crate) fn draw(&mut self, sectors: u64, rng: &mut Rng) -> u64 {
        let turn = match self.active.len() {
            1 => 0,
            several => rng.below(several as u64) as usize,
        };
        let (zone, written) = self.active[turn];
        if written + sectors <= self.size || written == 0 {
            self.active[turn].1 += sectors;
            return zone * self.size + written;
        }
        // All zones are active: the full one starts over.
        let next = if self.count == self.active.len() as u64 { zone } else { self.free(rng) };
        self.taken.remove(&zone);
        self.taken.insert(next);
        self.active[turn] = (next, sectors);
        next * self.size
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_active_zone_is_written_to_its_end() {
        for active in [1, 4, 16, 40] {
            let mut rng = Rng::stream(3, "test.zones", 0);
            let mut zones = Zones::new(16 * 64 + 5, 64, active, &mut rng);
            let mut next = [0_u64; 16];
            for _ in 0..10_000 {
                let start = zones.draw(8, &mut rng);
                let (zone, inside) = (start / 64, start % 64);
                let expected = &mut next[zone as usize];
                assert!(inside == *expected % 64, "{active}: {inside} after {expected}");
                *expected = inside + 8;
                let open = next.iter().filter(|&&next| next % 64 != 0).count();
                assert!(open <= active.min(16) as usize, "{open} of {active} are open");
            }
            assert!(next.iter().all(|&next| next > 0), "every zone had its turn: {next:?}");
        }
    }
}
