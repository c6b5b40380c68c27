//! Configuration of programs, cores and hosts.

use std::path::{Path, PathBuf};

use flashlane::Error;
use flashlane::config::units::{ByteSize, Ratio, Span};
use serde::{Deserialize, Serialize};

/// A file that describes programs and their drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExecConfig {
    /// Preset or device file; a path is relative to this file.
    pub device: String,
    /// Keys of the device that are changed: `"interface.queue_fetch_size=16"`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Seed of all random draws.
    #[serde(default = "one")]
    pub seed: u64,
    /// The cores.
    #[serde(default)]
    pub core: CoreConfig,
    /// The hosts; a program may have its own values.
    #[serde(default)]
    pub host: HostConfig,
    /// Limits at which a run is ended.
    #[serde(default)]
    pub limits: Limits,
    /// The programs.
    #[serde(rename = "program")]
    pub programs: Vec<ProgramConfig>,
}

fn one() -> u64 {
    1
}

/// A core. Every program has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CoreConfig {
    /// Clock rate. Unit: hertz. Range: 1 to 10^11.
    pub hertz: u64,
    /// Instructions per cycle. It is rounded to thousandths. Range: 0.001 to 100.
    pub ipc: f64,
    /// Instructions that a thread may execute before another ready thread gets the core.
    pub slice: u64,
}

impl Default for CoreConfig {
    fn default() -> Self {
        Self { hertz: 3_000_000_000, ipc: 1.0, slice: 3_000_000 }
    }
}

/// The model of a program's host: page cache and file system.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HostConfig {
    /// Size of the page cache.
    pub cache: ByteSize,
    /// Dirty share of the cache from which pages are written back.
    pub dirty_background: Ratio,
    /// Dirty share of the cache at which writers wait.
    pub dirty_limit: Ratio,
    /// Age from which a dirty page is written back.
    pub dirty_age: Span,
    /// Requests of the background write-back that are under way at a time.
    pub writeback_depth: u32,
    /// Longest request.
    pub request: ByteSize,
    /// Longest read-ahead; `"0B"` for none.
    pub read_ahead: ByteSize,
    /// Space of a file grows by this much.
    pub extent: ByteSize,
    /// `fsync` makes the drive flush its cache.
    pub barrier: bool,
    /// The space of removed files is trimmed.
    pub discard: bool,
    /// Instructions of the kernel for a system call.
    pub call_instructions: u64,
    /// Instructions of the kernel for a page of 4 KiB that is copied from or to the page cache.
    pub page_instructions: u64,
    /// Memory of the program.
    pub memory: ByteSize,
}

impl Default for HostConfig {
    fn default() -> Self {
        Self {
            cache: ByteSize(256 << 20),
            dirty_background: Ratio(0.1),
            dirty_limit: Ratio(0.2),
            dirty_age: Span(1_000_000_000_000),
            writeback_depth: 32,
            request: ByteSize(128 << 10),
            read_ahead: ByteSize(128 << 10),
            extent: ByteSize(64 << 10),
            barrier: true,
            discard: false,
            call_instructions: 2000,
            page_instructions: 1000,
            memory: ByteSize(256 << 20),
        }
    }
}

/// Limits at which a run is ended, because it does not seem to end.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Limits {
    /// Most instructions of a program.
    pub instructions: u64,
    /// Longest simulated time.
    pub time: Span,
}

impl Default for Limits {
    fn default() -> Self {
        Self { instructions: 100_000_000_000, time: Span(1_000_000_000_000_000) }
    }
}

/// A program: a tenant of the drive.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProgramConfig {
    /// Name of the tenant.
    pub name: String,
    /// The executable: 64-bit RISC-V, linked statically. A path is relative to this file.
    pub elf: PathBuf,
    /// Arguments, without the program's own name.
    #[serde(default)]
    pub args: Vec<String>,
    /// The program's own host. Missing keys are those of all programs.
    #[serde(default)]
    pub host: Option<HostConfig>,
    /// Placement identifier of the program's writes, on a drive with `placement`.
    #[serde(default)]
    pub placement: Option<u16>,
    /// Placement identifiers of files by their write hints, instead of `placement`.
    #[serde(default)]
    pub hints: Hints,
    /// Files of the simulated host that are results: written below the output folder.
    #[serde(default)]
    pub keep: Vec<String>,
}

