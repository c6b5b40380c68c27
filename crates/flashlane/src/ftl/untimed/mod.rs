//! The translation layer without time: where pages go, which blocks are emptied and how they wear, with the
//! tables and policies of the timed one and no transactions.
//!
//! A host page is mapped, placed and programmed at once. What a timed drive does side by side happens one
//! after the other: after each host page its plane collects as far as its pace says. Writes that find no room
//! wait for collection, as in a timed run.

mod collection;
mod translation;

use std::collections::VecDeque;

use flashlane_engine::{NONE, Time};

use super::Ftl;
use super::blocks::Stream;
use crate::cache::Cache;
use crate::error::Error;
use crate::layout::Layout;
use collection::Job;

/// One page of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HostPage {
    pub(crate) flow: u16,
    pub(crate) lpa: u32,
    /// Sectors of the page.
    pub(crate) mask: u64,
    /// Time of the request on the clock that orders flows.
    pub(crate) at: Time,
}

/// Work done for a flow. Unit: pages.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FlowWork {
    pub(crate) host_reads: u64,
    pub(crate) host_programs: u64,
    pub(crate) gc_programs: u64,
    pub(crate) mapping_programs: u64,
    pub(crate) zero_fill_reads: u64,
    pub(crate) mapping_reads: u64,
    pub(crate) cmt_hits: u64,
    pub(crate) cmt_misses: u64,
    pub(crate) cache_hits: u64,
    pub(crate) cache_misses: u64,
}

/// A drive that takes no time.
pub(crate) struct Untimed {
    pub(crate) ftl: Ftl,
    pub(crate) cache: Cache,
    /// By flow.
    pub(crate) work: Vec<FlowWork>,
    pub(crate) erases: u64,
    /// Moves for each host page, by plane; `u32::MAX` for as many as it takes. Unit: pages / 65536.
    paces: Vec<u32>,
    /// Blocks being emptied, by plane, in order of their start.
    jobs: Vec<VecDeque<Job>>,
    /// What collection may still move of its pace, by plane. Unit: pages / 65536.
    credit: Vec<u32>,
    /// Pages on their way out of the cache.
    leaving: Vec<(u16, u32, u64)>,
    /// Translation pages to write back, by flow and page.
    write_backs: VecDeque<(u16, u32)>,
    /// Writes go to the plane with the fewest programs.
    balances: bool,
}

impl Untimed {
    /// A drive in the state that the parts are in.
    pub(crate) fn new(ftl: Ftl, cache: Cache, flows: usize, paces: Vec<u32>) -> Self {
        let planes = ftl.blocks.planes.len();
        let jobs = vec![VecDeque::with_capacity(ftl.max_jobs as usize); planes];
        Self {
            balances: ftl.allocator.is_dynamic(),
            ftl,
            cache,
            work: vec![FlowWork::default(); flows],
            erases: 0,
            paces,
            jobs,
            credit: vec![0; planes],
            leaving: Vec::new(),
            write_backs: VecDeque::new(),
        }
    }

    /// Planes that are short of free blocks start to collect.
    pub(crate) fn start(&mut self) -> Result<(), Error> {
        for plane in 0..self.ftl.blocks.planes.len() as u32 {
            self.collect(plane);
        }
        self.settle()
    }

    /// The host writes a page.
    #[inline]
    pub(crate) fn write(&mut self, page: &HostPage) -> Result<(), Error> {
        let HostPage { flow, lpa, mask, at } = *page;
        if self.cache.is_off(flow) {
            self.program(flow, lpa, mask)?;
            return self.settle();
        }
        if self.cache.takes_writes(flow) {
            self.count_cache(flow, lpa);
        }
        self.through_cache(|cache, leaving| {
            cache.recall_write(flow, lpa, mask, at, |flow, lpa, mask| {
                leaving.push((flow, lpa, mask));
            });
        })
    }

    /// The host reads a page.
    pub(crate) fn read(&mut self, page: &HostPage) -> Result<(), Error> {
        let HostPage { flow, lpa, mask, .. } = *page;
        let on_flash = match self.ftl.pages.ppa(lpa) {
            NONE => 0,
            _ => self.ftl.pages.mask(lpa),
        };
        if !self.cache.is_off(flow) {
            self.count_cache(flow, lpa);
            let mut from_flash = false;
            self.through_cache(|cache, leaving| {
                from_flash = cache.recall_read(flow, lpa, mask, on_flash, |flow, lpa, mask| {
                    leaving.push((flow, lpa, mask));
                });
            })?;
            if !from_flash {
                return Ok(());
            }
        }
        self.look_up(flow, lpa);
        if on_flash & mask != 0 || self.ftl.unwritten_reads_flash {
            self.work[flow as usize].host_reads += 1;
        } else {
            self.work[flow as usize].zero_fill_reads += 1;
        }
        self.settle()
    }

