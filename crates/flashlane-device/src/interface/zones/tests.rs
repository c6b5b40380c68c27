use super::*;
use crate::config::sample::small_drive;
use crate::config::{PlacementMode, TenantShape};
use crate::ftl::superblocks::Superblock;
use crate::request::Directive;
use flashlane_units::{ByteSize, RequestOp};

const PAGE: u64 = 8;

/// Zones of a small drive with one flow, two of which may be open and three active.
fn zones(set: impl Fn(&mut ZonesConfig)) -> Zones {
    let mut device = small_drive();
    device.ftl.superblock = Superblock::Drive;
    device.placement.mode = PlacementMode::Zones;
    let config = &mut device.placement.zones;
    (config.max_open, config.max_active) = (2, 3);
    set(config);
    let shape = TenantShape { lists: [None; 4], handle: Handle::default() };
    let layout = Layout::divide(&device, &[shape]);
    Zones::new(&device.placement.zones, &layout, |_| false).expect("a drive with zones")
}

fn command(op: RequestOp, sector: u64, sectors: u64) -> Planned {
    Planned { op, sector, sectors: sectors as u32, ..Planned::default() }
}

impl Zones {
    fn run(&mut self, op: RequestOp, sector: u64, sectors: u64) -> Result<Planned, ZoneRefusal> {
        let outcome = self.admit(FlowId::new(0), &command(op, sector, sectors));
        self.audit();
        outcome
    }

    fn state(&self, zone: usize) -> (ZoneState, u64) {
        let report = self.report(FlowId::new(0))[zone];
        (report.state, report.pointer - report.start)
    }
}

#[test]
fn writes_go_to_the_write_pointer_and_appends_find_it() {
    let mut zones = zones(|_| {});
    let size = zones.size;
    assert!(zones.run(RequestOp::Write, size, PAGE).is_ok());
    let appended = zones.run(RequestOp::ZoneAppend, size, 2 * PAGE).expect("there is room");
    assert_eq!((appended.op, appended.sector), (RequestOp::Write, size + PAGE));
    assert_ne!(appended.directive, Directive::NONE, "a zone names its handle");
    let refused = zones.run(RequestOp::Write, size, PAGE);
    assert_eq!(refused, Err(ZoneRefusal::Pointer { zone: 1, pointer: size + 3 * PAGE }));
    let refused = zones.run(RequestOp::ZoneAppend, size + PAGE, PAGE);
    assert_eq!(refused, Err(ZoneRefusal::Start { zone: 1, start: size }));
    let refused = zones.run(RequestOp::ZoneAppend, size, PAGE + 1);
    assert_eq!(refused, Err(ZoneRefusal::Block { sectors: PAGE as u32 }));
    assert_eq!(zones.run(RequestOp::Trim, size, PAGE), Err(ZoneRefusal::Trim));
    let left = zones.capacity - 3 * PAGE;
    let refused = zones.run(RequestOp::ZoneAppend, size, left + PAGE);
    assert_eq!(refused, Err(ZoneRefusal::Boundary { zone: 1, end: size + zones.capacity }));
    assert!(zones.run(RequestOp::ZoneAppend, size, left).is_ok());
    assert_eq!(zones.state(1), (ZoneState::Full, zones.capacity));
    assert_eq!(zones.run(RequestOp::Write, size, PAGE), Err(ZoneRefusal::Full { zone: 1 }));
    assert_eq!((zones.counts.appends, zones.counts.refused), (2, 6));
}

#[test]
fn open_and_active_zones_are_bounded() {
    let mut zones = zones(|_| {});
    let start = |zone: u64| zone * zones.size;
    let starts = [0, 1, 2, 3].map(start);
    for sector in starts.into_iter().take(3) {
        assert!(zones.run(RequestOp::Write, sector, PAGE).is_ok());
    }
    // The third one closed the first.
    assert_eq!(zones.state(0), (ZoneState::Closed, PAGE));
    assert_eq!(zones.state(2), (ZoneState::ImplicitlyOpen, PAGE));
    let refused = zones.run(RequestOp::ZoneOpen, starts[3], 0);
    assert_eq!(refused, Err(ZoneRefusal::TooManyActive { max: 3 }));
    for sector in [starts[0], starts[2]] {
        assert!(zones.run(RequestOp::ZoneOpen, sector, 0).is_ok());
    }
    assert_eq!(zones.state(1), (ZoneState::Closed, PAGE));
    let refused = zones.run(RequestOp::Write, starts[1] + PAGE, PAGE);
    assert_eq!(refused, Err(ZoneRefusal::TooManyOpen { max: 2 }), "no command opened it");
    assert_eq!(zones.state(1), (ZoneState::Closed, PAGE), "nothing has changed");
    let refused = zones.run(RequestOp::ZoneClose, starts[3], 0);
    assert_eq!(refused, Err(ZoneRefusal::State { zone: 3, state: ZoneState::Empty }));
    assert!(zones.run(RequestOp::ZoneClose, starts[2], 0).is_ok());
    assert!(zones.run(RequestOp::Write, starts[1] + PAGE, PAGE).is_ok());
    let finished = zones.run(RequestOp::ZoneFinish, starts[1], 0).expect("it is active");
    let left = zones.capacity - 2 * PAGE;
    assert_eq!((finished.sector, u64::from(finished.sectors)), (starts[1] + 2 * PAGE, left));
    assert!(zones.run(RequestOp::ZoneOpen, starts[3], 0).is_ok(), "one was active less");
    assert_eq!(zones.counts.active_max, 3);
}

