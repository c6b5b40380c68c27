//! Recordings of the commands that the flows of a run submit, which can be submitted again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use flashlane_engine::Time;
use flashlane_units::FlowId;

use super::command::{Command, Operation};
use flashlane_workload::Planned;

/// A command that a flow submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// Number of reports of the drive before this command:
    /// [`Report::Arrived`](super::Report::Arrived) and
    /// [`Report::Completed`](super::Report::Completed) count. Together with the time, it gives the
    /// place of the command in the order of ties.
    pub after: u64,
    /// Time for which the command was submitted.
    pub at: Time,
    /// The tenant, as an index into the workload.
    pub tenant: u16,
    /// The command.
    pub command: Command,
    /// True for [`Drive::submit`](super::Drive::submit), false for
    /// [`Drive::schedule`](super::Drive::schedule).
    pub at_once: bool,
}

/// Takes the recording of a run when the run is over. It keeps 56 bytes for each request; see
/// [`crate::observe::Observe::submissions`].
pub type Submissions = Arc<Mutex<Vec<Submitted>>>;

/// Records the submissions of the flows of a run.
#[derive(Debug)]
pub struct Recorder {
    reports: u64,
    /// The submissions. False marks a flow that pauses: it draws its command only after the pause.
    submitted: Vec<(Submitted, bool)>,
    /// Indices in `submitted` of the commands that flows will draw after their pauses, oldest
    /// first.
    pauses: BTreeMap<FlowId, VecDeque<usize>>,
    sink: Submissions,
}

impl Recorder {
    /// A recorder without submissions.
    pub fn new(sink: Submissions) -> Self {
        Self { reports: 0, submitted: Vec::new(), pauses: BTreeMap::new(), sink }
    }

    /// The drive reports an arrival or a completion.
    pub fn report(&mut self) {
        self.reports += 1;
    }

    /// A flow submits a request for a time, at once or by the clock.
    pub fn submit(&mut self, at: Time, flow: FlowId, planned: &Planned, at_once: bool) {
        let command = command_of(planned);
        let submitted = Submitted { after: self.reports, at, tenant: flow.get(), command, at_once };
        self.submitted.push((submitted, true));
    }

    /// A flow pauses until a time.
    pub fn pause(&mut self, at: Time, flow: FlowId) {
        self.pauses.entry(flow).or_default().push_back(self.submitted.len());
        let (command, at_once) = (Command::flush(), false);
        let submitted = Submitted { after: self.reports, at, tenant: flow.get(), command, at_once };
        self.submitted.push((submitted, false));
    }

    /// The oldest pause of a flow is over. If it submits a command now, the command arrives as if
    /// it had been submitted when the pause began.
    pub fn resume(&mut self, flow: FlowId, planned: Option<&Planned>) {
        let place = self.pauses.get_mut(&flow).and_then(VecDeque::pop_front);
        if let Some((place, planned)) = place.zip(planned) {
            let (submitted, drawn) = &mut self.submitted[place];
            submitted.command = command_of(planned);
            *drawn = true;
            self.report();
        }
    }

    /// The run is over.
    pub fn end(self) {
        let drawn = self.submitted.into_iter().filter(|&(_, drawn)| drawn);
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        sink.extend(drawn.map(|(submitted, _)| submitted));
    }
}

fn command_of(planned: &Planned) -> Command {
    let operation = Operation::of(planned.op).expect("no source plans a refused command");
    Command::new(operation, planned.sector, planned.sectors)
}