    /// The host gives up sectors of a page.
    pub(crate) fn trim(&mut self, page: &HostPage) -> Result<(), Error> {
        let HostPage { flow, lpa, mask, .. } = *page;
        self.cache.recall_trim(flow, lpa, mask);
        let ppa = self.ftl.pages.ppa(lpa);
        if ppa == NONE {
            return Ok(());
        }
        let left = self.ftl.pages.mask(lpa) & !mask;
        if left == 0 {
            self.ftl.pages.forget(lpa);
            self.invalidate(ppa);
        } else {
            self.ftl.pages.set_mask(lpa, left);
        }
        self.mapping_changed(flow, lpa);
        self.settle()
    }

    /// Everything that a flow wrote goes to flash.
    pub(crate) fn flush(&mut self, flow: u16) -> Result<(), Error> {
        self.through_cache(|cache, leaving| {
            cache.recall_flush(flow, |flow, lpa, mask| leaving.push((flow, lpa, mask)));
        })
    }

    fn count_cache(&mut self, flow: u16, lpa: u32) {
        let work = &mut self.work[flow as usize];
        if self.cache.has(flow, lpa) {
            work.cache_hits += 1;
        } else {
            work.cache_misses += 1;
        }
    }

    /// Lets the cache do something, and programs what leaves it.
    fn through_cache(
        &mut self,
        act: impl FnOnce(&mut Cache, &mut Vec<(u16, u32, u64)>),
    ) -> Result<(), Error> {
        let mut leaving = std::mem::take(&mut self.leaving);
        act(&mut self.cache, &mut leaving);
        for (flow, lpa, mask) in leaving.drain(..) {
            self.program(flow, lpa, mask)?;
        }
        self.leaving = leaving;
        self.settle()
    }

    /// A host page goes to flash, past the cache.
    #[inline]
    fn program(&mut self, flow: u16, lpa: u32, mask: u64) -> Result<(), Error> {
        self.look_up(flow, lpa);
        let old = self.ftl.pages.ppa(lpa);
        let mut held = mask;
        if mask != self.ftl.pages.full_mask() && old != NONE {
            let before = self.ftl.pages.mask(lpa);
            // The part of the page that the write does not bring is read first.
            self.work[flow as usize].host_reads += u64::from(before & !mask != 0);
            held |= before;
        }
        let (plane, ppa) = loop {
            let plane = self.ftl.allocator.plane(flow, lpa, old, &self.ftl.blocks);
            match self.ftl.blocks.allocate_at_once(plane, flow, Stream::Host, false) {
                Some(ppa) => break (plane, ppa),
                None => self.make_room(plane)?,
            }
        };
        if old != NONE {
            // Collection may have moved the page.
            self.invalidate(self.ftl.pages.ppa(lpa));
        }
        self.ftl.pages.place(lpa, ppa);
        self.ftl.pages.set_mask(lpa, held);
        self.work[flow as usize].host_programs += 1;
        self.programmed(plane);
        self.mapping_changed(flow, lpa);
        self.follow(plane);
        Ok(())
    }

    /// A physical page holds nothing valid any more.
    #[inline]
    fn invalidate(&mut self, ppa: u32) {
        self.ftl.pages.set_lpa(ppa, NONE);
        self.ftl.blocks.invalidate(self.ftl.blocks.block_of(ppa));
    }

    /// Keeps the balance of planes, where it decides.
    #[inline]
    fn programmed(&mut self, plane: u32) {
        if self.balances {
            let planes = &mut self.ftl.blocks.planes;
            planes[plane as usize].programs += 1;
            if planes[plane as usize].programs > u32::MAX / 2 {
                let fewest = planes.iter().map(|plane| plane.programs).min().unwrap_or(0);
                planes.iter_mut().for_each(|plane| plane.programs -= fewest);
            }
        }
    }

    /// Planes whose collection keeps up whatever the load.
    pub(crate) fn keeps_up(&self) -> impl Iterator<Item = u32> {
        (0..).zip(&self.paces).filter(|(_, pace)| **pace == u32::MAX).map(|(plane, _)| plane)
    }

    /// Checks everything that must hold between two requests.
    pub(crate) fn audit(&self, layout: &Layout) {
        self.ftl.audit_pages(layout);
        self.ftl.audit_mapping();
        self.cache.audit_slots();
        self.audit_jobs();
        assert!(self.write_backs.is_empty(), "every translation page is written back");
    }
}
