//! Temporary files of processes that ended without cleaning up.
//!
//! The name of a temporary file identifies its process: the boot of the machine, the namespace of
//! process numbers, the number of the process, and its start. Only files of the same boot and
//! namespace are removed, and only if no process of that number and start is alive. A process on
//! another host with the same folder, or in another container, never counts as dead. A process
//! number that was reused does not count either.

use std::fs;
use std::path::Path;
use std::sync::OnceLock;

const START: &str = ".flashlane-";

/// A process, as the names of its files identify it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Owner {
    /// Boot of the machine, and namespace of process numbers.
    host: String,
    pid: u32,
    /// Start of the process. Unit: clock ticks since the boot.
    started: u64,
}

impl Owner {
    fn text(&self) -> String {
        format!("{}-{}-{}", self.host, self.pid, self.started)
    }
}

/// Prefix of the names of this process's temporary files.
pub(crate) fn prefix() -> String {
    match this_process() {
        Some(owner) => format!("{START}{}-", owner.text()),
        None => START.to_owned(),
    }
}

/// Removes the temporary files in a folder whose process is dead. Others stay.
pub(crate) fn remove_from(folder: &Path) {
    let (Some(own), Ok(entries)) = (this_process(), fs::read_dir(folder)) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let Some(owner) = name.to_str().and_then(owner_of) else { continue };
        if owner.host == own.host && started_at(owner.pid) != Some(owner.started) {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// The process that owns a file, by the file's name.
fn owner_of(name: &str) -> Option<Owner> {
    let mut parts = name.strip_prefix(START)?.split('-');
    let host = parts.next()?.to_owned();
    let (pid, started) = (parts.next()?.parse().ok()?, parts.next()?.parse().ok()?);
    parts.next()?;
    Some(Owner { host, pid, started })
}

/// Description of this process for the file of a lock: a line for people, and a line for
/// [`is_stopped`].
pub(crate) fn description() -> String {
    let pid = std::process::id();
    let name = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let on = if name.trim().is_empty() { String::new() } else { format!(" on {}", name.trim()) };
    let owner = this_process().map(|owner| owner.text()).unwrap_or_default();
    format!("process {pid}{on}\n{owner}\n")
}

/// True if such a line names a process of this machine that is stopped.
pub(crate) fn is_stopped(line: &str) -> bool {
    let owner = owner_of(&format!("{START}{line}-"));
    let here = owner.filter(|owner| this_process().is_some_and(|own| own.host == owner.host));
    here.is_some_and(|owner| {
        let fields = fields_of(owner.pid);
        let state = fields.first().map(String::as_str);
        started(&fields) == Some(owner.started) && matches!(state, Some("T" | "t"))
    })
}

/// This process; `None` if the system does not tell. Only the host is kept between calls, because a
/// forked process has another number.
fn this_process() -> Option<Owner> {
    static HOST: OnceLock<Option<String>> = OnceLock::new();
    let host = || {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
        let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
        let text = format!("{boot}{}", namespace.to_string_lossy());
        Some(text.chars().filter(char::is_ascii_alphanumeric).collect())
    };
    let host = HOST.get_or_init(host).clone()?;
    let pid = std::process::id();
    Some(Owner { host, pid, started: started_at(pid)? })
}

/// Start of a live process. Unit: clock ticks since the boot.
fn started_at(pid: u32) -> Option<u64> {
    started(&fields_of(pid))
}

/// The fields of a live process from its state on. The name of the command comes before them in
/// brackets, and may contain anything.
fn fields_of(pid: u32) -> Vec<String> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = text.rsplit_once(')').map_or("", |(_, fields)| fields);
    fields.split_whitespace().map(str::to_owned).collect()
}

/// The start of a process is field 22 of the line, and its state is field 3.
fn started(fields: &[String]) -> Option<u64> {
    fields.get(19)?.parse().ok()
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn files_of_dead_processes_go_and_all_others_stay() {
        let folder = tempfile::tempdir().expect("a folder");
        let own = this_process().expect("Linux tells");
        let Owner { host, pid, started } = &own;
        let mut child = std::process::Command::new("true").spawn().expect("it starts");
        let dead = child.id();
        child.wait().expect("it ends");
        let gone = [
            format!("{START}{host}-{dead}-{started}-abc"),
            format!("{START}{host}-{pid}-{}-abc", started + 1),
        ];
        let stay = [
            format!("{}abc", prefix()),
            format!("{START}otherhost-{dead}-{started}-abc"),
            format!("{START}abcdef"),
            "summary.json".to_owned(),
        ];
        for name in gone.iter().chain(&stay) {
            fs::write(folder.path().join(name), "x").expect("a file");
        }
        remove_from(folder.path());
        for name in &gone {
            assert!(!folder.path().join(name).exists(), "{name}");
        }
        for name in &stay {
            assert!(folder.path().join(name).exists(), "{name}");
        }
    }
}
