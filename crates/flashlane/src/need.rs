//! The memory that a run needs, and the memory that the machine has left. They are compared before
//! the run begins, so that a run that does not fit fails at once.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

pub use flashlane_engine::memory::OutOfMemory;

use flashlane_config::{DeviceConfig, MappingKind, Technology, WorkloadConfig};
use flashlane_reading::Error;

/// Address space of the page tables. Unit: bytes per page of the flash; the tables take 7.6 to 8.6.
const MAPPED_PER_PAGE: u64 = 7;
/// The part of the page tables that a drive in steady state has written at least. Unit: bytes per
/// page of the flash.
const WRITTEN_PER_PAGE: u64 = 5;

/// Advice on smaller runs, for the ends of messages.
const SMALLER: &str = "what makes it smaller: fewer blocks (flash.blocks_per_plane) or larger pages, no \
                       --alone, a smaller outstanding_max, fewer runs at a time (--threads, --jobs)";

/// Memory that this process may still take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Left {
    /// Amount. Unit: bytes.
    pub bytes: u64,
    /// Name of the limit, for messages.
    pub limit: &'static str,
}

/// Least memory that a run needs. Unit: bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Need {
    pages: u64,
    /// Address space.
    mapped: u64,
    /// Memory that is written.
    written: u64,
}

impl Need {
    fn of(device: &DeviceConfig, workload: &WorkloadConfig) -> Self {
        let pages = workload.layout(device).geometry.pages();
        let by_page = device.flash.technology != Technology::InPlace
            && device.ftl.mapping.kind != MappingKind::Hybrid;
        let tables = if by_page { pages } else { 0 };
        let steady = device.ftl.precondition.enabled;
        Self {
            pages,
            mapped: tables * MAPPED_PER_PAGE,
            written: if steady { tables * WRITTEN_PER_PAGE } else { 0 },
        }
    }
}

/// Refuses a run for which this process does not have the memory.
pub(crate) fn check(device: &DeviceConfig, workload: &WorkloadConfig) -> Result<(), Error> {
    let need = Need::of(device, workload);
    fits(need, address_space(), memory())
}

fn fits(need: Need, space: Option<Left>, memory: Option<Left>) -> Result<(), Error> {
    let parts = [(need.mapped, space), (need.written, memory)];
    for (needed, left) in parts {
        if let Some(left) = left.filter(|left| needed > left.bytes) {
            return Err(Error::Memory(format!(
                "memory: found a run that needs {} MiB at the least, for the tables of {} pages, allowed: \
                 the {} MiB that are left ({}); {SMALLER}",
                needed.div_ceil(1 << 20),
                need.pages,
                left.bytes >> 20,
                left.limit
            )));
        }
    }
    Ok(())
}

/// The message if `bytes` more bytes could not be allocated.
#[must_use]
pub fn lacking(bytes: usize) -> String {
    let left = left().map_or_else(String::new, |left| {
        format!("; {} MiB are left ({})", left.bytes >> 20, left.limit)
    });
    format!("memory: {bytes} more bytes could not be had{left}; {SMALLER}")
}

/// Does a part of a run. If memory runs out, returns that as an error.
pub(crate) fn guarded<T>(work: impl FnOnce() -> Result<T, Error>) -> Result<T, Error> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| {
        match payload.downcast::<OutOfMemory>() {
            Ok(found) => Err(Error::Memory(lacking(found.bytes))),
            Err(payload) => resume_unwind(payload),
        }
    })
}

/// The memory that this process may still take, if the system reports it: the least of what its
/// address space, its control group and the machine have left.
#[must_use]
pub fn left() -> Option<Left> {
    address_space().into_iter().chain(memory()).min_by_key(|left| left.bytes)
}

/// The rest of the limit of the address space, if there is one.
#[must_use]
pub fn address_space() -> Option<Left> {
    #[cfg(target_os = "linux")]
    return system::address_space();
    #[cfg(not(target_os = "linux"))]
    None
}

#[cfg(target_os = "linux")]
use system::memory;

#[cfg(not(target_os = "linux"))]
fn memory() -> Option<Left> {
    None
}

#[cfg(target_os = "linux")]
mod system {
    use std::fs::read_to_string;
    use std::path::{Path, PathBuf};

    use rustix::process::{Resource, getrlimit};

    use crate::need::Left;

    /// The rest of the limit of `ulimit -v`.
    pub(super) fn address_space() -> Option<Left> {
        let limit = getrlimit(Resource::As).current?;
        let status = read_to_string("/proc/self/status").unwrap_or_default();
        let used = kib(&status, "VmSize:").unwrap_or(0) * 1024;
        Some(Left { bytes: limit.saturating_sub(used), limit: "the limit of ulimit -v" })
    }

