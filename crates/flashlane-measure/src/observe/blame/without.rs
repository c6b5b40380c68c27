//! Gain of each flow by the removal of one other flow. It divides the blame among several others.
//!
//! Differences do not add up. If a neighbour is removed, the others get more room. A closed loop
//! fills that room; an open loop has fewer requests in the queues, since they are over sooner. A
//! flow is therefore charged the difference that its removal makes, by the mean times of the run:
//!
//! `time of v = its work + sum over all flows j of (wait of v for j)`
//!
//! The wait for a closed loop stays as it is, since a closed loop always has as much outstanding.
//! The wait for an open loop grows with the time of its requests (Little's law).

/// Mean times of the flows of a run. Unit: any, but one for all.
#[derive(Clone, Debug)]
pub(super) struct Means {
    /// From arrival to completion; 0 without requests.
    pub(super) times: Vec<f64>,
    /// By victim and culprit, one row after the other.
    pub(super) waits: Vec<f64>,
    pub(super) open_loops: Vec<bool>,
}

/// Gains of the flows. Unit: that of the means.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Gains {
    /// By victim and by the removed flow, one row after the other.
    pub(super) without: Vec<f64>,
    /// Gains if all other flows are removed.
    pub(super) alone: Vec<f64>,
}

impl Means {
    /// The wait of a flow for another flow. For an open loop it is a fraction of that flow's time.
    fn slope(&self, victim: usize, culprit: usize) -> f64 {
        let time = self.times[culprit];
        let wait = self.waits[victim * self.times.len() + culprit];
        if self.open_loops[culprit] && time > 0.0 { wait / time } else { 0.0 }
    }

    /// The gains. `None` where the means do not determine them: queues of open loops that feed each
    /// other without end.
    pub(super) fn gains(&self) -> Option<Gains> {
        let flows = self.times.len();
        let matrix = (0..flows * flows).map(|at| {
            let (victim, culprit) = (at / flows, at % flows);
            f64::from(u8::from(victim == culprit)) - self.slope(victim, culprit)
        });
        let inverse = inverse(matrix.collect(), flows)?;
        let mut without = vec![0.0; flows * flows];
        for removed in 0..flows {
            let column: Vec<f64> =
                (0..flows).map(|flow| self.waits[flow * flows + removed]).collect();
            for victim in (0..flows).filter(|&victim| victim != removed) {
                let row = &inverse[victim * flows..][..flows];
                without[victim * flows + removed] =
                    if self.open_loops[removed] && self.times[removed] > 0.0 {
                        row[removed] * self.times[removed] / inverse[removed * flows + removed]
                    } else {
                        row.iter().zip(&column).map(|(part, wait)| part * wait).sum()
                    };
            }
        }
        let alone = (0..flows).map(|flow| {
            let others: f64 = self.waits[flow * flows..][..flows].iter().sum::<f64>()
                - self.waits[flow * flows + flow];
            others / (1.0 - self.slope(flow, flow))
        });
        let gains = Gains { without, alone: alone.collect() };
        let all = gains.without.iter().chain(&gains.alone);
        all.clone().all(|gain| gain.is_finite() && *gain >= 0.0).then_some(gains)
    }
}

/// The inverse of a square matrix, by elimination; `None` if it has none.
fn inverse(mut matrix: Vec<f64>, size: usize) -> Option<Vec<f64>> {
    let mut made = vec![0.0; size * size];
    (0..size).for_each(|at| made[at * size + at] = 1.0);
    for column in 0..size {
        let pivot = (column..size).max_by(|&a, &b| {
            f64::total_cmp(&matrix[a * size + column].abs(), &matrix[b * size + column].abs())
        })?;
        for at in 0..size {
            matrix.swap(pivot * size + at, column * size + at);
            made.swap(pivot * size + at, column * size + at);
        }
        let by = matrix[column * size + column];
        if by.abs() < 1e-9 {
            return None;
        }
        for at in 0..size {
            matrix[column * size + at] /= by;
            made[column * size + at] /= by;
        }
        for row in (0..size).filter(|&row| row != column) {
            let factor = matrix[row * size + column];
            if factor != 0.0 {
                for at in 0..size {
                    matrix[row * size + at] -= factor * matrix[column * size + at];
                    made[row * size + at] -= factor * made[column * size + at];
                }
            }
        }
    }
    Some(made)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_closed_loops_win_is_what_they_wait_for_each_other() {
        let waits = vec![5.0, 10.0, 20.0, 7.0, 5.0, 3.0, 1.0, 2.0, 5.0];
        let means = Means { times: vec![40.0, 20.0, 10.0], waits, open_loops: vec![false; 3] };
        let gains = means.gains().expect("they say it");
        assert_eq!(gains.without, [0.0, 10.0, 20.0, 7.0, 0.0, 3.0, 1.0, 2.0, 0.0]);
        assert_eq!(gains.alone, [30.0, 10.0, 3.0]);
    }

    /// A server that takes 1 for each request. Open loops that keep it busy for these shares of the
    /// time wait, with exponential times, `share / (1 - all shares)` for each of them.
    #[test]
    fn open_loops_win_more_by_each_other_than_by_all() {
        let shares = [0.1, 0.3, 0.4];
        let time = |shares: &[f64]| 1.0 / (1.0 - shares.iter().sum::<f64>());
        let all = time(&shares);
        let waits = (0..9).map(|at| shares[at % 3] * all).collect();
        let means = Means { times: vec![all; 3], waits, open_loops: vec![true; 3] };
        let gains = means.gains().expect("they say it");
        let near = |a: f64, b: f64| assert!((a - b).abs() < 1e-9, "{a} for {b}");
        near(gains.without[1], all - time(&[0.1, 0.4]));
        near(gains.without[2], all - time(&[0.1, 0.3]));
        near(gains.alone[0], all - time(&[0.1]));
        assert!(gains.without[1] + gains.without[2] > gains.alone[0], "more than there is");
    }

    #[test]
    fn queues_that_feed_each_other_without_end_say_nothing() {
        let waits = vec![0.0, 2.0, 2.0, 0.0];
        let means = Means { times: vec![2.0; 2], waits, open_loops: vec![true; 2] };
        assert_eq!(means.gains(), None);
    }
}
