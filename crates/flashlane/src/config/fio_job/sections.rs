//! The lines of a job file, and the keys that are understood.

use std::collections::BTreeMap;

use super::Notes;
use crate::reading::allowed;

/// Keys that say something about the load.
pub(super) const KEYS: &[&str] = &[
    "rw",
    "readwrite",
    "rwmixread",
    "rwmixwrite",
    "bs",
    "blocksize",
    "bsrange",
    "blocksize_range",
    "bssplit",
    "blockalign",
    "ba",
    "iodepth",
    "numjobs",
    "size",
    "io_size",
    "offset",
    "offset_increment",
    "loops",
    "number_ios",
    "runtime",
    "time_based",
    "rate",
    "rate_iops",
    "rate_process",
    "thinktime",
    "random_distribution",
    "percentage_random",
    "randseed",
    "prio",
    "prioclass",
    "ioengine",
    "read_iolog",
    "replay_time_scale",
    "replay_no_stall",
];

/// Keys about the host, its files or fio's reports, which change nothing here.
pub(super) const WITHOUT_EFFECT: &[&str] = &[
    "buffered",
    "description",
    "direct",
    "directory",
    "disable_clat",
    "disable_lat",
    "disable_slat",
    "filename",
    "group_reporting",
    "gtod_reduce",
    "invalidate",
    "log_avg_msec",
    "norandommap",
    "percentile_list",
    "randrepeat",
    "refill_buffers",
    "scramble_buffers",
    "thread",
    "unified_rw_reporting",
    "zero_buffers",
];

/// A key of a job and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Entry {
    /// `None`: the key stands alone.
    pub(super) value: Option<String>,
    pub(super) line: usize,
}

/// A job: its own keys, and those of the `[global]` sections above it.
#[derive(Clone, Debug)]
pub(super) struct Section {
    pub(super) name: String,
    pub(super) line: usize,
    pub(super) entries: BTreeMap<&'static str, Entry>,
}

/// One name for a key that has several.
fn canonical(key: &str) -> Option<&'static str> {
    let known = KEYS.iter().chain(WITHOUT_EFFECT).copied().find(|known| *known == key)?;
    Some(match known {
        "readwrite" => "rw",
        "blocksize" => "bs",
        "blocksize_range" => "bsrange",
        "ba" => "blockalign",
        other => other,
    })
}

/// The jobs of a file.
pub(super) fn sections(text: &str, notes: &mut Notes) -> Vec<Section> {
    let mut globals = BTreeMap::new();
    let mut jobs: Vec<Section> = Vec::new();
    let mut is_global = None;
    for (line, content) in (1..).zip(text.trim_start_matches('\u{feff}').lines()) {
        let content = content.trim();
        if content.is_empty() || content.starts_with(['#', ';']) {
            continue;
        }
        if let Some(rest) = content.strip_prefix('[') {
            let name = rest.strip_suffix(']').unwrap_or("").trim();
            if name.is_empty() {
                let message = format!("found {content:?}, allowed: [global] or [NAME]");
                notes.refuse(line, "", message);
            }
            is_global = Some(name == "global");
            if name != "global" {
                jobs.push(Section { name: name.to_owned(), line, entries: globals.clone() });
            }
            continue;
        }
        let (key, value) = match content.split_once('=') {
            Some((key, value)) => (key.trim(), Some(value.trim().to_owned())),
            None => (content, None),
        };
        let Some(known) = canonical(key) else {
            notes.refuse(line, "", format!("unknown key `{key}`; {}", allowed(key, KEYS)));
            continue;
        };
        if value.as_ref().is_some_and(|value| value.contains('$')) {
            notes.refuse(line, known, "found a variable ($), allowed: plain values");
            continue;
        }
        let entry = Entry { value, line };
        match (is_global, jobs.last_mut()) {
            (Some(true), _) => globals.insert(known, entry),
            (Some(false), Some(job)) => job.entries.insert(known, entry),
            _ => {
                notes.refuse(line, known, "found a key above all sections, allowed: below [NAME]");
                None
            }
        };
    }
    jobs
}