impl ProgramConfig {
    /// A program with the host of all programs, which keeps no files and names no placement.
    #[must_use]
    pub fn of(name: String, elf: PathBuf, args: Vec<String>) -> Self {
        let (host, keep, placement, hints) = Default::default();
        Self { name, elf, args, host, keep, placement, hints }
    }
}

/// Placement identifiers of files by the lifetime of their data, as a program tells it by `fcntl`
/// with `F_SET_RW_HINT`. A lifetime without an identifier has that of the program.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Hints {
    /// `RWH_WRITE_LIFE_SHORT`.
    pub short: Option<u16>,
    /// `RWH_WRITE_LIFE_MEDIUM`.
    pub medium: Option<u16>,
    /// `RWH_WRITE_LIFE_LONG`.
    pub long: Option<u16>,
    /// `RWH_WRITE_LIFE_EXTREME`.
    pub extreme: Option<u16>,
}

impl Hints {
    /// The largest value of a hint; 0 and 1 tell nothing.
    pub(crate) const MOST: u64 = 5;

    /// Every lifetime with its identifier.
    pub(crate) fn all(&self) -> [(&'static str, Option<u16>); 4] {
        let Self { short, medium, long, extreme } = *self;
        [("short", short), ("medium", medium), ("long", long), ("extreme", extreme)]
    }

    /// The identifier of the files with a hint.
    pub(crate) fn identifier(&self, hint: u64) -> Option<u16> {
        let place = usize::try_from(hint).ok()?.checked_sub(2)?;
        self.all().get(place)?.1
    }
}

impl ExecConfig {
    /// A configuration without programs, with the defaults of a file.
    #[must_use]
    pub fn of(device: String) -> Self {
        Self {
            device,
            set: Vec::new(),
            seed: one(),
            core: CoreConfig::default(),
            host: HostConfig::default(),
            limits: Limits::default(),
            programs: Vec::new(),
        }
    }

    /// Reads a configuration; `file` names it in messages, and paths are relative to its folder.
    ///
    /// # Errors
    /// [`Error::Config`] with file, line or key, what was found and what is allowed.
    pub fn from_toml(text: &str, file: &Path) -> Result<Self, Error> {
        let name = file.display();
        let mut config: Self = toml::from_str(text).map_err(|error| {
            let before = |span: std::ops::Range<usize>| text.get(..span.start).unwrap_or(text);
            let line = error.span().map_or(1, |span| before(span).matches('\n').count() + 1);
            Error::config(format!("{name}:{line}"), error.message().replace('\n', " "))
        })?;
        config.inherit(text);
        let folder = file.parent().unwrap_or(Path::new(""));
        for program in &mut config.programs {
            program.elf = folder.join(&program.elf);
        }
        if config.device.contains(['/', '\\', '.']) {
            config.device = folder.join(&config.device).display().to_string();
        }
        config.check(&name.to_string())?;
        Ok(config)
    }

    /// Fills missing keys of a program's host from the table of all hosts. `text` was read before,
    /// so it is valid, and so is every mixture of two of its tables.
    fn inherit(&mut self, text: &str) {
        let table: toml::Table = toml::from_str(text).expect("it was read before");
        let all = table.get("host").and_then(toml::Value::as_table).cloned().unwrap_or_default();
        let programs = table.get("program").and_then(toml::Value::as_array).into_iter().flatten();
        for (program, table) in self.programs.iter_mut().zip(programs) {
            let own = table.get("host").and_then(toml::Value::as_table);
            program.host = own.map(|own| {
                let mut mixed = all.clone();
                mixed.extend(own.clone());
                mixed.try_into().expect("both tables were read before")
            });
        }
    }

