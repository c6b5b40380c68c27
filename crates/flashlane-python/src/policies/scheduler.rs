//! Schedulers that are written in Python.

use std::collections::BTreeMap;

use flashlane::Time;
use flashlane::policy::{
    Array, DieId, Geometry, Op, SchedulingConfig, SchedulingPolicy, Source, Transaction,
    TransactionId, View,
};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;

use super::{Made, copied, or_unwind};

/// A page-sized piece of work that waits for a die. It never changes.
#[pyclass(frozen, module = "flashlane", name = "Work")]
#[derive(Debug)]
pub(crate) struct Work {
    id: TransactionId,
    op: Op,
    source: Source,
    /// The flow, numbered from 0. For collection it is the flow whose data is moved.
    #[pyo3(get)]
    tenant: u16,
    /// Class of the flow: 0 urgent to 3 low.
    #[pyo3(get)]
    priority: u8,
    /// The plane of the page, among all planes of the drive.
    #[pyo3(get)]
    plane: u32,
    /// Number of the page in its block; 0 for an erase.
    #[pyo3(get)]
    page: u32,
    /// Number of sectors that are read or written; 512 bytes each.
    #[pyo3(get)]
    sectors: u32,
    /// The host request that waits for the work; work of one request has an equal number.
    #[pyo3(get)]
    request: Option<u32>,
    /// The time since which the work waits. Unit: picoseconds.
    #[pyo3(get)]
    since: u64,
    /// The time for command, transfer and array. Unit: picoseconds.
    #[pyo3(get)]
    service: u64,
    /// When the work came, the time until its die would have served all work that it had begun.
    /// Unit: picoseconds.
    #[pyo3(get)]
    die_busy: u64,
}

impl Work {
    fn new(die: DieId, id: TransactionId, tr: &Transaction, view: &View<'_>) -> Self {
        Self {
            id,
            op: tr.op(),
            source: tr.source(),
            tenant: tr.flow().get(),
            priority: tr.class(),
            plane: tr.plane().get(),
            page: view.page_in_block(tr),
            sectors: tr.sectors(),
            request: tr.request().map(|request| request.get()),
            since: tr.queued_since().0,
            service: view.cost(tr),
            die_busy: view.service_left(die),
        }
    }
}

#[pymethods]
impl Work {
    /// The operation: `"read"`, `"program"` or `"erase"`.
    #[getter]
    fn op(&self) -> &'static str {
        match self.op {
            Op::Read => "read",
            Op::Program => "program",
            Op::Erase => "erase",
        }
    }

    /// The origin of the work: `"user"`, `"cache"` (write-back), `"gc"` (collection) or
    /// `"mapping"`.
    #[getter]
    fn source(&self) -> &'static str {
        match self.source {
            Source::User => "user",
            Source::Cache => "cache",
            Source::Gc => "gc",
            Source::Mapping => "mapping",
        }
    }

    fn __repr__(&self) -> String {
        let (op, source) = (self.op(), self.source());
        format!("Work({op} of {source}, tenant {}, plane {})", self.tenant, self.plane)
    }

    /// Returns the object itself, because a policy that is copied with its drive refers to the same
    /// work.
    fn __deepcopy__<'py>(slf: &Bound<'py, Self>, _memo: &Bound<'py, PyAny>) -> Bound<'py, Self> {
        slf.clone()
    }
}

/// The drive as a scheduler sees it when it decides.
#[pyclass(frozen, module = "flashlane", name = "State")]
#[derive(Debug)]
pub(crate) struct State {
    /// The time of the drive. Unit: picoseconds.
    #[pyo3(get)]
    now: u64,
    /// True if collection goes first, because a plane of the chip is short of free blocks.
    #[pyo3(get)]
    urgent: bool,
    /// Largest number of pieces of work in a command.
    #[pyo3(get)]
    planes_per_die: u32,
    /// The time until the die has served all work that it has begun. Unit: picoseconds.
    #[pyo3(get)]
    busy: u64,
    /// Work that waits at the die and can be served, and moves that have become pointless; sorted.
    ready: Vec<TransactionId>,
    pointless: Vec<TransactionId>,
}

