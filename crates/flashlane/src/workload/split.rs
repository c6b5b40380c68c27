//! The host's block layer: requests above the drive's largest transfer go out in pieces.

use flashlane_engine::Time;

use super::{JobSource, JobStep, NAMED_LINES, Planned, RequestOp, RequestSource, SourceReport};
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
    /// Of a job: the number of the request that is being sent.
    cookie: u64,
    /// Of a job: numbers of requests that were split, and their pieces that are not complete.
    pieces: Vec<(u64, u32)>,
    /// Requests that had to be split.
    split: u64,
    /// The first of them, where they come from a file.
    named: Vec<String>,
}

impl Split {
    /// `most`: the largest transfer of the drive.
    pub(super) fn new(source: Box<dyn RequestSource>, most: ByteSize) -> Self {
        let most = u32::try_from(most.0 / SECTOR_BYTES).unwrap_or(u32::MAX).max(1);
        Self {
            source,
            most,
            rest: None,
            cookie: 0,
            pieces: Vec::new(),
            split: 0,
            named: Vec::new(),
        }
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

    fn job(&mut self) -> Option<&mut dyn JobSource> {
        if self.source.job().is_some() { Some(self) } else { None }
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

impl JobSource for Split {
    fn step(&mut self, now: Time) -> JobStep {
        let (planned, cookie) = match self.rest.take() {
            Some(rest) => (rest, self.cookie),
            None => {
                let job = self.source.job().expect("the source is a job");
                match job.step(now) {
                    JobStep::Submit(planned, cookie) => (planned, cookie),
                    other => return other,
                }
            }
        };
        let piece = self.first_piece(planned);
        let counted = self.pieces.iter_mut().find(|(of, _)| *of == cookie);
        match counted {
            Some((_, pieces)) => *pieces += 1,
            None if self.rest.is_some() => {
                self.pieces.push((cookie, 1));
                self.count(&planned);
            }
            None => {}
        }
        self.cookie = cookie;
        JobStep::Submit(piece, cookie)
    }

    /// The job learns of a request when its last piece is complete.
    fn completed(&mut self, cookie: u64) {
        if let Some(at) = self.pieces.iter().position(|(of, _)| *of == cookie) {
            self.pieces[at].1 -= 1;
            let under_way = self.pieces[at].1 > 0;
            if under_way || self.rest.is_some() && self.cookie == cookie {
                return;
            }
            self.pieces.swap_remove(at);
        }
        self.source.job().expect("the source is a job").completed(cookie);
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

    /// One request, and how often it was said to be complete.
    struct OneJob(Option<Planned>, u32);

    impl RequestSource for OneJob {
        fn next(&mut self, _now: Time) -> Result<Option<Planned>, Error> {
            Ok(None)
        }

        fn restart(&mut self, _now: Time) -> Result<(), Error> {
            Ok(())
        }

        fn closed_loop(&self) -> Option<u32> {
            Some(1)
        }

        fn job(&mut self) -> Option<&mut dyn JobSource> {
            Some(self)
        }

        fn gone(&self) -> u64 {
            self.1.into()
        }
    }

    impl JobSource for OneJob {
        fn step(&mut self, _now: Time) -> JobStep {
            self.0.take().map_or(JobStep::Hold, |planned| JobStep::Submit(planned, 5))
        }

        fn completed(&mut self, cookie: u64) {
            assert_eq!(cookie, 5);
            self.1 += 1;
        }
    }

    #[test]
    fn a_job_learns_of_a_request_when_its_last_piece_is_complete() {
        let long = Planned { op: RequestOp::Write, sectors: 20, ..Planned::default() };
        let mut split = Split::new(Box::new(OneJob(Some(long), 0)), ByteSize(4096));
        let mut sectors = Vec::new();
        while let JobStep::Submit(piece, cookie) = split.step(Time::ZERO) {
            sectors.push(piece.sectors);
            // The first piece is complete before the second one leaves.
            if sectors.len() == 1 {
                split.completed(cookie);
            }
        }
        assert_eq!(sectors, [8, 8, 4]);
        assert_eq!(split.gone(), 0);
        split.completed(5);
        assert_eq!(split.gone(), 0);
        split.completed(5);
        assert_eq!((split.gone(), split.report().split), (1, 1));
    }
}
