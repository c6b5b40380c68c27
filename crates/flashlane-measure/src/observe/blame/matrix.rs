//! From the accounts to the matrix.

use super::account::Account;
use super::weights::share;
use super::without::{Gains, Means};
use super::{Blame, BlameCause, BlameCell, BlameVictim, DEVICE, SCHEMA};
use flashlane_device::cause::{CAUSES, DOCS};

impl Account {
    /// Checks that the charges sum to the waits.
    pub(crate) fn audit(&self) {
        let cells = self.matrix.len() / self.flows;
        for (flow, victim) in self.victims.iter().enumerate() {
            let charged: u128 = self.matrix[flow * cells..][..cells].iter().sum();
            let places = self.rooms.iter().chain(&self.fetch).chain(&self.host);
            let places = places.chain([&self.arbitration, &self.link, &self.firmware]);
            let owed: u128 = places.map(|places| places.owed(flow)).sum();
            let owed = owed + self.flash[flow].counted;
            assert_eq!(charged + owed, victim.waiting, "flow {flow}: blame sums to the waiting");
        }
    }

    /// Mean times of the counted requests, and the parts of them that are charged to each flow.
    fn means(&self) -> Means {
        let cells = self.matrix.len() / self.flows;
        let flows = || self.victims.iter().enumerate();
        let mean = |flow: usize, ps: u128| ps as f64 / self.victims[flow].requests.max(1) as f64;
        let waits = flows().flat_map(|(flow, _)| {
            let row = &self.matrix[flow * cells..][..self.flows * CAUSES];
            row.chunks(CAUSES).map(move |of| mean(flow, of.iter().sum()))
        });
        Means {
            times: flows().map(|(flow, victim)| mean(flow, victim.end_to_end)).collect(),
            waits: waits.collect(),
            open_loops: self.shadows.open_loops().to_vec(),
        }
    }

    /// The matrix, after the last block.
    pub(crate) fn report(&self, names: &[String]) -> Blame {
        let cells = self.matrix.len() / self.flows;
        let gains = self.means().gains();
        let victims = (0..self.flows).map(|flow| {
            let row = &mut self.matrix[flow * cells..][..cells].to_vec();
            if let Some(gains) = &gains {
                told_apart(row, flow, self.flows, gains);
            }
            let mut found: Vec<usize> = (0..cells).filter(|&cell| row[cell] > 0).collect();
            found.sort_by_key(|&cell| (std::cmp::Reverse(row[cell]), cell));
            let victim = &self.victims[flow];
            let named = |cell: usize| BlameCell {
                culprit: names.get(cell / CAUSES).map_or(DEVICE, String::as_str).to_owned(),
                cause: DOCS[cell % CAUSES].0.to_owned(),
                ps: row[cell],
            };
            BlameVictim {
                flow: names[flow].clone(),
                requests: victim.requests,
                end_to_end_ps: victim.end_to_end,
                service_ps: victim.end_to_end - victim.waiting,
                waiting_ps: victim.waiting,
                cells: found.into_iter().map(named).collect(),
            }
        });
        let cause = |&(name, doc): &(&str, &str)| BlameCause { name: name.into(), doc: doc.into() };
        let causes = DOCS.iter().zip(self.left_out).filter(|(_, left_out)| !*left_out);
        Blame {
            schema: SCHEMA.to_owned(),
            flows: names.to_vec(),
            causes: causes.map(|(docs, _)| cause(docs)).collect(),
            victims: victims.collect(),
        }
    }
}

/// Moves charges of a row between culprits, so that each other flow is charged the time that its
/// removal would win, if the row has that much. The shadow says how much the others are charged
/// together, and the gains say how that is divided. The total is scaled by the ratio of the sum of
/// the single gains to the gain if all others are removed. The flow itself has the rest. The causes
/// of each culprit keep their proportions.
fn told_apart(row: &mut [u128], flow: usize, flows: usize, gains: &Gains) {
    let sum = |row: &[u128], of: usize| row[of * CAUSES..][..CAUSES].iter().sum::<u128>();
    let before: Vec<u128> = (0..flows).map(|of| sum(row, of)).collect();
    let (own, all) = (before[flow], before.iter().sum::<u128>());
    let met = |of: &usize| *of != flow && before[*of] > 0;
    let parts: f64 = (0..flows).filter(met).map(|of| gains.without[flow * flows + of]).sum();
    if (0..flows).filter(met).count() < 2 || parts <= 0.0 || gains.alone[flow] <= 0.0 {
        return;
    }
    let others = all - own;
    let wanted = (others as f64 * (parts / gains.alone[flow])) as u128;
    let given = if own == 0 { others } else { wanted.min(all) };
    let (mut so_far, mut until) = (0.0, 0);
    for of in (0..flows).filter(met) {
        so_far += gains.without[flow * flows + of];
        let to = (given as f64 * (so_far / parts)) as u128;
        let to = if so_far < parts { to.clamp(until, given) } else { given };
        scale(&mut row[of * CAUSES..][..CAUSES], before[of], to - until);
        until = to;
    }
    scale(&mut row[flow * CAUSES..][..CAUSES], own, all - until);
}

/// Scales the cells of a culprit from the sum `from` to the sum `to`.
fn scale(cells: &mut [u128], from: u128, to: u128) {
    let (mut before, mut given) = (0, 0);
    for cell in cells.iter_mut().filter(|cell| **cell > 0) {
        before += *cell;
        let until = share(to, before, from);
        (*cell, given) = (until - given, until);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row of three flows, with one or two causes each, after it is divided by gains.
    fn row(before: [[u128; 2]; 3], without: [f64; 2], alone: f64) -> Vec<[u128; 2]> {
        let mut row = vec![0; 4 * CAUSES];
        (0..3).for_each(|of| row[of * CAUSES..][..2].copy_from_slice(&before[of]));
        let all: u128 = row.iter().sum();
        let gains = Gains {
            without: [&[0.0, without[0], without[1]][..], &[0.0; 6]].concat(),
            alone: vec![alone, 0.0, 0.0],
        };
        told_apart(&mut row, 0, 3, &gains);
        assert_eq!(row.iter().sum::<u128>(), all, "to the picosecond");
        (0..3).map(|of| [row[of * CAUSES], row[of * CAUSES + 1]]).collect()
    }

    #[test]
    fn each_is_charged_what_its_removal_wins() {
        let before = [[100, 0], [30, 10], [60, 0]];
        assert_eq!(row(before, [4.0, 6.0], 10.0), before, "they add up");
        assert_eq!(row(before, [6.0, 6.0], 10.0), [[80, 0], [45, 15], [60, 0]], "to more");
        assert_eq!(row(before, [2.0, 3.0], 10.0), [[150, 0], [15, 5], [30, 0]], "to less");
        assert_eq!(row(before, [30.0, 30.0], 10.0), [[0, 0], [75, 25], [100, 0]], "to too much");
    }

    #[test]
    fn without_a_part_of_its_own_or_with_one_neighbour_a_row_keeps_its_sums() {
        assert_eq!(row([[0, 0], [4, 0], [6, 0]], [1.0, 1.0], 10.0), [[0, 0], [5, 0], [5, 0]]);
        let one = [[5, 0], [0, 0], [6, 1]];
        assert_eq!(row(one, [9.0, 9.0], 10.0), one);
    }
}
