//! UPI: sets of chips to write to, which follow the load.
//!
//! Every window, equations 1 to 3 give the utility of each flow from the reads of each chip and the
//! programs of each flow, and the allocation step may move one chip. Data stays where it is until
//! collection empties its block; the pages then go to a chip of their owner. Collection prefers
//! blocks that are read on chips of others. Source: UPI (HotStorage) section 3.
//!
//! Our choices, where the paper is silent:
//!
//! - Writes go round the chips of the set, and skip chips that are programming while another is
//!   not.
//! - A copy stays in its plane if the owner's set has no room, so that collection never waits for
//!   another chip.
//! - A set without room gets another chip at once (a forced transfer).
//! - A flow never gives away a chip if no other of its chips has room.

mod config;
mod past;
mod room;
mod rotation;
mod sets;
mod utility;
mod windows;

pub use config::{FewestReads, PastReads, UpiConfig};

use flashlane_engine::Time;
use flashlane_units::{BlockId, ChipId, FlowId, PlaneId};

use super::deal::{by_chip, deal};
use crate::flash::config::FlashConfig;
use crate::ftl::blocks::{Block, BlockState, Blocks, Stream};
use crate::ftl::moving::{IsolationSummary, MovingSets};
use crate::layout::{FlowSpace, Geometry, Layout};
use past::Past;
use rotation::Rotation;
use sets::{Owner, Sets};
use utility::Counts;

/// Weight of one read in the memory of its block.
const READ_UNIT: f64 = 16.0;

impl UpiConfig {
    /// Owners of the chips at the start: equal sets of those chips that are neither shared nor
    /// read-only.
    fn owners(&self, geometry: Geometry, flows: &[FlowSpace]) -> Vec<Owner> {
        let mut units = by_chip(geometry);
        let fixed = |chip: ChipId| {
            self.shared_chips.contains(&chip.get()) || self.read_only_chips.contains(&chip.get())
        };
        units.retain(|unit| !fixed(unit[0]));
        let mut owners: Vec<Owner> = (0..geometry.chips())
            .map(|chip| match self.shared_chips.contains(&chip) {
                true => Owner::Everyone,
                false => Owner::Nobody,
            })
            .collect();
        let sets = deal(geometry, &units, flows, &vec![1; flows.len()]);
        for (flow, set) in (0..).map(FlowId::new).zip(&sets) {
            set.iter().for_each(|&chip| owners[chip.index()] = Owner::Flow(flow));
        }
        owners
    }

    /// The chips that hold each flow's data at the start: its set, and the chips that only serve
    /// reads.
    pub(super) fn starting_sets(
        &self,
        geometry: Geometry,
        flows: &[FlowSpace],
    ) -> Vec<Vec<ChipId>> {
        let owners = self.owners(geometry, flows);
        let of = |flow: FlowId| {
            let others = |owner: &Owner| !matches!(owner, Owner::Flow(other) if *other != flow);
            ChipId::first(geometry.chips())
                .zip(&owners)
                .filter(|(_, owner)| others(owner))
                .map(|(chip, _)| chip)
                .collect()
        };
        (0..flows.len()).map(FlowId::at).map(of).collect()
    }
}

/// The running policy.
#[derive(Clone)]
pub(super) struct Upi {
    config: UpiConfig,
    geometry: Geometry,
    sets: Sets,
    /// The planes of each set, in the order of writing.
    rotations: Vec<Rotation>,
    /// The planes of each set, in the order of moved pages.
    copy_rotations: Vec<Rotation>,
    counts: Counts,
    past: Past,
    /// Pages that the host wrote in this window, by flow.
    writes: Vec<u64>,
    /// Pages that collection copied in this window, by flow.
    copies: Vec<u64>,
    /// Running means of writes and of copies, by flow.
    mean_writes: Vec<f64>,
    mean_copies: Vec<f64>,
    /// Reads of each block since its erase, or over the last windows. Unit: 1/16 page.
    block_reads: Vec<u32>,
    /// Mean of `block_reads` over the blocks that hold data of each flow, at the end of the last
    /// window.
    mean_block_reads: Vec<f64>,
    window_end: Time,
    /// Valid pages from which on a plane takes no more pages while another plane can.
    fill: u32,
    summary: IsolationSummary,
    /// Windows for each entry of the summary, and windows since the last entry.
    stride: u64,
    since: u64,
}

