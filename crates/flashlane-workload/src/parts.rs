//! A flow whose requests are of several kinds, such as a stream of large writes and small writes at
//! random, in one space.
//!
//! Each part is a synthetic source without a pace. Every request draws its part, so that the parts
//! have their shares of the bytes in the mean. A fixed rotation would keep the shares exactly, but
//! then the requests of all parts would fall into step with the blocks that they fill. Parts that
//! fill their addresses first do so one after the other, before all other requests.

use flashlane_engine::{Rng, Time};

use super::footprint::{Footprint, PageSet};
use super::size::SizeDraw;
use super::synthetic::SyntheticSource;
use super::{Directive, Planned, RequestOp, RequestSource};
use crate::config::{PartConfig, SyntheticConfig};
use flashlane_device::layout::{FlowSpace, SECTOR_BYTES};
use flashlane_reading::Error;

/// A flow of parts.
#[derive(Clone, Debug)]
pub struct PartsSource {
    /// Gives the times of requests and the end of a pass. Its own requests are not used.
    pace: SyntheticSource,
    parts: Vec<Part>,
    /// Draws the parts.
    rng: Rng,
    sectors_per_page: u64,
}

#[derive(Clone, Debug)]
struct Part {
    requests: SyntheticSource,
    /// Start of its addresses in the flow's space, and their number. Unit: sectors.
    first: u64,
    sectors: u64,
    /// Share of the requests that come from this part or from one before it.
    up_to: f64,
    directive: Directive,
    /// Sectors that still fill the part.
    unfilled: u64,
}

impl Part {
    fn new(
        config: &PartConfig,
        space: &FlowSpace,
        (page_bytes, seed): (u64, u64),
        (flow, own_seed): (u64, Option<u64>),
    ) -> Self {
        let requests = config.requests(own_seed);
        let align = (requests.alignment() / SECTOR_BYTES).max(1);
        let at = |share: f64| (space.sectors as f64 * share + 1e-6) as u64;
        let first = at(config.start.0) / align * align;
        let sectors = at(config.end.0).saturating_sub(first).max(1);
        let own = FlowSpace { sectors, ..space.clone() };
        Self {
            requests: SyntheticSource::new(&requests, &own, page_bytes, seed, flow),
            first,
            sectors,
            up_to: 0.0,
            directive: Directive::named(config.placement),
            unfilled: if config.fill_first { sectors } else { 0 },
        }
    }

    fn draw(&mut self, now: Time) -> Result<Planned, Error> {
        let planned = self.requests.next(now)?.expect("a part has no end of its own");
        self.unfilled = self.unfilled.saturating_sub(planned.sectors.into());
        let sector = self.first + planned.sector;
        Ok(Planned { sector, directive: self.directive, ..planned })
    }
}

impl PartsSource {
    /// The parts of a valid configuration. The parameters are those of [`SyntheticSource::new`].
    #[must_use]
    pub fn new(
        config: &SyntheticConfig,
        space: &FlowSpace,
        page_bytes: u64,
        seed: u64,
        flow: u64,
    ) -> Self {
        let part = |(nth, part): (u64, &PartConfig)| {
            // Each part has draws of its own, apart from those of other flows.
            let flow = flow | (nth + 1) << 32;
            Part::new(part, space, (page_bytes, seed), (flow, config.seed))
        };
        let configs = config.request_parts();
        let mut parts: Vec<Part> = (0..).zip(&*configs).map(part).collect();
        // Requests of each part, relative to those of the others.
        let weight = |part: &PartConfig| part.share / SizeDraw::new(&part.size).mean_bytes();
        let all: f64 = configs.iter().map(weight).sum();
        let mut up_to = 0.0;
        for (part, config) in parts.iter_mut().zip(&*configs) {
            up_to += weight(config) / all;
            part.up_to = up_to;
        }
        Self {
            pace: SyntheticSource::new(config, space, page_bytes, seed, flow),
            parts,
            rng: Rng::stream(config.seed.unwrap_or(seed), "workload.part", flow),
            sectors_per_page: (page_bytes / SECTOR_BYTES).max(1),
        }
    }

