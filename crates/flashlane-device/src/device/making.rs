//! How a drive is put together from its configuration and the state of its flash.

use flashlane_engine::{Array, Divisor, Time};
use flashlane_units::{RequestId, SubmissionId};

use super::Device;
use super::decoding::Decoders;
use super::idle::IdleWatch;
use super::queue_pairs::{costs, entry_sizes};
use super::translation::Translation;
use super::withheld::Withheld;
use super::zoned::ZoneWork;
use crate::cache::Cache;
use crate::config::DeviceConfig;
use crate::context::Context;
use crate::flash::Flash;
use crate::flash::page_types::Programming;
use crate::ftl::Ftl;
use crate::host::Host;
use crate::interface::Interface;
use crate::interface::processors::PageSpace;
use crate::interface::zones::Zones;
use crate::layout::{Geometry, Layout};
use crate::link::Link;
use crate::scheduler::Scheduler;

/// The idle scheduler of a device.
fn scheduler(device: &DeviceConfig, geometry: Geometry, flows: usize) -> Scheduler {
    let made = Scheduler::new(
        &device.scheduler,
        &device.compat,
        &device.flash,
        device.ftl.gc.preemptible,
        geometry,
        flows,
    );
    made.with_turns(device.ftl.gc.read_wait_max().map(|span| Time(span.0)))
}

/// The class of each queue pair, from those of the flows.
fn classes_of_queues(classes: &[u8], queue_pairs: &[u16]) -> Vec<u8> {
    let of_flow = |(&class, &pairs): (&u8, &u16)| std::iter::repeat_n(class, pairs.into());
    classes.iter().zip(queue_pairs).flat_map(of_flow).collect()
}

impl Device {
    /// An idle system over a translation layer that may have been preconditioned. `queue_pairs`: by
    /// flow, at least one each.
    pub fn new(
        device: &DeviceConfig,
        classes: &[u8],
        queue_pairs: &[u16],
        layout: Layout,
        ftl: Ftl,
        cache: Cache,
        check: bool,
    ) -> Self {
        assert_eq!(classes.len(), layout.flows.len(), "each flow has a class");
        assert_eq!(classes.len(), queue_pairs.len(), "each flow has queue pairs");
        let geometry = layout.geometry;
        let space = PageSpace::of(&layout);
        let zones = Zones::new(&device.placement.zones, &layout, |lpa| ftl.holds(lpa));
        Self {
            context: Context::new(),
            horizon: Time::MAX,
            geometry,
            host: Host::new(&device.interface, queue_pairs),
            link: Link::new(&device.link, entry_sizes(&device.interface), &device.compat),
            interface: Interface::new(
                &device.interface,
                &device.compat,
                &classes_of_queues(classes, queue_pairs),
                space,
            ),
            cache,
            ftl: Translation::new(ftl),
            scheduler: scheduler(device, geometry, classes.len()),
            flash: Flash::new(
                &device.flash,
                &device.compat,
                device.ftl.gc.copyback,
                geometry,
                classes.len(),
            ),
            transaction_times: Array::of(Default::default(), classes.len()),
            ringing: None,
            observer: None,
            attended: device.interface.processors.is_some() || Withheld::any(device),
            withheld: Withheld::any(device).then(Withheld::default),
            zones: zones.map(Box::new),
            zone_work: ZoneWork::new(&device.placement.zones),
            layout,
            arriving: SubmissionId::NONE,
            completed: RequestId::NONE,
            next_look: 1,
            until_look: 1,
            looked_at: (Time::ZERO, 0),
            page_sectors: Divisor::new(geometry.sectors_per_page),
            grain: geometry.grain(),
            check,
            costs: costs(device, geometry),
            decoders: Decoders::new(device),
            idle: IdleWatch::new(device),
            stop: None,
            failure: None,
        }
        .prepared(device)
    }

    /// Turns on what flash and cache of some drives have.
    fn prepared(mut self, device: &DeviceConfig) -> Self {
        self.prepare_cache();
        if let Some(cache) = &device.slc_cache {
            let (read, program) = (cache.read_time, cache.program_time);
            let dynamic = cache.dynamic_program_time.unwrap_or(program);
            self.flash.timing_mut().allow_slc(read, program, dynamic, cache.fold_time);
        }
        if self.layout.geometry.pages_per_unit > 1 {
            self.flash.map_units(&device.flash, self.layout.geometry);
            self.ask_ftl(|ftl, _| ftl.map_large_units());
        }
        if self.decoders.is_some() {
            self.flash.decode();
        }
        if self.zones.is_some() {
            self.cache.write_back_at_once();
        }
        if device.flash.programming == Programming::TwoPass {
            let layout = self.layout.clone();
            self.ask_ftl(|ftl, _| ftl.program_twice(&device.ftl, &layout));
            self.cache.let_word_lines_wait(self.layout.geometry);
        }
        self
    }
}
