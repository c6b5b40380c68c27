//! The host's block layer: requests above the drive's largest transfer go out in pieces.

use flashlane_engine::Time;

use super::{NAMED_LINES, Planned, RequestOp, RequestSource, SourceReport};
use crate::error::Error;
use crate::layout::SECTOR_BYTES;
use flashlane_units::ByteSize;

/// A source whose reads and writes go out in pieces of the drive's largest transfer, the rest last.
/// The pieces arrive together. In a closed loop each takes a place of its own. Trims and flushes
/// move no data and stay whole.
pub(super) struct Split {
    source: Box<dyn RequestSource>,
    /// Unit: sectors. Range: at least 1.
    most: u32,
    /// What is left of the request that is being sent.
    rest: Option<Planned>,
    /// Requests that had to be split.
    split: u64,
    /// The first of them, where they come from a file.
    named: Vec<String>,
}

impl Split {
    /// `most`: the largest transfer of the drive.
    pub(super) fn new(source: Box<dyn RequestSource>, most: ByteSize) -> Self {
        let most = u32::try_from(most.0 / SECTOR_BYTES).unwrap_or(u32::MAX).max(1);
        Self { source, most, rest: None, split: 0, named: Vec::new() }
    }

    /// A request is split.
    #[cold]
    fn count(&mut self, planned: &Planned) {
        self.split += 1;
        let unnamed = self.named.len() < NAMED_LINES;
        if let Some(place) = unnamed.then(|| self.source.place()).flatten() {
            let kib = |sectors: u32| u64::from(sectors) * SECTOR_BYTES / 1024;
            let (all, most) = (kib(planned.sectors), kib(self.most));
            self.named.push(format!("{place}: {all} KiB split into pieces of {most} KiB"));
        }
    }

    /// The first piece of a request; the rest stays here.
    fn first_piece(&mut self, mut planned: Planned) -> Planned {
        let moves_data = matches!(planned.op, RequestOp::Read | RequestOp::Write);
        if moves_data && planned.sectors > self.most {
            let sectors = planned.sectors - self.most;
            let sector = planned.sector + u64::from(self.most);
            self.rest = Some(Planned { sector, sectors, ..planned });
            planned.sectors = self.most;
        }
        planned
    }
}

impl RequestSource for Split {
    fn next(&mut self, now: Time) -> Result<Option<Planned>, Error> {
        if let Some(rest) = self.rest.take() {
            return Ok(Some(self.first_piece(rest)));
        }
        let Some(planned) = self.source.next(now)? else { return Ok(None) };
        let piece = self.first_piece(planned);
        if self.rest.is_some() {
            self.count(&planned);
        }
        Ok(Some(piece))
    }

    fn upcoming(&self) -> Option<u64> {
        self.rest.map_or_else(|| self.source.upcoming(), |rest| Some(rest.sector))
    }

    fn restart(&mut self, now: Time) -> Result<(), Error> {
        self.rest = None;
        self.source.restart(now)
    }

    fn closed_loop(&self) -> Option<u32> {
        self.source.closed_loop()
    }

    fn think_time(&self) -> Time {
        self.source.think_time()
    }

    fn time_limit(&self) -> Option<Time> {
        self.source.time_limit()
    }

    fn overdue_at(&self) -> Option<Time> {
        self.source.overdue_at()
    }

    fn endless(&self) -> bool {
        self.source.endless()
    }

    fn progress(&self, now: Time) -> f64 {
        self.source.progress(now)
    }

    fn diverge(&mut self, back: u64) -> Result<(), Error> {
        self.rest = None;
        self.source.diverge(back)
    }

    fn gone(&self) -> u64 {
        self.source.gone()
    }

    fn place(&self) -> Option<String> {
        self.source.place()
    }

    fn report(&self) -> SourceReport {
        let mut report = SourceReport { split: self.split, ..self.source.report() };
        report.named.extend(self.named.iter().cloned());
        report
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out these requests once.
    struct Listed(std::vec::IntoIter<Planned>);

    impl RequestSource for Listed {
        fn next(&mut self, _now: Time) -> Result<Option<Planned>, Error> {
            Ok(self.0.next())
        }

        fn restart(&mut self, _now: Time) -> Result<(), Error> {
            Ok(())
        }

        fn closed_loop(&self) -> Option<u32> {
            None
        }
    }

    fn pieces(most: u64, requests: &[(RequestOp, u64, u32)]) -> (Vec<(u64, u32)>, u64) {
        let planned = |&(op, sector, sectors)| Planned { arrival: Time(7), op, sector, sectors };
        let requests: Vec<Planned> = requests.iter().map(planned).collect();
        let mut split = Split::new(Box::new(Listed(requests.into_iter())), ByteSize(most));
        let mut found = Vec::new();
        while let Some(planned) = split.next(Time::ZERO).expect("a list") {
            assert_eq!(planned.arrival, Time(7), "pieces arrive together");
            found.push((planned.sector, planned.sectors));
        }
        (found, split.report().split)
    }

    #[test]
    fn reads_and_writes_go_out_in_pieces_and_count_once() {
        let requests =
            [(RequestOp::Read, 8, 20), (RequestOp::Write, 0, 8), (RequestOp::Write, 1, 9)];
        let expected = vec![(8, 8), (16, 8), (24, 4), (0, 8), (1, 8), (9, 1)];
        assert_eq!(pieces(4096, &requests), (expected, 2));
    }

    #[test]
    fn trims_and_flushes_stay_whole() {
        let requests = [(RequestOp::Trim, 3, 8 << 20), (RequestOp::Flush, 0, 0)];
        assert_eq!(pieces(4096, &requests), (vec![(3, 8 << 20), (0, 0)], 0));
    }

    #[test]
    fn the_rest_of_a_request_is_not_carried_into_another_pass() {
        let long = Planned { op: RequestOp::Read, sectors: 24, ..Planned::default() };
        let mut split = Split::new(Box::new(Listed(vec![long].into_iter())), ByteSize(4096));
        split.next(Time::ZERO).expect("a list");
        assert_eq!(split.upcoming(), Some(8));
        split.restart(Time::ZERO).expect("a list");
        assert_eq!(split.next(Time::ZERO).expect("a list"), None);
    }
}