    /// Checks all values; `place` names the configuration in messages.
    ///
    /// # Errors
    /// [`Error::Config`]: the first problem.
    pub fn check(&self, place: &str) -> Result<(), Error> {
        let refuse = |key: &str, found: String, allowed: &str| {
            Err(Error::config(
                format!("{place}: {key}"),
                format!("found {found}, allowed: {allowed}"),
            ))
        };
        let core = &self.core;
        if !(1..=100_000_000_000).contains(&core.hertz) {
            return refuse("core.hertz", core.hertz.to_string(), "1 to 100000000000");
        }
        if !(0.001..=100.0).contains(&core.ipc) {
            return refuse("core.ipc", core.ipc.to_string(), "0.001 to 100");
        }
        if core.slice == 0 {
            return refuse("core.slice", "0".to_owned(), "1 or more");
        }
        if self.limits.instructions == 0 {
            return refuse("limits.instructions", "0".to_owned(), "1 or more");
        }
        if self.programs.is_empty() {
            return refuse("program", "none".to_owned(), "one or more");
        }
        check_host("host", &self.host, place)?;
        for (index, program) in self.programs.iter().enumerate() {
            let key = format!("program[{index}]");
            let plain = |c: char| c.is_ascii_alphanumeric() || "-_".contains(c);
            if program.name.is_empty() || !program.name.chars().all(plain) {
                let allowed = "letters, digits, `-` and `_`";
                return refuse(&format!("{key}.name"), format!("`{}`", program.name), allowed);
            }
            if self.programs[..index].iter().any(|other| other.name == program.name) {
                let found = format!("`{}` again", program.name);
                return refuse(&format!("{key}.name"), found, "each name once");
            }
            if let Some(path) = program.keep.iter().find(|path| !path.starts_with('/')) {
                let found = format!("`{path}`");
                return refuse(&format!("{key}.keep"), found, "paths that begin with `/`");
            }
            if let Some(host) = &program.host {
                check_host(&format!("{key}.host"), host, place)?;
            }
        }
        Ok(())
    }

    /// The host of a program.
    pub(crate) fn host_of(&self, program: usize) -> &HostConfig {
        self.programs[program].host.as_ref().unwrap_or(&self.host)
    }
}

fn check_host(key: &str, host: &HostConfig, place: &str) -> Result<(), Error> {
    let in_range = |name: &str, found: u64, low: u64, high: u64| {
        let message = || format!("found {found}, allowed: {low} to {high}");
        let refused = || Error::config(format!("{place}: {key}.{name}"), message());
        if (low..=high).contains(&found) { Ok(()) } else { Err(refused()) }
    };
    let pages = |name: &str, size: ByteSize, low: u64, high: u64| {
        in_range(name, size.0, low, high)?;
        let message = || format!("found {size}, allowed: a multiple of 4KiB");
        let refused = || Error::config(format!("{place}: {key}.{name}"), message());
        if size.0.is_multiple_of(4096) { Ok(()) } else { Err(refused()) }
    };
    pages("cache", host.cache, 1 << 20, 1 << 40)?;
    pages("request", host.request, 4 << 10, 16 << 20)?;
    pages("read_ahead", host.read_ahead, 0, 16 << 20)?;
    pages("extent", host.extent, 4 << 10, 1 << 30)?;
    pages("memory", host.memory, 32 << 20, 3 << 30)?;
    in_range("writeback_depth", host.writeback_depth.into(), 1, 65_536)?;
    in_range("call_instructions", host.call_instructions, 0, 1_000_000)?;
    in_range("page_instructions", host.page_instructions, 0, 1_000_000)?;
    in_range("dirty_age", host.dirty_age.0, 1, u64::MAX / 4)?;
    let (background, limit) = (host.dirty_background.0, host.dirty_limit.0);
    if !(0.0 < background && background <= limit && limit <= 0.9) {
        return Err(Error::config(
            format!("{place}: {key}.dirty_background, {key}.dirty_limit"),
            format!("found {background} and {limit}, allowed: 0 < background <= limit <= 0.9"),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_of_its_own_has_the_rest_from_the_host_of_all() {
        let text = "device = \"tiny\"\n[host]\ncache = \"8MiB\"\nbarrier = false\n\
                    [[program]]\nname = \"a\"\nelf = \"a\"\nhost = { cache = \"4MiB\" }\n\
                    [[program]]\nname = \"b\"\nelf = \"/b\"\n";
        let config = ExecConfig::from_toml(text, Path::new("x/y.toml")).expect("valid");
        let (a, b) = (config.host_of(0), config.host_of(1));
        assert_eq!((a.cache, a.barrier, b.cache), (ByteSize(4 << 20), false, ByteSize(8 << 20)));
        let paths: Vec<&Path> = config.programs.iter().map(|one| one.elf.as_path()).collect();
        assert_eq!(paths, [Path::new("x/a"), Path::new("/b")]);
    }
}
