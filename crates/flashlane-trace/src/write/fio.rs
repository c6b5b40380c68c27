//! Writes fio's iologs, versions 2 and 3.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::{Compressor, OutputInfo, RecordWriter};
use crate::record::{Op, Record};

pub(super) const INFO_V3: OutputInfo = OutputInfo {
    name: "fio-v3",
    loses: "fractions of microseconds; devices are numbered as they appear; placement identifiers",
    endings: &["iolog", "fiolog"],
};

pub(super) const INFO_V2: OutputInfo = OutputInfo {
    name: "fio-v2",
    loses: "fractions of milliseconds; devices are numbered as they appear; placement identifiers",
    endings: &[],
};

/// Picoseconds in a microsecond.
const MICROSECOND_PS: u64 = 1_000_000;
/// Picoseconds in a millisecond.
const MILLISECOND_PS: u64 = 1_000_000_000;

pub(super) struct FioWriter<W: Write> {
    out: Compressor<W>,
    is_v3: bool,
    /// Names of the devices, counted from 0.
    names: Vec<String>,
    /// Names of the devices that appeared.
    files: BTreeMap<u32, String>,
    /// Latest time. Unit: that of the version.
    now: u64,
}

impl<W: Write> FioWriter<W> {
    pub(super) fn new(mut out: Compressor<W>, version: u8, names: &[String]) -> io::Result<Self> {
        writeln!(out, "fio version {version} iolog")?;
        let (is_v3, names) = (version == 3, names.to_vec());
        Ok(FioWriter { out, is_v3, names, files: BTreeMap::new(), now: 0 })
    }

    /// Writes an action on a file: `add`, `open` or `close`.
    fn say(&mut self, device: u32, action: &str) -> io::Result<()> {
        let (now, name) = (self.now, &self.files[&device]);
        match self.is_v3 {
            true => writeln!(self.out, "{now} {name} {action}"),
            false => writeln!(self.out, "{name} {action}"),
        }
    }
}

impl<W: Write + Send> RecordWriter for FioWriter<W> {
    fn write(&mut self, record: &Record) -> io::Result<bool> {
        let unit_ps = if self.is_v3 { MICROSECOND_PS } else { MILLISECOND_PS };
        let now = record.time_ps / unit_ps;
        let is_later = now > self.now;
        self.now = self.now.max(now);
        let device = record.device;
        if !self.files.contains_key(&device) {
            let name = self.names.get(device as usize).cloned();
            self.files.insert(device, name.unwrap_or_else(|| format!("device{device}")));
            self.say(device, "add")?;
            self.say(device, "open")?;
        }
        let name = &self.files[&device];
        let action = match record.op {
            Op::Read => "read",
            Op::Write => "write",
            Op::Trim => "trim",
            Op::Flush => "sync",
        };
        let (now, offset, length) = (self.now, record.offset_bytes, record.length_bytes);
        if self.is_v3 {
            writeln!(self.out, "{now} {name} {action} {offset} {length}")?;
        } else {
            if is_later {
                // fio reads a wait only if the line has a fourth field.
                writeln!(self.out, "{name} wait {now} 0")?;
            }
            writeln!(self.out, "{name} {action} {offset} {length}")?;
        }
        Ok(true)
    }

    fn finish(mut self: Box<Self>) -> io::Result<()> {
        let devices: Vec<u32> = self.files.keys().copied().collect();
        for device in devices {
            self.say(device, "close")?;
        }
        self.out.finish()
    }
}