impl State {
    fn new(die: DieId, waiting: &[TransactionId], view: &View<'_>) -> Self {
        let mut pointless: Vec<_> =
            waiting.iter().copied().filter(|&id| view.is_stale(id)).collect();
        pointless.sort_unstable();
        let goes = |&id: &TransactionId| {
            view.is_ready(view.transaction(id)) && pointless.binary_search(&id).is_err()
        };
        let mut ready: Vec<_> = waiting.iter().copied().filter(goes).collect();
        ready.sort_unstable();
        Self {
            now: view.now().0,
            urgent: view.is_urgent(),
            planes_per_die: view.planes_per_die(),
            busy: view.service_left(die),
            ready,
            pointless,
        }
    }
}

#[pymethods]
impl State {
    /// True if only the scheduler keeps the work waiting.
    fn is_ready(&self, work: &Work) -> bool {
        self.ready.binary_search(&work.id).is_ok()
    }

    /// True for the move of a page that is no longer valid. If `next` returns it, it is dropped.
    fn is_pointless(&self, work: &Work) -> bool {
        self.pointless.binary_search(&work.id).is_ok()
    }

    /// True if both can be in one command, because they differ only in their planes.
    #[staticmethod]
    fn together(one: &Work, other: &Work) -> bool {
        one.op == other.op && one.page == other.page && one.plane != other.plane
    }
}

impl SchedulingConfig for Made {
    fn build(&self, geometry: Geometry, flows: usize) -> Box<dyn SchedulingPolicy> {
        Python::attach(|py| {
            let shape = || -> PyResult<Py<PyAny>> {
                let shape = PyDict::new(py);
                shape.set_item("dies", geometry.dies())?;
                shape.set_item("planes_per_die", geometry.planes_per_die)?;
                shape.set_item("pages_per_block", geometry.pages_per_block)?;
                shape.set_item("page_bytes", geometry.page_bytes())?;
                shape.set_item("tenants", flows)?;
                let class = py.import("flashlane.policies")?.getattr("DriveShape")?;
                class.call((), Some(&shape)).map(Bound::unbind)
            };
            Box::new(Scheduler {
                object: self.object(py, shape),
                waiting: Array::of(Vec::new(), geometry.dies() as usize),
                running: BTreeMap::new(),
                reads: self.has("next_read"),
                interrupts: self.has("interrupt"),
                ranks: self.has("rank"),
                observes: self.has("completed"),
                wakes: self.has("wake"),
            })
        })
    }
}

/// A scheduler whose decisions a Python object makes.
struct Scheduler {
    object: Py<PyAny>,
    /// The work that waits at each die, in the order of arrival.
    waiting: Array<DieId, Vec<(TransactionId, Time)>>,
    /// Work whose end is reported to the object.
    running: BTreeMap<TransactionId, Py<Work>>,
    reads: bool,
    interrupts: bool,
    ranks: bool,
    observes: bool,
    wakes: bool,
}

impl Clone for Scheduler {
    fn clone(&self) -> Self {
        Python::attach(|py| Self {
            object: copied(py, &self.object),
            waiting: self.waiting.clone(),
            running: self.running.iter().map(|(&id, work)| (id, work.clone_ref(py))).collect(),
            ..*self
        })
    }
}

impl Scheduler {
    /// Asks a method for the next command of the die. `reads`: true if only reads are allowed.
    fn ask(&mut self, method: &str, die: DieId, view: &mut View<'_>, reads: bool) -> bool {
        // Asks again while all chosen work is pointless.
        while view.command().is_empty() && !self.waiting[die].is_empty() {
            let before = self.waiting[die].len();
            self.ask_once(method, die, view, reads);
            if self.waiting[die].len() == before {
                return false;
            }
        }
        !view.command().is_empty()
    }

    fn ask_once(&mut self, method: &str, die: DieId, view: &mut View<'_>, reads: bool) {
        Python::attach(|py| {
            let waiting: Vec<_> = self.waiting[die].iter().map(|&(id, _)| id).collect();
            let state = State::new(die, &waiting, view);
            let chosen = or_unwind(self.object.call_method1(py, method, (die.get(), state)));
            let chosen = or_unwind(works(chosen.bind(py)));
            for work in chosen {
                or_unwind(self.take_one(method, die, work.get(), view, reads));
            }
        });
    }