    /// The part of the space that the requests touch.
    #[must_use]
    pub fn footprint(&self) -> Footprint {
        let sectors = self.parts.iter().map(|part| part.first + part.sectors).max().unwrap_or(1);
        let mut pages = PageSet::new(sectors.div_ceil(self.sectors_per_page));
        for part in &self.parts {
            let last = part.first + part.sectors - 1;
            pages.insert_range(part.first / self.sectors_per_page, last / self.sectors_per_page);
        }
        Footprint::Pages(pages)
    }

    /// The part that is next.
    fn next_part(&mut self) -> &mut Part {
        let filling = self.parts.iter().position(|part| part.unfilled > 0);
        let at = filling.unwrap_or_else(|| {
            let unit = self.rng.unit();
            let behind = self.parts.iter().take_while(|part| part.up_to <= unit).count();
            // The sum of the shares may be a little below 1.
            behind.min(self.parts.len() - 1)
        });
        &mut self.parts[at]
    }
}

impl RequestSource for PartsSource {
    fn next(&mut self, now: Time) -> Result<Option<Planned>, Error> {
        let Some(Planned { arrival, op, .. }) = self.pace.next(now)? else { return Ok(None) };
        if op == RequestOp::Flush {
            return Ok(Some(Planned { arrival, op, ..Planned::default() }));
        }
        let planned = self.next_part().draw(now)?;
        Ok(Some(Planned { arrival, ..planned }))
    }

    fn restart(&mut self, now: Time) -> Result<(), Error> {
        self.pace.restart(now)
    }

    fn think_time(&self) -> Time {
        self.pace.think_time()
    }

    fn time_limit(&self) -> Option<Time> {
        self.pace.time_limit()
    }

    fn endless(&self) -> bool {
        self.pace.endless()
    }

    fn progress(&self, now: Time) -> f64 {
        self.pace.progress(now)
    }

    fn diverge(&mut self, back: u64) -> Result<(), Error> {
        self.rng = Rng::stream(self.rng.next_u64(), "workload.past", 0);
        self.parts.iter_mut().try_for_each(|part| part.requests.diverge(back))
    }

    fn closed_loop(&self) -> Option<u32> {
        self.pace.closed_loop()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_units::Handle;

    fn space() -> FlowSpace {
        FlowSpace { sectors: 80_000, pages: 10_000, ..FlowSpace::empty(<[Vec<u32>; 4]>::default()) }
    }

    const PARTS: &str = r#"
queue_depth = 4
[[parts]]
share = 3
placement = 0
end = "90%"
size = "128KiB"
address = "streaming"
[[parts]]
share = 1
placement = 1
start = "90%"
fill_first = true
"#;

    fn source() -> PartsSource {
        let config: SyntheticConfig = toml::from_str(PARTS).expect("a flow of parts");
        PartsSource::new(&config, &space(), 4096, 1, 0)
    }

    #[test]
    fn parts_keep_to_their_shares_and_addresses() {
        let mut source = source();
        let mut draw = || source.next(Time::ZERO).expect("no file").expect("no end");
        for page in 0..1_000 {
            let filled = draw();
            assert_eq!(filled.sector, 72_000 + 8 * page, "the part is filled in order first");
            assert_eq!(filled.directive, Directive::place(Handle::new(1)));
        }
        let mut sectors = [0, 0];
        for _ in 0..100_000 {
            let planned = draw();
            let end = planned.sector + u64::from(planned.sectors);
            let small = planned.directive == Directive::place(Handle::new(1));
            sectors[usize::from(small)] += u64::from(planned.sectors);
            let range = if small { 72_000..80_000 } else { 0..72_000 };
            assert!(range.contains(&planned.sector) && end <= range.end, "{planned:?}");
            assert_eq!(planned.op, RequestOp::Write);
        }
        let share = sectors[0] as f64 / (sectors[0] + sectors[1]) as f64;
        assert!((share - 0.75).abs() < 0.01, "{sectors:?}");
    }

    #[test]
    fn the_footprint_is_what_the_parts_touch() {
        let Footprint::Pages(pages) = source().footprint() else { panic!("pages are known") };
        assert_eq!(pages.count(), 10_000);
    }
}
