//! The processors of the controller, which run the firmware of one command after the other.

use flashlane_engine::Time;

use super::config::InterfaceConfig;
use crate::compat::CompatConfig;
use flashlane_units::RequestOp;

/// The servers that run the firmware.
#[derive(Clone)]
pub(super) struct Firmware {
    time: u64,
    write_time: u64,
    /// When each server is free.
    servers: Vec<Time>,
}

impl Firmware {
    /// Idle servers.
    pub(super) fn new(config: &InterfaceConfig, compat: &CompatConfig) -> Self {
        let instant = compat.zero_firmware_time;
        let writes = config.write_firmware_time.unwrap_or(config.firmware_time);
        Self {
            time: if instant { 0 } else { config.firmware_time.0 },
            write_time: if instant { 0 } else { writes.0 },
            servers: vec![Time::ZERO; config.firmware_servers as usize],
        }
    }

    /// Firmware time of a command. Unit: picoseconds.
    #[inline]
    pub(super) fn time_of(&self, op: RequestOp) -> u64 {
        if op == RequestOp::Write { self.write_time } else { self.time }
    }

    /// The earliest end of the firmware time of a command that is due at `ready` or later.
    #[inline]
    pub(super) fn at_least(&self, ready: Time, op: RequestOp) -> Time {
        let time = self.time_of(op);
        if time == 0 {
            return ready;
        }
        let server = match self.servers[..] {
            [only] => only,
            ref several => *several.iter().min().expect("there is a server"),
        };
        ready.max(server) + Time(time)
    }

    /// A command is due at `ready`; returns when its firmware time is over.
    #[inline]
    pub(super) fn run(&mut self, ready: Time, op: RequestOp) -> Time {
        let time = self.time_of(op);
        if time == 0 {
            return ready;
        }
        let server = match &mut self.servers[..] {
            [only] => only,
            several => several.iter_mut().min().expect("there is a server"),
        };
        *server = ready.max(*server) + Time(time);
        *server
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane_units::Span;

    #[test]
    fn the_server_that_is_free_first_takes_the_next_command() {
        let config = InterfaceConfig {
            firmware_time: Span(100),
            write_firmware_time: Some(Span(30)),
            firmware_servers: 2,
            ..InterfaceConfig::default()
        };
        let mut firmware = Firmware::new(&config, &CompatConfig::default());
        assert_eq!(firmware.run(Time(10), RequestOp::Read), Time(110));
        assert_eq!(firmware.run(Time(10), RequestOp::Write), Time(40));
        assert_eq!(firmware.at_least(Time(20), RequestOp::Flush), Time(140));
        assert_eq!(firmware.run(Time(20), RequestOp::Flush), Time(140));
        assert_eq!(firmware.run(Time(20), RequestOp::Write), Time(140));
        assert_eq!(firmware.run(Time(500), RequestOp::Write), Time(530));
    }

    #[test]
    fn without_firmware_time_no_server_is_taken() {
        let compat = CompatConfig { zero_firmware_time: true, ..CompatConfig::default() };
        let mut firmware = Firmware::new(&InterfaceConfig::default(), &compat);
        assert_eq!(firmware.run(Time(10), RequestOp::Read), Time(10));
        assert_eq!(firmware.at_least(Time(5), RequestOp::Write), Time(5));
    }
}