    /// Takes the work that a method chose out of the waiting work.
    fn take_one(
        &mut self,
        method: &str,
        die: DieId,
        work: &Work,
        view: &mut View<'_>,
        reads: bool,
    ) -> PyResult<()> {
        let refuse = |why: &str| {
            Err(PyValueError::new_err(format!("{method}: found {}, which {why}", work.__repr__())))
        };
        let Some(at) = self.waiting[die].iter().position(|&(id, _)| id == work.id) else {
            return refuse(&format!("does not wait at die {}", die.get()));
        };
        if reads && work.op != Op::Read {
            return refuse("is no read; allowed here: reads");
        }
        if !view.drop_stale(work.id) && !view.add(work.id) {
            return match view.command().is_empty() {
                true => refuse("cannot go yet; allowed: work for which state.is_ready is true"),
                false => refuse("cannot go with the work before it; see State.together"),
            };
        }
        self.waiting[die].remove(at);
        Ok(())
    }
}

/// The result of a method: no work, one piece of work, or several.
fn works<'py>(chosen: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, Work>>> {
    if chosen.is_none() {
        return Ok(Vec::new());
    }
    if let Ok(work) = chosen.cast::<Work>() {
        return Ok(vec![work.clone()]);
    }
    chosen.try_iter()?.map(|work| Ok(work?.cast_into::<Work>()?)).collect()
}

impl SchedulingPolicy for Scheduler {
    fn enqueue(&mut self, die: DieId, id: TransactionId, view: &mut View<'_>) {
        let tr = view.transaction(id);
        let work = Work::new(die, id, tr, view);
        self.waiting[die].push((id, tr.queued_since()));
        Python::attach(|py| {
            let work = or_unwind(Py::new(py, work));
            if self.observes {
                self.running.insert(id, work.clone_ref(py));
            }
            or_unwind(self.object.call_method1(py, "enqueue", (die.get(), work)));
        });
    }

    fn take(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.ask("next", die, view, false)
    }

    fn take_read(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.reads && self.ask("next_read", die, view, true)
    }

    fn interrupt(&mut self, die: DieId, view: &mut View<'_>) -> bool {
        self.interrupts && self.ask("interrupt", die, view, true)
    }

    fn rank(&self, die: DieId, view: &View<'_>) -> Option<(u8, Time)> {
        let oldest = self.waiting[die].iter().map(|&(_, since)| since).min()?;
        if !self.ranks {
            return Some((0, oldest));
        }
        Python::attach(|py| {
            let waiting: Vec<_> = self.waiting[die].iter().map(|&(id, _)| id).collect();
            let state = State::new(die, &waiting, view);
            let rank = or_unwind(self.object.call_method1(py, "rank", (die.get(), state)));
            let rank: Option<(u8, u64)> = or_unwind(rank.extract(py));
            rank.map(|(kind, since)| (kind, Time(since)))
        })
    }

    fn observes(&self) -> bool {
        self.observes
    }

    fn completed(&mut self, die: DieId, id: TransactionId, _: &Transaction, now: Time) {
        let Some(work) = self.running.remove(&id) else { return };
        Python::attach(|py| {
            or_unwind(self.object.call_method1(py, "completed", (die.get(), work, now.0)));
        });
    }

    fn holds_back(&self) -> bool {
        self.wakes
    }

    fn wake(&self) -> Option<Time> {
        if !self.wakes {
            return None;
        }
        Python::attach(|py| {
            let time = or_unwind(self.object.call_method0(py, "wake"));
            or_unwind(time.extract::<Option<u64>>(py)).map(Time)
        })
    }

    fn woken(&mut self, view: &mut View<'_>) {
        let now = view.now().0;
        Python::attach(|py| or_unwind(self.object.call_method1(py, "woken", (now,))));
    }

    fn waiting(&self, die: DieId) -> u32 {
        self.waiting[die].len() as u32
    }
}