impl Upi {
    pub(super) fn new(config: &UpiConfig, flash: &FlashConfig, layout: &Layout) -> Self {
        let geometry = layout.geometry;
        let flows = layout.flows.len();
        let sets = Sets::new(config.owners(geometry, &layout.flows).into(), flows);
        let mean = |times: &[flashlane_units::Span]| {
            times.iter().map(|time| time.0 as f64).sum::<f64>() / times.len() as f64
        };
        let window = config.window.0 as f64;
        let exponent = |flow| config.traffic_exponents.get(flow).copied().unwrap_or(1.0);
        let rotations: Vec<Rotation> =
            (0..flows).map(|flow| Rotation::new(geometry, &sets, flow)).collect();
        let blocks = geometry.planes() * geometry.blocks_per_plane;
        Self {
            config: config.clone(),
            geometry,
            copy_rotations: rotations.clone(),
            rotations,
            counts: Counts {
                reads: vec![0.0; flows * sets.chips()],
                programs: vec![0.0; flows],
                read_time: mean(&flash.read_time) / window,
                program_time: mean(&flash.program_time) / window,
                traffic_limit: config.traffic_limit,
                traffic_exponents: (0..flows).map(exponent).collect(),
                read_exponent: config.read_exponent,
            },
            past: Past::new(config, flows, sets.chips()),
            writes: vec![0; flows],
            copies: vec![0; flows],
            mean_writes: vec![0.0; flows],
            mean_copies: vec![0.0; flows],
            block_reads: vec![0; blocks as usize],
            mean_block_reads: vec![0.0; flows],
            window_end: Time(config.window.0),
            fill: (config.fill.0 * geometry.pages_per_plane() as f64) as u32,
            summary: IsolationSummary {
                relocated_pages: vec![0; flows],
                away_reads: vec![0; flows],
                ..Default::default()
            },
            stride: 1,
            since: 0,
            sets,
        }
    }

    fn chip_of(&self, plane: PlaneId) -> ChipId {
        self.geometry.chip_of(plane)
    }

    /// Reads of a block, divided by those of the mean block of its flow. That is the part of these
    /// reads in the flow's utility, which is also relative to the flow's own reads.
    fn read_share(&self, block: &Block, reads: u32) -> f64 {
        let mean = self.mean_block_reads[block.flow.index()];
        if mean > 0.0 { f64::from(reads) / mean } else { 0.0 }
    }

    fn planes_of(&self, chip: ChipId) -> impl Iterator<Item = PlaneId> + use<> {
        self.geometry.planes_of_chip(chip)
    }

    fn transfer(&mut self, chip: ChipId, to: usize) {
        let from = self.sets.owner(chip).expect("chips of one flow change hands");
        assert_ne!(from, to, "a chip goes to another flow");
        assert!(self.sets.own(from) > 1, "flow {from} keeps a chip");
        self.sets.transfer(chip, to);
        self.past.transferred(chip);
        for flow in [from, to] {
            self.rotations[flow] = Rotation::new(self.geometry, &self.sets, flow);
            self.copy_rotations[flow] = Rotation::new(self.geometry, &self.sets, flow);
        }
    }
}

impl MovingSets for Upi {
    fn host_read(&mut self, flow: FlowId, block: BlockId, blocks: &Blocks, now: Time) {
        self.tick(blocks, now);
        let chip = self.chip_of(blocks.plane_of(block));
        self.past.read(flow.index(), chip);
        let away = !self.sets.holds(flow.index(), chip);
        self.summary.away_reads[flow.index()] += u64::from(away);
        let reads = &mut self.block_reads[block.index()];
        *reads = reads.saturating_add(READ_UNIT as u32);
    }

    fn host_write(&mut self, flow: FlowId, blocks: &Blocks, now: Time) {
        self.tick(blocks, now);
        self.writes[flow.index()] += 1;
    }

    fn copied(&mut self, flow: FlowId, _away: bool) {
        debug_assert!(flow.index() < self.copies.len(), "a copy has an owner of the run");
        self.copies[flow.index()] += 1;
    }

