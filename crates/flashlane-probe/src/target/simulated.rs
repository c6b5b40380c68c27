//! A drive of the simulator, seen from outside: only commands and completions.

use std::collections::VecDeque;

use flashlane::config::DeviceConfig;
use flashlane::drive::{Command, Completion, Drive, Tenant};
use flashlane_engine::Time;
use sha2::{Digest, Sha256};

use super::{Counters, Done, Facts, Failure, Kind, Operation, Target};

const SECTOR: u64 = 512;

/// A simulated drive with one tenant.
pub struct Simulated {
    config: DeviceConfig,
    seed: u64,
    /// The drive; `None` only for a moment while another one is made.
    drive: Option<Drive>,
    /// True if the drive took requests.
    used: bool,
    facts: Facts,
    counters: bool,
    completions: Vec<Completion>,
    done: VecDeque<Done>,
}

impl Simulated {
    /// A drive with this configuration, after its preconditioning. With `counters` it reports the
    /// data that it wrote, as drives with SMART counters do.
    ///
    /// # Errors
    /// Fails if the configuration is refused.
    pub fn new(config: &DeviceConfig, seed: u64, counters: bool) -> Result<Self, Failure> {
        let drive = drive(config, seed)?;
        let facts = Facts {
            name: format!("simulated:{} {}", config.name, digest(config)),
            kind: Kind::Simulated,
            bytes: drive.sectors(0) * SECTOR,
            block: SECTOR as u32,
            longest: 16 << 20,
            deepest: config.interface.queue_depth.saturating_sub(1).clamp(1, 65_535),
        };
        let (completions, done) = Default::default();
        let (config, drive, used) = (config.clone(), Some(drive), false);
        Ok(Self { config, seed, drive, used, facts, counters, completions, done })
    }

    fn drive(&mut self) -> &mut Drive {
        self.drive.as_mut().expect("it was made")
    }

    fn take(&mut self) {
        let ended = |one: &Completion| Done { cookie: one.cookie, at: one.at() };
        self.done.extend(self.completions.iter().map(ended));
        self.completions.clear();
    }
}

/// A digest that distinguishes configurations with equal names.
fn digest(config: &DeviceConfig) -> String {
    let text = serde_json::to_vec(config).expect("a configuration is made of plain values");
    Sha256::digest(text).iter().take(4).map(|byte| format!("{byte:02x}")).collect()
}

fn drive(config: &DeviceConfig, seed: u64) -> Result<Drive, Failure> {
    Ok(Drive::new(config, &[Tenant::named("probe")], seed)?)
}

impl Target for Simulated {
    fn facts(&self) -> &Facts {
        &self.facts
    }

    fn now(&mut self) -> Time {
        self.drive().now()
    }

    fn submit(
        &mut self,
        operation: Operation,
        offset: u64,
        bytes: u32,
        cookie: u64,
    ) -> Result<Time, Failure> {
        let (sector, sectors) = (offset / SECTOR, bytes / SECTOR as u32);
        let command = match operation {
            Operation::Read => Command::read(sector, sectors),
            Operation::Write => Command::write(sector, sectors),
            Operation::Trim => Command::trim(sector, sectors),
        };
        self.used = true;
        let drive = self.drive();
        let now = drive.now();
        drive.submit(now, 0, command, cookie).map_err(|refused| {
            let reason = refused.to_string();
            Failure::Request { operation, offset, bytes, reason }
        })?;
        Ok(now)
    }

    fn wait(&mut self) -> Result<Done, Failure> {
        while self.done.is_empty() {
            let drive = self.drive.as_mut().expect("it was made");
            let stepped = drive.step(&mut self.completions)?;
            assert!(stepped.is_some(), "a drive with outstanding commands has events left");
            self.take();
        }
        Ok(self.done.pop_front().expect("it is not empty"))
    }

    fn pause_until(&mut self, at: Time) -> Result<(), Failure> {
        let drive = self.drive.as_mut().expect("it was made");
        if at > drive.now() {
            drive.advance(at, &mut self.completions)?;
        }
        self.take();
        Ok(())
    }

    fn reset(&mut self) -> Result<(), Failure> {
        if std::mem::take(&mut self.used) {
            // The old drive is dropped first, because there may be no memory for two.
            self.drive = None;
            self.drive = Some(drive(&self.config, self.seed)?);
        }
        self.done.clear();
        Ok(())
    }

    fn counters(&mut self) -> Option<Counters> {
        if !self.counters {
            return None;
        }
        let page = self.config.flash.page_size.0;
        let summary = self.drive().summary().ok()?;
        let flash = &summary.flash;
        let programs = flash.user_programs + flash.gc_programs + flash.mapping_programs;
        let host_written = summary.flows[0].bytes.write;
        Some(Counters { host_written, media_written: programs * page })
    }
}
