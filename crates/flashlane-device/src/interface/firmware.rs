//! The processors of the controller, which run the firmware of one command after the other.

use flashlane_engine::Time;

use super::config::InterfaceConfig;
use super::processors::{OwnWork, PageSpace, ProcessorReading, Processors};
use crate::compat::CompatConfig;
use crate::request::Request;
use flashlane_units::RequestOp;

/// The servers that run the firmware.
#[derive(Clone)]
pub(super) struct Firmware {
    /// Firmware time of every command, where the processors are not modelled.
    time: u64,
    write_time: u64,
    /// Firmware time of each page of a command after the first.
    page_time: u64,
    sectors_per_page: u32,
    /// Time at which each server is free.
    servers: Vec<Time>,
    processors: Option<Box<Processors>>,
    /// Firmware time of the last command, with a model of the processors. Unit: picoseconds.
    last: u64,
}

impl Firmware {
    /// Idle servers.
    pub(super) fn new(config: &InterfaceConfig, compat: &CompatConfig, space: PageSpace) -> Self {
        let constant = !compat.zero_firmware_time && config.processors.is_none();
        let writes = config.write_firmware_time.unwrap_or(config.firmware_time);
        let servers = config.processors.as_ref().map_or(config.firmware_servers, |p| p.cores);
        let model = config.processors.as_ref();
        Self {
            time: if constant { config.firmware_time.0 } else { 0 },
            write_time: if constant { writes.0 } else { 0 },
            page_time: config.page_firmware_time.filter(|_| constant).map_or(0, |time| time.0),
            sectors_per_page: space.sectors_per_page,
            servers: vec![Time::ZERO; servers as usize],
            processors: model.map(|config| Box::new(Processors::new(config, space))),
            last: 0,
        }
    }

    /// True if the processors are modelled.
    #[inline(always)]
    pub(super) fn is_modelled(&self) -> bool {
        self.processors.is_some()
    }

    /// Firmware time of the last command, with a model of the processors. Unit: picoseconds.
    pub(super) fn last(&self) -> u64 {
        self.last
    }

    /// Work of the processors so far, if they are modelled.
    pub(super) fn done(&self) -> ProcessorReading {
        self.processors.as_ref().map_or_else(Default::default, |processors| processors.done)
    }

    /// Firmware time of a command without a model of the processors. Unit: picoseconds.
    #[inline(always)]
    pub(super) fn time_of(&self, op: RequestOp, sectors: u32) -> u64 {
        let time = if op == RequestOp::Write { self.write_time } else { self.time };
        match self.page_time {
            0 => time,
            _ => time.saturating_add(self.time_of_further(op, sectors)),
        }
    }

    /// Firmware time of the pages of a command after the first.
    #[cold]
    fn time_of_further(&self, op: RequestOp, sectors: u32) -> u64 {
        match op {
            RequestOp::Read | RequestOp::Write => {
                let further = u64::from(sectors.saturating_sub(1) / self.sectors_per_page);
                further.saturating_mul(self.page_time)
            }
            _ => 0,
        }
    }

    /// The earliest end of the firmware time of a command that is due at `ready` or later.
    #[inline(always)]
    pub(super) fn at_least(&self, ready: Time, request: &Request) -> Time {
        if self.is_modelled() {
            return self.modelled_at_least(ready, request);
        }
        self.end_of(ready, self.time_of(request.op, request.sectors))
    }

    #[cold]
    fn modelled_at_least(&self, ready: Time, request: &Request) -> Time {
        let time = self.processors.as_ref().map_or(0, |processors| processors.at_least(request));
        self.end_of(ready, time)
    }

    /// The end of a time that begins at `ready`, or when a server is free.
    #[inline(always)]
    fn end_of(&self, ready: Time, time: u64) -> Time {
        if time == 0 {
            return ready;
        }
        let server = match self.servers[..] {
            [only] => only,
            ref several => *several.iter().min().expect("there is a server"),
        };
        ready.max(server) + Time(time)
    }

    /// Runs the firmware of a command that is due at `ready`. Returns its end.
    #[inline(always)]
    pub(super) fn run(&mut self, ready: Time, request: &Request) -> Time {
        if self.is_modelled() {
            return self.run_modelled(ready, request);
        }
        self.take(ready, self.time_of(request.op, request.sectors))
    }

    #[cold]
    fn run_modelled(&mut self, ready: Time, request: &Request) -> Time {
        let processors = self.processors.as_mut().expect("the processors are modelled");
        self.last = processors.command(request);
        self.take(ready, self.last)
    }

