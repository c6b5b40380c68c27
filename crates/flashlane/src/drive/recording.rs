//! What the flows of a run submit to their drive, in a form that can be submitted again.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use flashlane_engine::Time;
use flashlane_units::{FlowId, RequestOp};

use super::command::{Command, Operation};
use crate::workload::Planned;

/// A command that a flow submitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submitted {
    /// How often the drive had reported before: [`Report::Arrived`](super::Report::Arrived) and
    /// [`Report::Completed`](super::Report::Completed) count. Together with the time this is the
    /// place of the command in the order of ties.
    pub after: u64,
    /// The time that it was submitted for.
    pub at: Time,
    /// The tenant, by its place in the workload.
    pub tenant: u16,
    /// The command.
    pub command: Command,
    /// By [`Drive::submit`](super::Drive::submit); else by
    /// [`Drive::schedule`](super::Drive::schedule).
    pub at_once: bool,
}

/// Takes the recording of a run when the run is over. It keeps 56 bytes for each request; see
/// [`crate::observe::Observe::submissions`].
pub type Submissions = Arc<Mutex<Vec<Submitted>>>;

/// Records what the flows of a run submit.
#[derive(Debug)]
pub(crate) struct Recorder {
    reports: u64,
    /// A flow that pauses draws its command after the pause: until then there is none.
    submitted: Vec<(Submitted, bool)>,
    /// Places in `submitted` of the commands that flows will draw after their pauses, oldest first.
    pauses: BTreeMap<FlowId, VecDeque<usize>>,
    sink: Submissions,
}

impl Recorder {
    /// Nothing was submitted.
    pub(crate) fn new(sink: Submissions) -> Self {
        Self { reports: 0, submitted: Vec::new(), pauses: BTreeMap::new(), sink }
    }

    /// The drive reports an arrival or a completion.
    pub(crate) fn report(&mut self) {
        self.reports += 1;
    }

    /// A flow submits a request for a time, at once or by the clock.
    pub(crate) fn submit(&mut self, at: Time, flow: FlowId, planned: &Planned, at_once: bool) {
        let command = command_of(planned);
        let submitted = Submitted { after: self.reports, at, tenant: flow.get(), command, at_once };
        self.submitted.push((submitted, true));
    }

    /// A flow pauses until a time.
    pub(crate) fn pause(&mut self, at: Time, flow: FlowId) {
        self.pauses.entry(flow).or_default().push_back(self.submitted.len());
        let (command, at_once) = (Command::flush(), false);
        let submitted = Submitted { after: self.reports, at, tenant: flow.get(), command, at_once };
        self.submitted.push((submitted, false));
    }

    /// The oldest pause of a flow is over. What it submits now, if anything, arrives as if it had
    /// been submitted when the pause began.
    pub(crate) fn resume(&mut self, flow: FlowId, planned: Option<&Planned>) {
        let place = self.pauses.get_mut(&flow).and_then(VecDeque::pop_front);
        if let Some((place, planned)) = place.zip(planned) {
            let (submitted, drawn) = &mut self.submitted[place];
            submitted.command = command_of(planned);
            *drawn = true;
            self.report();
        }
    }

    /// The run is over.
    pub(crate) fn end(self) {
        let drawn = self.submitted.into_iter().filter(|&(_, drawn)| drawn);
        let mut sink = self.sink.lock().unwrap_or_else(PoisonError::into_inner);
        sink.extend(drawn.map(|(submitted, _)| submitted));
    }
}

fn command_of(planned: &Planned) -> Command {
    let operation = match planned.op {
        RequestOp::Read => Operation::Read,
        RequestOp::Write => Operation::Write,
        RequestOp::Trim => Operation::Trim,
        RequestOp::Flush => Operation::Flush,
    };
    Command::new(operation, planned.sector, planned.sectors)
}
