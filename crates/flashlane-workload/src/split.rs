//! The host's block layer: it splits requests above the drive's largest transfer.

use flashlane_engine::Time;

use super::{JobSource, JobStep, NAMED_LINES, Planned, RequestOp, RequestSource, SourceReport};
use flashlane_device::layout::SECTOR_BYTES;
use flashlane_reading::Error;
use flashlane_units::ByteSize;

/// A source whose reads and writes are split into pieces of the drive's largest transfer; the last
/// piece has the rest. The pieces arrive together. In a closed loop each piece takes a place of its
/// own. Trims and flushes move no data and stay whole.
pub(super) struct Split {
    source: Box<dyn RequestSource>,
    /// The drive's largest transfer. Unit: sectors. Range: at least 1.
    most: u32,
    /// The rest of the request that is being sent.
    rest: Option<Planned>,
    /// For a job: its requests under way, at most as many as its depth.
    under_way: Vec<UnderWay>,
    /// Places in `under_way` that are free.
    free: Vec<usize>,
    /// Place of the request that is being sent.
    place: usize,
    /// Pieces of a job that are not complete.
    outstanding: u32,
    /// Requests that had to be split.
    split: u64,
    /// The first split requests, if they come from a file.
    named: Vec<String>,
}

/// True for a request whose data crosses the link.
fn moves_data(planned: &Planned) -> bool {
    matches!(planned.op, RequestOp::Read | RequestOp::Write)
}

/// A request of a job.
#[derive(Clone, Copy)]
struct UnderWay {
    /// Number of the request in [`JobStep::Submit`] of the source.
    cookie: u64,
    /// Pieces that are not complete.
    pieces: u32,
}

impl Split {
    /// `most`: the largest transfer of the drive.
    pub(super) fn new(source: Box<dyn RequestSource>, most: ByteSize) -> Self {
        let most = u32::try_from(most.0 / SECTOR_BYTES).unwrap_or(u32::MAX).max(1);
        Self {
            source,
            most,
            rest: None,
            under_way: Vec::new(),
            free: Vec::new(),
            place: 0,
            outstanding: 0,
            split: 0,
            named: Vec::new(),
        }
    }

    /// Counts a request that is split.
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

    /// The first piece of a request. The rest is kept for later calls.
    fn first_piece(&mut self, mut planned: Planned) -> Planned {
        if moves_data(&planned) && planned.sectors > self.most {
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

impl Split {
    /// The job whose requests are split.
    fn inner(&mut self) -> &mut dyn JobSource {
        self.source.job().expect("the source is a job")
    }

    /// Notes that a request of the job begins.
    fn begin(&mut self, planned: &Planned, cookie: u64) {
        let pieces = if moves_data(planned) { planned.sectors.div_ceil(self.most) } else { 1 };
        let one = UnderWay { cookie, pieces: pieces.max(1) };
        self.place = match self.free.pop() {
            Some(place) => {
                self.under_way[place] = one;
                place
            }
            None => {
                self.under_way.push(one);
                self.under_way.len() - 1
            }
        };
        if pieces > 1 {
            self.count(planned);
        }
    }
}

impl JobSource for Split {
    /// Each piece takes a place of the job's depth, as in a closed loop.
    fn step(&mut self, now: Time) -> JobStep {
        if self.source.closed_loop().is_some_and(|depth| self.outstanding >= depth) {
            return JobStep::Hold;
        }
        let planned = match self.rest.take() {
            Some(rest) => rest,
            None => match self.inner().step(now) {
                JobStep::Submit(planned, cookie) => {
                    self.begin(&planned, cookie);
                    planned
                }
                other => return other,
            },
        };
        self.outstanding += 1;
        JobStep::Submit(self.first_piece(planned), self.place as u64)
    }

    /// The job learns of a request when its last piece is complete.
    fn completed(&mut self, place: u64) {
        let place = place as usize;
        self.outstanding -= 1;
        let one = &mut self.under_way[place];
        one.pieces -= 1;
        if one.pieces == 0 {
            let cookie = one.cookie;
            self.free.push(place);
            self.inner().completed(cookie);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hands out the given requests once.
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
        let planned = |&(op, sector, sectors)| Planned {
            arrival: Time(7),
            op,
            sector,
            sectors,
            ..Planned::default()
        };
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

    /// A job of `left` requests of 20 sectors, all with one number, up to a depth.
    struct Job {
        left: u32,
        depth: u32,
        completed: u32,
    }

    impl RequestSource for Job {
        fn next(&mut self, _now: Time) -> Result<Option<Planned>, Error> {
            Ok(None)
        }

        fn restart(&mut self, _now: Time) -> Result<(), Error> {
            Ok(())
        }

        fn closed_loop(&self) -> Option<u32> {
            Some(self.depth)
        }

        fn job(&mut self) -> Option<&mut dyn JobSource> {
            Some(self)
        }

        fn gone(&self) -> u64 {
            self.completed.into()
        }
    }

    impl JobSource for Job {
        fn step(&mut self, _now: Time) -> JobStep {
            if self.left == 0 {
                return JobStep::Hold;
            }
            self.left -= 1;
            let long = Planned { op: RequestOp::Write, sectors: 20, ..Planned::default() };
            JobStep::Submit(long, 5)
        }

        fn completed(&mut self, cookie: u64) {
            assert_eq!(cookie, 5);
            self.completed += 1;
        }
    }

    /// Sectors and places of the requests that a job sends until it waits.
    fn sent(split: &mut Split) -> Vec<(u32, u64)> {
        let step = || match split.step(Time::ZERO) {
            JobStep::Submit(piece, place) => Some((piece.sectors, place)),
            _ => None,
        };
        std::iter::from_fn(step).collect()
    }

    #[test]
    fn a_job_learns_of_each_request_when_its_last_piece_is_complete() {
        let job = Job { left: 2, depth: 8, completed: 0 };
        let mut split = Split::new(Box::new(job), ByteSize(4096));
        assert_eq!(sent(&mut split), [(8, 0), (8, 0), (4, 0), (8, 1), (8, 1), (4, 1)]);
        for (place, completed) in [(0, 0), (1, 0), (0, 0), (0, 1), (1, 1), (1, 2)] {
            split.completed(place);
            assert_eq!(split.gone(), completed);
        }
        assert_eq!((split.report().split, split.under_way.len(), split.free.len()), (2, 2, 2));
    }

    #[test]
    fn pieces_of_a_job_keep_its_depth() {
        let job = Job { left: 2, depth: 2, completed: 0 };
        let mut split = Split::new(Box::new(job), ByteSize(4096));
        assert_eq!(sent(&mut split), [(8, 0), (8, 0)]);
        split.completed(0);
        assert_eq!(sent(&mut split), [(4, 0)]);
        split.completed(0);
        assert_eq!(sent(&mut split), [(8, 1)]);
        assert_eq!(split.gone(), 0);
        split.completed(0);
        assert_eq!((split.gone(), sent(&mut split)), (1, vec![(8, 1)]));
    }
}
