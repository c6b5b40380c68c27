//! Transactions that are held back: for each flow and die a list of reads and one of programs,
//! oldest first.
//!
//! Invariant: a die is marked as one where a flow waits exactly while one of its two lists there
//! has a transaction.

use flashlane_engine::List;
use flashlane_units::{DieId, FlowId, TransactionId};

use crate::transaction::{Op, Transactions};

/// The kinds of work that are held back, in the order of the lists of a die.
pub(super) const OPS: [Op; 2] = [Op::Read, Op::Program];

/// Place of a kind of work in the lists of a die.
fn of(op: Op) -> usize {
    usize::from(op != Op::Read)
}

/// The transactions of all flows that are held back.
#[derive(Clone, Debug)]
pub(super) struct Held {
    /// By flow, then by die: reads, then programs.
    lists: Vec<[List<TransactionId>; 2]>,
    /// Bits of the dies where a flow waits, by flow.
    marks: Vec<u64>,
    /// Number of transactions by flow.
    of_flow: Vec<u32>,
    /// Number of transactions by die.
    at_die: Vec<u32>,
    /// Number of transactions in all.
    all: u32,
    /// The die after the one from which a flow was last released.
    next: Vec<usize>,
    /// Words of marks of a flow.
    words: usize,
}

impl Held {
    pub(super) fn new(dies: u32, flows: usize) -> Self {
        let (dies, words) = (dies as usize, dies.div_ceil(64) as usize);
        Self {
            lists: vec![<[List<TransactionId>; 2]>::default(); flows * dies],
            marks: vec![0; flows * words],
            of_flow: vec![0; flows],
            at_die: vec![0; dies],
            all: 0,
            next: vec![0; flows],
            words,
        }
    }

    fn place(&self, flow: FlowId, die: DieId) -> usize {
        flow.index() * self.at_die.len() + die.index()
    }

    fn mark(&mut self, flow: FlowId, die: DieId) -> &mut u64 {
        &mut self.marks[flow.index() * self.words + die.index() / 64]
    }

    pub(super) fn push(&mut self, die: DieId, id: TransactionId, slab: &mut Transactions) {
        let (flow, op) = (slab[id].flow, slab[id].op);
        let at = self.place(flow, die);
        self.lists[at][of(op)].push_back(id, slab);
        *self.mark(flow, die) |= 1 << (die.index() % 64);
        self.of_flow[flow.index()] += 1;
        self.at_die[die.index()] += 1;
        self.all += 1;
    }

    /// The oldest read or program of a flow at a die.
    pub(super) fn oldest(&self, flow: FlowId, die: DieId, op: Op) -> Option<TransactionId> {
        let head = self.lists[self.place(flow, die)][of(op)].head();
        (head != TransactionId::NONE).then_some(head)
    }

    /// Takes the oldest transaction of a flow at a die.
    pub(super) fn pop(
        &mut self,
        flow: FlowId,
        die: DieId,
        slab: &mut Transactions,
    ) -> TransactionId {
        let heads = OPS.map(|op| (op, self.oldest(flow, die, op)));
        let waiting = heads.into_iter().filter_map(|(op, head)| Some((slab[head?].mark, op)));
        let oldest = waiting.min_by_key(|&(since, _)| since);
        let (_, op) = oldest.expect("the flow waits at the die");
        self.pop_one(flow, die, op, slab)
    }

    /// Takes the oldest read or program of a flow at a die.
    pub(super) fn pop_one(
        &mut self,
        flow: FlowId,
        die: DieId,
        op: Op,
        slab: &mut Transactions,
    ) -> TransactionId {
        let at = self.place(flow, die);
        let id = self.lists[at][of(op)].pop_front(slab);
        debug_assert_eq!(slab[id].flow, flow, "it waits with its flow");
        if self.lists[at].iter().all(List::is_empty) {
            *self.mark(flow, die) &= !(1 << (die.index() % 64));
        }
        self.of_flow[flow.index()] -= 1;
        self.at_die[die.index()] -= 1;
        self.all -= 1;
        id
    }

    /// The die whose turn it is among those where the flow waits. The dies take turns, since a
    /// budget may end before all are served.
    pub(super) fn turn(&mut self, flow: FlowId) -> DieId {
        let from = self.next[flow.index()];
        let marks = &self.marks[flow.index() * self.words..][..self.words];
        let first = |low: usize| {
            let of_word = |word: usize, bits: u64| {
                (bits != 0).then(|| word * 64 + bits.trailing_zeros() as usize)
            };
            let start = marks
                .get(low / 64)
                .and_then(|&bits| of_word(low / 64, bits & (u64::MAX << (low % 64))));
            let later = || (low / 64 + 1..marks.len()).find_map(|at| of_word(at, marks[at]));
            start.or_else(later)
        };
        let die = first(from).or_else(|| first(0)).expect("the flow waits somewhere");
        self.next[flow.index()] = die + 1;
        DieId::at(die)
    }

    /// True if nothing is held back.
    pub(super) fn is_empty(&self) -> bool {
        self.all == 0
    }

    /// Number of transactions of a flow.
    pub(super) fn of_flow(&self, flow: FlowId) -> u32 {
        self.of_flow[flow.index()]
    }

    /// Number of transactions at a die.
    pub(super) fn at_die(&self, die: DieId) -> u32 {
        self.at_die[die.index()]
    }

    /// Checks the counts and the marks against the lists.
    pub(super) fn audit(&self) {
        let dies = self.at_die.len();
        let len = |flow: usize, die: usize| -> u32 {
            self.lists[flow * dies + die].iter().map(List::len).sum()
        };
        assert_eq!(self.of_flow.iter().sum::<u32>(), self.all, "what is held back is counted");
        for (flow, count) in self.of_flow.iter().enumerate() {
            let sum: u32 = (0..dies).map(|die| len(flow, die)).sum();
            assert_eq!(sum, *count, "what is held back of flow {flow} is counted");
            for die in 0..dies {
                let mark = self.marks[flow * self.words + die / 64] >> (die % 64) & 1;
                assert_eq!(mark == 1, len(flow, die) > 0, "die {die} is marked for flow {flow}");
            }
        }
        for (die, count) in self.at_die.iter().enumerate() {
            let sum: u32 = (0..self.of_flow.len()).map(|flow| len(flow, die)).sum();
            assert_eq!(sum, *count, "what is held back at die {die} is counted");
        }
    }
}
