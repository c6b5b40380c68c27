//! The use of zones by a flow: which zone is written next, and by which commands.

use std::collections::VecDeque;

use flashlane_device::layout::{SECTOR_BYTES, ZoneGeometry};
use flashlane_units::RequestOp;

use crate::config::{ZoneUse, ZoneUseConfig};

/// The zones of a flow, in turn. A zone is reset before its first write, so that nobody has to know
/// what it held: a reset of an empty zone does nothing.
#[derive(Clone, Debug)]
pub(crate) struct ZoneWriter {
    kind: ZoneUse,
    geometry: ZoneGeometry,
    /// Zones that are used.
    count: u64,
    /// The zone that has its turn next.
    next: u64,
    /// Sectors after which a zone is finished; its capacity where it fills.
    finish_after: u64,
    /// Zones that are being written, in the order of their turns.
    active: VecDeque<Active>,
    /// Zones that are written at a time.
    width: usize,
}

/// A zone that is being written.
#[derive(Clone, Copy, Debug)]
struct Active {
    /// Start of the zone. Unit: sectors.
    start: u64,
    written: u64,
    /// True before its reset.
    fresh: bool,
}

/// A command: operation, first sector, sectors.
pub(crate) type ZoneCommand = (RequestOp, u64, u64);

impl ZoneWriter {
    /// The first `count` zones of a space, at least one, none of them written so far.
    pub(crate) fn new(config: &ZoneUseConfig, geometry: ZoneGeometry, count: u64) -> Self {
        let count = count.max(1);
        let finish = config.finish_after.map_or(geometry.capacity, |size| size.0 / SECTOR_BYTES);
        Self {
            kind: config.kind,
            geometry,
            count,
            next: 0,
            finish_after: finish.clamp(1, geometry.capacity),
            active: VecDeque::new(),
            width: config.active.min(u32::try_from(count).unwrap_or(u32::MAX)) as usize,
        }
    }

    /// The start of the zone that has its turn.
    fn turn(&mut self) -> u64 {
        let zone = self.next % self.count;
        self.next += 1;
        zone * self.geometry.size
    }

    /// The next command that changes zones, where it writes up to `sectors` sectors.
    pub(crate) fn draw(&mut self, sectors: u64) -> ZoneCommand {
        if self.kind == ZoneUse::Reset {
            return (RequestOp::ZoneReset, self.turn(), 0);
        }
        if self.active.len() < self.width {
            let start = self.turn();
            self.active.push_back(Active { start, written: 0, fresh: true });
        } else {
            self.active.rotate_left(1);
        }
        let (capacity, finish_after) = (self.geometry.capacity, self.finish_after);
        let zone = self.active.back_mut().expect("a zone is being written");
        let start = zone.start;
        if std::mem::take(&mut zone.fresh) {
            return (RequestOp::ZoneReset, start, 0);
        }
        if zone.written >= finish_after {
            self.active.pop_back();
            return (RequestOp::ZoneFinish, start, 0);
        }
        let sectors = sectors.min(capacity - zone.written);
        let pointer = start + zone.written;
        zone.written += sectors;
        if zone.written == capacity {
            self.active.pop_back();
        }
        match self.kind {
            ZoneUse::Write => (RequestOp::Write, pointer, sectors),
            _ => (RequestOp::ZoneAppend, start, sectors),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_units::ByteSize;

    const GEOMETRY: ZoneGeometry =
        ZoneGeometry { size: 64, capacity: 40, pages: 5, size_pages: 8, share: 2 };

    fn commands(config: &ZoneUseConfig, count: usize) -> Vec<ZoneCommand> {
        let mut writer = ZoneWriter::new(config, GEOMETRY, 4);
        (0..count).map(|_| writer.draw(16)).collect()
    }

    #[test]
    fn zones_fill_one_after_the_other() {
        use RequestOp::{Write, ZoneReset};
        let config = ZoneUseConfig { kind: ZoneUse::Write, active: 1, ..ZoneUseConfig::default() };
        let found = commands(&config, 5);
        let expected = [
            (ZoneReset, 0, 0),
            (Write, 0, 16),
            (Write, 16, 16),
            (Write, 32, 8),
            (ZoneReset, 64, 0),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn active_zones_take_turns_and_are_finished() {
        use RequestOp::{ZoneAppend, ZoneFinish, ZoneReset};
        let config = ZoneUseConfig {
            kind: ZoneUse::Append,
            active: 2,
            finish_after: Some(ByteSize(16 * 512)),
        };
        let found = commands(&config, 7);
        let expected = [
            (ZoneReset, 0, 0),
            (ZoneReset, 64, 0),
            (ZoneAppend, 0, 16),
            (ZoneAppend, 64, 16),
            (ZoneFinish, 0, 0),
            (ZoneReset, 128, 0),
            (ZoneFinish, 64, 0),
        ];
        assert_eq!(found, expected);
        let resets = ZoneUseConfig { kind: ZoneUse::Reset, ..ZoneUseConfig::default() };
        let starts: Vec<u64> = commands(&resets, 5).iter().map(|command| command.1).collect();
        assert_eq!(starts, [0, 64, 128, 192, 0]);
    }
}
