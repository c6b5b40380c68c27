//! Zones in runs without time.

use flashlane_device::ftl::untimed::{HostPage, Untimed};
use flashlane_device::interface::zones::{
    FinishKind, ZONE_HANDLES, ZoneCounts, Zones, ZonesConfig,
};
use flashlane_device::layout::{FlowSpace, Layout, ZoneGeometry};
use flashlane_device::request::Directive;
use flashlane_reading::Error;
use flashlane_units::{FlowId, Handle};
use flashlane_workload::{Planned, RequestOp};

/// The zones of a drive without time.
pub(super) struct ZonedRun {
    zones: Zones,
    geometry: ZoneGeometry,
    finish: FinishKind,
}

impl ZonedRun {
    /// `None` for a drive without zones.
    pub(super) fn new(config: &ZonesConfig, layout: &Layout, drive: &Untimed) -> Option<Self> {
        Some(Self {
            zones: Zones::new(config, layout, |lpa| drive.ftl().holds(lpa))?,
            geometry: layout.zones?,
            finish: config.finish,
        })
    }

    /// The command as the drive sees it.
    pub(super) fn admit(&mut self, flow: FlowId, planned: &Planned) -> Result<Planned, Error> {
        self.zones.admit_at_once(flow, planned).map_err(|why| why.error(flow, planned))
    }

    pub(super) fn counts(&self) -> ZoneCounts {
        self.zones.counts()
    }

    /// Carries out a command that manages a zone. Returns the time when it is done.
    pub(super) fn manage(
        &self,
        drive: &mut Untimed,
        (flow, space): (FlowId, &FlowSpace),
        planned: &Planned,
        (at, mask): (u64, u64),
    ) -> Result<u64, Error> {
        let &Planned { op, sector, sectors, directive, .. } = planned;
        let of_page = self.geometry.capacity / u64::from(self.geometry.pages);
        let (first, end) = (sector.div_ceil(of_page), (sector + u64::from(sectors)) / of_page);
        if sectors == 0 || first >= end {
            return Ok(at);
        }
        let part = |page: u64| HostPage { flow, lpa: space.lpa(page), mask, at, directive };
        let mut done = at;
        match op {
            RequestOp::ZoneReset => {
                for page in first..end {
                    drive.trim(&part(page))?;
                }
                drive.leave_zone(flow, space.lpa(first), directive.handle());
            }
            RequestOp::ZoneFinish if self.finish == FinishKind::Leave => {
                drive.leave_zone(flow, space.lpa(first), directive.handle());
            }
            RequestOp::ZoneFinish => {
                for page in first..end {
                    done = done.max(drive.write_seldom(&part(page))?);
                }
                drive.not_of_host(flow, end - first);
            }
            _ => {}
        }
        Ok(done)
    }

    /// The handle of a page that is there at the start. The zones take the handles in turn.
    pub(super) fn handle_at_start(zone: ZoneGeometry, page: u64) -> Directive {
        let nth = page / u64::from(zone.pages);
        Directive::place(Handle::at((nth % u64::from(ZONE_HANDLES)) as usize))
    }
}