    fn erased(&mut self, block: BlockId) {
        self.block_reads[block.index()] = 0;
    }

    fn plane_of_write(&mut self, flow: FlowId, old: PlaneId, blocks: &Blocks) -> PlaneId {
        let at = flow.index();
        for spared in [true, false] {
            if let Some(plane) = self.inside(flow, old, blocks, spared) {
                return plane;
            }
            if self.config.overflow
                && let Some(plane) = self.outside(at, blocks, spared)
            {
                self.summary.overflow_pages += 1;
                return plane;
            }
            if self.force_transfer(at, blocks, spared)
                && let Some(plane) = self.inside(flow, old, blocks, spared)
            {
                return plane;
            }
        }
        panic!("sets that validation accepts have room for every page");
    }

    fn plane_of_copy(&mut self, flow: FlowId, plane: PlaneId, blocks: &Blocks) -> PlaneId {
        let home = self.may_write(flow, plane);
        if home && !self.config.spread_copies {
            return plane;
        }
        let mut rotation = std::mem::take(&mut self.copy_rotations[flow.index()]);
        let found = rotation.next(blocks, |to| {
            blocks.has_room_in(to, flow, Stream::RELOCATED)
                && self.may_take(to, false, blocks, true)
        });
        self.copy_rotations[flow.index()] = rotation;
        match found {
            _ if home => {}
            Some(_) => self.summary.relocated_pages[flow.index()] += 1,
            None => self.summary.stranded_copies += 1,
        }
        debug_assert!(found.is_none_or(|to| self.may_write(flow, to)), "pages go to their owner");
        found.unwrap_or(plane)
    }

    fn may_write(&self, flow: FlowId, plane: PlaneId) -> bool {
        self.sets.holds(flow.index(), self.chip_of(plane))
    }

    fn victim(&self, plane: PlaneId, blocks: &Blocks) -> Option<u32> {
        let pages = blocks.pages_per_block();
        let urgent = blocks.planes[plane].urgent;
        let first = blocks.first_block(plane);
        let (mut best, mut best_score) = (None, 0.0);
        for (index, block) in (0_u32..).zip(blocks.of_plane(plane)) {
            if block.state != BlockState::Full || !block.quiet() {
                continue;
            }
            debug_assert!(block.valid <= pages, "a block holds no more than its pages");
            let invalid = pages - block.valid;
            let mut worth = f64::from(invalid);
            let reads = self.block_reads[first.plus(index).index()];
            if reads > 0 && !urgent && self.may_leave(block, plane, blocks) {
                worth += self.config.relocation * f64::from(pages) * self.read_share(block, reads);
            }
            let score = worth / (f64::from(block.valid) + 1.0);
            if score > best_score {
                (best, best_score) = (Some(index), score);
            }
        }
        best
    }

    fn audit(&self, blocks: &Blocks) {
        self.sets.audit();
        for plane in PlaneId::first(self.geometry.planes()) {
            assert!(
                blocks.within_limit(plane, FlowId::new(0), blocks.held(plane) > 0),
                "plane {plane} is too full"
            );
        }
        for rotations in [&self.rotations, &self.copy_rotations] {
            for (flow, rotation) in rotations.iter().enumerate() {
                let covers = rotation.covers(self.geometry, &self.sets, flow);
                assert!(covers, "the rotation of flow {flow}");
            }
        }
    }

    fn chips_of(&self, flow: FlowId) -> u32 {
        self.sets.size(flow.index()) as u32
    }

    fn summary(&self, blocks: &Blocks) -> IsolationSummary {
        let mut away_pages = vec![0; self.writes.len()];
        for plane in PlaneId::first(self.geometry.planes()) {
            for block in blocks.of_plane(plane).iter().filter(|block| block.stream.is_data()) {
                let away = block.valid > 0 && !self.may_write(block.flow, plane);
                away_pages[block.flow.index()] += u64::from(block.valid) * u64::from(away);
            }
        }
        let chips = |flow| self.sets.of(flow).map(|chip| chip.get()).collect();
        IsolationSummary {
            sets: (0..self.writes.len()).map(chips).collect(),
            away_pages,
            write_amplification: (0..self.writes.len())
                .map(|flow| self.amplification(flow))
                .collect(),
            ..self.summary.clone()
        }
    }
}