#[test]
fn resets_and_finishes_name_what_there_is_to_do() {
    let mut zones = zones(|_| {});
    let nothing = |planned: Result<Planned, ZoneRefusal>| planned.expect("allowed").sectors == 0;
    assert!(nothing(zones.run(RequestOp::ZoneReset, 0, 0)), "the zone is empty");
    assert!(nothing(zones.run(RequestOp::ZoneFinish, 0, 0)), "nothing was written");
    assert_eq!(zones.state(0), (ZoneState::Full, zones.capacity));
    assert!(nothing(zones.run(RequestOp::ZoneFinish, 0, 0)), "the zone is full");
    let reset = zones.run(RequestOp::ZoneReset, 0, 0).expect("allowed");
    assert_eq!(u64::from(reset.sectors), zones.capacity);
    assert_eq!(zones.state(0), (ZoneState::Empty, 0));
    let append = zones.run(RequestOp::ZoneAppend, 0, PAGE).expect("allowed");
    let (flow, handle) = (FlowId::new(0), append.directive.handle());
    let life = zones.life_of(flow, &append);
    assert!(zones.is_current(flow, 0, life) && zones.awaits(life));
    zones.run(RequestOp::ZoneReset, 0, 0).expect("allowed");
    assert!(!zones.is_current(flow, 0, life), "what was on its way is given up");
    assert!(zones.awaits(life));
    zones.entered(life);
    assert!(!zones.awaits(life));
    let again = zones.run(RequestOp::ZoneAppend, 0, PAGE).expect("allowed");
    assert_ne!(again.directive.handle(), handle, "handles come back late");
    assert_eq!(zones.counts.resets, 2);
}

#[test]
fn sectors_of_a_random_write_area_are_written_in_any_order() {
    let mut zones = zones(|config| {
        config.random_write_area = ByteSize(16 * 4096);
        config.random_write_granularity = ByteSize(4 * 4096);
    });
    zones.run(RequestOp::ZoneOpen, 0, 0).expect("allowed");
    for page in [3, 0, 15, 3] {
        assert!(zones.run(RequestOp::Write, page * PAGE, PAGE).is_ok(), "page {page}");
        assert_eq!(zones.state(0), (ZoneState::ExplicitlyOpen, 0));
    }
    let refused = zones.run(RequestOp::ZoneAppend, 0, PAGE);
    let state = ZoneState::ExplicitlyOpen;
    assert_eq!(refused, Err(ZoneRefusal::State { zone: 0, state }), "appends need an order");
    // Behind the area: the pointer moves by four pages at a time.
    assert!(zones.run(RequestOp::Write, 17 * PAGE, PAGE).is_ok());
    assert_eq!(zones.state(0).1, 4 * PAGE);
    let refused = zones.run(RequestOp::Write, 3 * PAGE, PAGE);
    assert_eq!(refused, Err(ZoneRefusal::Pointer { zone: 0, pointer: 4 * PAGE }), "committed");
    let refused = zones.run(RequestOp::Write, 36 * PAGE, PAGE);
    assert_eq!(refused, Err(ZoneRefusal::Pointer { zone: 0, pointer: 4 * PAGE }), "too far");
    let finished = zones.run(RequestOp::ZoneFinish, 0, 0).expect("allowed");
    assert_eq!(finished.sector, 18 * PAGE, "what was written stays");
    assert_eq!(zones.run(RequestOp::ZoneAppend, 0, PAGE), Err(ZoneRefusal::Full { zone: 0 }));
    assert_eq!(zones.area(FlowId::new(0), 0), Some((0, zones.capacity)), "all is committed");
    zones.run(RequestOp::ZoneReset, 0, 0).expect("allowed");
    assert_eq!(zones.area(FlowId::new(0), 0), None);
}