    /// The memory left by the machine and the control group.
    pub(super) fn memory() -> Option<Left> {
        let text = read_to_string("/proc/meminfo").unwrap_or_default();
        let swap = kib(&text, "SwapFree:").unwrap_or(0);
        let free = kib(&text, "MemAvailable:").map(|free| (free + swap) * 1024);
        let machine = free.map(|bytes| Left { bytes, limit: "the memory of this machine" });
        let own = read_to_string("/proc/self/cgroup").unwrap_or_default();
        let group = of_groups(Path::new("/sys/fs/cgroup"), &own)
            .map(|bytes| Left { bytes, limit: "the limit of its control group" });
        machine.into_iter().chain(group).min_by_key(|left| left.bytes)
    }

    /// A value in KiB from a file of the kernel.
    fn kib(text: &str, key: &str) -> Option<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(key))?;
        line.split_whitespace().next()?.parse().ok()
    }

    /// The memory left by the control groups of a process, of both versions. `own`: the text of
    /// `/proc/self/cgroup`.
    pub(super) fn of_groups(root: &Path, own: &str) -> Option<u64> {
        let line = |line: &str| {
            let mut parts = line.splitn(3, ':').skip(1);
            let (kinds, path) = (parts.next()?, parts.next()?);
            let below = path.trim_start_matches('/');
            if kinds.is_empty() {
                let files = ["memory.max", "memory.current", "file", "shmem"];
                return up(root, below, &files);
            }
            let files =
                ["memory.limit_in_bytes", "memory.usage_in_bytes", "total_cache", "total_shmem"];
            kinds.split(',').any(|kind| kind == "memory").then_some(())?;
            up(&root.join("memory"), below, &files)
        };
        own.lines().filter_map(line).min()
    }

    /// The least memory left by a group and those above it.
    fn up(root: &Path, below: &str, files: &[&str; 4]) -> Option<u64> {
        let mut least = None;
        let mut folder: PathBuf = root.join(below);
        loop {
            least = least.into_iter().chain(of_group(&folder, files)).min();
            if folder == root || !folder.pop() || !folder.starts_with(root) {
                return least;
            }
        }
    }

    /// The memory left by a group. Cached pages of files can be given back at once, and do not
    /// count as used.
    fn of_group(folder: &Path, [limit, used, cached, shared]: &[&str; 4]) -> Option<u64> {
        let number =
            |file: &str| read_to_string(folder.join(file)).ok()?.trim().parse::<u64>().ok();
        let limit = number(limit)?;
        let stat = read_to_string(folder.join("memory.stat")).unwrap_or_default();
        let part = |key: &str| {
            let line = stat.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' '));
            line.and_then(|value| value.trim().parse::<u64>().ok()).unwrap_or(0)
        };
        let given_back = part(cached).saturating_sub(part(shared));
        let used = number(used).unwrap_or(0).saturating_sub(given_back);
        Some(limit.saturating_sub(used))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEED: Need = Need { pages: 1 << 27, mapped: 7 << 27, written: 5 << 27 };

    #[test]
    fn a_run_that_cannot_fit_names_need_limit_and_remedy() {
        let left = |bytes, limit| Some(Left { bytes, limit });
        assert!(fits(NEED, None, None).is_ok());
        assert!(fits(NEED, left(7 << 27, "a"), left(5 << 27, "b")).is_ok());
        let Err(Error::Memory(why)) = fits(NEED, left(100 << 20, "ulimit"), None) else {
            panic!("it does not fit")
        };
        assert!(why.contains("needs 896 MiB at the least"), "{why}");
        assert!(why.contains("134217728 pages") && why.contains("100 MiB that are left (ulimit)"));
        assert!(why.contains("flash.blocks_per_plane"), "{why}");
        assert!(fits(NEED, left(1 << 40, "a"), left(600 << 20, "b")).is_err());
    }

    #[test]
    fn memory_that_runs_out_is_an_error_and_other_panics_go_on() {
        let found = guarded::<()>(|| resume_unwind(Box::new(OutOfMemory { bytes: 12 })));
        let Err(Error::Memory(why)) = found else { panic!("memory ran out") };
        assert!(why.starts_with("memory: 12 more bytes could not be had"), "{why}");
        assert_eq!(Error::Memory(why).exit_status(), 2);
        let other = catch_unwind(|| guarded::<()>(|| resume_unwind(Box::new("else"))));
        assert_eq!(other.expect_err("it goes on").downcast_ref::<&str>(), Some(&"else"));
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn control_groups_of_both_versions_are_asked_up_to_their_root() {
        let root = std::env::temp_dir().join(format!("flashlane-groups-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        };
        write("a/memory.max", "1000\n");
        write("a/memory.current", "900\n");
        write("a/memory.stat", "anon 400\nfile 500\nshmem 100\n");
        write("a/b/memory.max", "max\n");
        write("a/b/memory.current", "10\n");
        assert_eq!(system::of_groups(&root, "0::/a/b\n"), Some(500));
        write("memory/c/memory.limit_in_bytes", "300\n");
        write("memory/c/memory.usage_in_bytes", "100\n");
        assert_eq!(system::of_groups(&root, "0::/a/b\n4:cpu,memory:/c\n"), Some(200));
        assert_eq!(system::of_groups(&root, "0::/z\n"), None);
        assert!(left().is_some());
        std::fs::remove_dir_all(&root).expect("it was made above");
    }
}