    /// Runs firmware for the drive's own work, which waits for nothing. Returns its time. Unit:
    /// picoseconds.
    #[cold]
    pub(super) fn run_own(&mut self, now: Time, work: OwnWork) -> u64 {
        let Some(processors) = &mut self.processors else { return 0 };
        let time = processors.own(work);
        self.take(now, time);
        time
    }

    /// Takes the server that is free first for a time. Returns the end of that time.
    #[inline(always)]
    fn take(&mut self, ready: Time, time: u64) -> Time {
        debug_assert!(!self.servers.is_empty(), "somebody runs the firmware");
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
    use crate::interface::processors::{ProcessorsConfig, request};
    use flashlane_units::Span;

    fn firmware(config: &InterfaceConfig, compat: &CompatConfig) -> Firmware {
        let space = PageSpace { sectors_per_page: 8, first_lpas: vec![0] };
        Firmware::new(config, compat, space)
    }

    fn command(op: RequestOp) -> Request {
        request(op, 0, 8)
    }

    #[test]
    fn work_of_the_drive_itself_holds_commands_up() {
        let processors = ProcessorsConfig { cores: 1, ..ProcessorsConfig::default() };
        let config = InterfaceConfig { processors: Some(processors), ..InterfaceConfig::default() };
        let mut firmware = firmware(&config, &CompatConfig::default());
        // 500 cycles, a page of 100, and a look-up of 50 that misses: 100 ns more.
        assert_eq!(firmware.run(Time::ZERO, &command(RequestOp::Read)), Time(750_000));
        assert_eq!(firmware.last(), 750_000);
        assert_eq!(firmware.run_own(Time(10), OwnWork::Decision), 100_000);
        assert_eq!(firmware.at_least(Time(20), &command(RequestOp::Read)), Time(1_500_000));
        assert_eq!(firmware.run(Time(20), &command(RequestOp::Read)), Time(1_500_000));
        assert_eq!(firmware.last(), 650_000, "its own work only");
    }

    #[test]
    fn the_server_that_is_free_first_takes_the_next_command() {
        let config = InterfaceConfig {
            firmware_time: Span(100),
            write_firmware_time: Some(Span(30)),
            firmware_servers: 2,
            ..InterfaceConfig::default()
        };
        let mut firmware = firmware(&config, &CompatConfig::default());
        assert_eq!(firmware.run(Time(10), &command(RequestOp::Read)), Time(110));
        assert_eq!(firmware.run(Time(10), &command(RequestOp::Write)), Time(40));
        assert_eq!(firmware.at_least(Time(20), &command(RequestOp::Flush)), Time(140));
        assert_eq!(firmware.run(Time(20), &command(RequestOp::Flush)), Time(140));
        assert_eq!(firmware.run(Time(20), &command(RequestOp::Write)), Time(140));
        assert_eq!(firmware.run(Time(500), &command(RequestOp::Write)), Time(530));
    }

    #[test]
    fn each_page_after_the_first_adds_its_time() {
        let config = InterfaceConfig {
            firmware_time: Span(100),
            page_firmware_time: Some(Span(7)),
            ..InterfaceConfig::default()
        };
        let of = |op, sectors| {
            firmware(&config, &CompatConfig::default()).run(Time::ZERO, &request(op, 0, sectors)).0
        };
        assert_eq!([1, 8, 9, 64].map(|sectors| of(RequestOp::Read, sectors)), [100, 100, 107, 149]);
        assert_eq!(of(RequestOp::Write, 16), 107);
        let longest =
            InterfaceConfig { page_firmware_time: Some(Span(u64::MAX / 4)), ..config.clone() };
        let mut longest = firmware(&longest, &CompatConfig::default());
        let end = longest.run(Time::ZERO, &request(RequestOp::Read, 0, 64));
        assert_eq!(end, Time::MAX, "it ends at the end of time");
        assert_eq!([RequestOp::Trim, RequestOp::Flush].map(|op| of(op, 64)), [100, 100]);
    }

    #[test]
    fn without_firmware_time_no_server_is_taken() {
        let compat = CompatConfig { zero_firmware_time: true, ..CompatConfig::default() };
        let mut firmware = firmware(&InterfaceConfig::default(), &compat);
        assert_eq!(firmware.run(Time(10), &command(RequestOp::Read)), Time(10));
        assert_eq!(firmware.at_least(Time(5), &command(RequestOp::Write)), Time(5));
    }
}
