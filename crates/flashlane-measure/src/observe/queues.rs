//! Lengths of the flash queues by chip and kind, as the released MQSim reports them. Here queues
//! are per die; a row sums the dies of a chip.

use flashlane_engine::Time;
use flashlane_units::{ChipId, TransactionId};

use super::blame::account::slot;
use crate::metrics::queues::QueueStatistics;
use flashlane_device::transaction::{Op, Source, Transaction};

/// Names of the kinds in MQSim. The first two also have the classes of hosts.
const KINDS: [&str; 7] =
    ["User_Read", "User_Write", "Mapping_Read", "Mapping_Write", "GC_Read", "GC_Write", "GC_Erase"];
const CLASSES: usize = 4;
/// Rows of a chip: four classes for each kind of hosts, then the other kinds.
const ROWS: usize = 2 * CLASSES + 5;

#[derive(Clone, Copy, Debug, Default)]
struct Row {
    enqueued: u64,
    dequeued: u64,
    length: u32,
    max_length: u32,
    /// Total wait. Unit: picoseconds.
    waited: u128,
    max_wait: u64,
}

/// Counts during the run.
#[derive(Clone, Debug)]
pub(crate) struct QueueRecorder {
    chips_per_channel: u32,
    rows: Vec<[Row; ROWS]>,
    /// By the number of a transaction: the time at which it came, if it waits.
    came: Vec<Option<Time>>,
}

impl QueueRecorder {
    pub(crate) fn new(chips: u32, chips_per_channel: u32) -> Self {
        let rows = vec![[Row::default(); ROWS]; chips as usize];
        Self { chips_per_channel, rows, came: Vec::new() }
    }

    fn row(&mut self, chip: ChipId, tr: &Transaction) -> &mut Row {
        let class = usize::from(tr.class).min(CLASSES - 1);
        let row = match (tr.source, tr.op) {
            (Source::User | Source::Cache, Op::Read) => class,
            (Source::User | Source::Cache, _) => CLASSES + class,
            (Source::Mapping, Op::Read) => 2 * CLASSES,
            (Source::Mapping, _) => 2 * CLASSES + 1,
            (Source::Gc, Op::Read) => 2 * CLASSES + 2,
            (Source::Gc, Op::Program) => 2 * CLASSES + 3,
            (Source::Gc, Op::Erase) => 2 * CLASSES + 4,
        };
        &mut self.rows[chip.index()][row]
    }

    /// A transaction begins to wait.
    pub(crate) fn came(&mut self, now: Time, chip: ChipId, id: TransactionId, tr: &Transaction) {
        *slot(&mut self.came, id) = Some(now);
        let row = self.row(chip, tr);
        row.enqueued += 1;
        row.length += 1;
        row.max_length = row.max_length.max(row.length);
    }

    /// A transaction waits no longer. The program of a copyback never waited: its chip continues
    /// with it.
    pub(crate) fn left(&mut self, now: Time, chip: ChipId, id: TransactionId, tr: &Transaction) {
        let Some(came) = slot(&mut self.came, id).take() else { return };
        let waited = (now - came).0;
        let row = self.row(chip, tr);
        row.dequeued += 1;
        row.length -= 1;
        row.waited += u128::from(waited);
        row.max_wait = row.max_wait.max(waited);
    }

    /// The rows at the end of the run, ordered by kind.
    pub(crate) fn finish(&self, end: Time) -> Vec<QueueStatistics> {
        let mut found = Vec::new();
        for row in 0..ROWS {
            let (kind, class) = match row {
                0..CLASSES => (0, Some(row as u8)),
                _ if row < 2 * CLASSES => (1, Some((row - CLASSES) as u8)),
                _ => (row - 2 * CLASSES + 2, None),
            };
            for (chip, rows) in (0..).zip(&self.rows) {
                let row = rows[row];
                let us = |ps: f64| ps / 1e6;
                let mean = row.waited as f64 / row.dequeued.max(1) as f64;
                found.push(QueueStatistics {
                    kind: KINDS[kind],
                    class,
                    chip: (chip / self.chips_per_channel, chip % self.chips_per_channel),
                    enqueued: row.enqueued,
                    dequeued: row.dequeued,
                    mean_length: row.waited as f64 / (end.0 as f64).max(1.0),
                    max_length: row.max_length,
                    mean_wait_us: us(mean),
                    max_wait_us: us(row.max_wait as f64),
                });
            }
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_units::FlowId;

    #[test]
    fn lengths_and_waits_are_those_of_the_kind_on_the_chip() {
        let mut recorder = QueueRecorder::new(4, 2);
        let tr = |source, op| Transaction::new(source, op, FlowId::new(0), 2, Time::ZERO);
        let (read, erase) = (tr(Source::User, Op::Read), tr(Source::Gc, Op::Erase));
        let [one, two, three] = [1, 2, 3].map(TransactionId::new);
        let chip = ChipId::new(3);
        recorder.came(Time(0), chip, one, &read);
        recorder.came(Time(10_000_000), chip, two, &read);
        recorder.came(Time(10_000_000), ChipId::new(0), three, &erase);
        recorder.left(Time(20_000_000), chip, one, &read);
        recorder.left(Time(50_000_000), chip, two, &read);
        let rows = recorder.finish(Time(100_000_000));
        let row = rows.iter().find(|row| row.enqueued == 2).expect("the reads");
        let (class, chip) = (Some(2), (1, 1));
        let expected = QueueStatistics {
            kind: "User_Read",
            class,
            chip,
            enqueued: 2,
            dequeued: 2,
            mean_length: 0.6,
            max_length: 2,
            mean_wait_us: 30.0,
            max_wait_us: 40.0,
        };
        assert_eq!(*row, expected);
        let waiting = rows.iter().find(|row| row.kind == "GC_Erase" && row.chip == (0, 0));
        let waiting = waiting.expect("a row for every kind and chip");
        assert_eq!((waiting.enqueued, waiting.dequeued, waiting.max_length), (1, 0, 1));
    }
}
