//! The option names of fio, and how each is handled here.

/// Options with fio's own effect.
const EXACT: &[&str] = &[
    "blockalign",
    "bs",
    "bs_unaligned",
    "bsrange",
    "bssplit",
    "dataplacement",
    "end_fsync",
    "exitall",
    "fdatasync",
    "fdp",
    "file_service_type",
    "filename",
    "filesize",
    "fsync",
    "fsync_on_close",
    "group_reporting",
    "ignore_zone_limits",
    "include",
    "io_size",
    "iodepth",
    "ioengine",
    "job_max_open_zones",
    "loops",
    "max_open_zones",
    "name",
    "norandommap",
    "nrfiles",
    "number_ios",
    "numjobs",
    "offset",
    "offset_align",
    "offset_increment",
    "percentage_random",
    "plid_select",
    "plids",
    "prio",
    "prioclass",
    "ramp_time",
    "random_distribution",
    "random_generator",
    "randrepeat",
    "randseed",
    "rate",
    "rate_ignore_thinktime",
    "rate_iops",
    "rate_process",
    "read_beyond_wp",
    "read_iolog",
    "replay_no_stall",
    "replay_redirect",
    "replay_time_scale",
    "runtime",
    "rw",
    "rw_sequencer",
    "rwmixread",
    "rwmixwrite",
    "size",
    "softrandommap",
    "startdelay",
    "stonewall",
    "sync",
    "thinktime",
    "thinktime_blocks",
    "thinktime_blocks_type",
    "thinktime_iotime",
    "thinktime_spin",
    "time_based",
    "wait_for",
    "writefua",
    "zonecapacity",
    "zonemode",
    "zonerange",
    "zonesize",
    "zoneskip",
];

/// Other names of options, each with the main name.
const ALIASES: &[(&str, &str)] = &[
    ("ba", "blockalign"),
    ("blocksize", "bs"),
    ("blocksize_range", "bsrange"),
    ("blocksize_unaligned", "bs_unaligned"),
    ("end_syncfs", "end_fsync"),
    ("fdp_pli", "plids"),
    ("fdp_pli_select", "plid_select"),
    ("fileoffset", "offset"),
    ("fill_fs", "fill_device"),
    ("io_limit", "io_size"),
    ("iodepth_batch_submit", "iodepth_batch"),
    ("iomem", "mem"),
    ("nr_files", "nrfiles"),
    ("ratecycle", "rate_cycle"),
    ("ratemin", "rate_min"),
    ("readwrite", "rw"),
    ("ss", "steadystate"),
    ("ss_dur", "steadystate_duration"),
    ("ss_ramp", "steadystate_ramp_time"),
    ("timeout", "runtime"),
    ("wait_for_previous", "stonewall"),
];

/// Options about the host, its files, its processor or fio's reports, which change nothing here.
const WITHOUT_EFFECT: &[&str] = &[
    "allow_file_create",
    "allow_mounted_write",
    "allrandrepeat",
    "atomic",
    "block_error_percentiles",
    "buffer_compress_chunk",
    "buffer_compress_percentage",
    "buffer_pattern",
    "bwavgtime",
    "cgroup",
    "cgroup_nodelete",
    "cgroup_weight",
    "clat_percentiles",
    "clocksource",
    "cmd_type",
    "continue_on_error",
    "cpumask",
    "cpus_allowed",
    "cpus_allowed_policy",
    "create_fsync",
    "create_on_open",
    "create_serialize",
    "dedupe_global",
    "dedupe_mode",
    "dedupe_percentage",
    "dedupe_working_set_percentage",
    "description",
    "direct",
    "directory",
    "disable_bw_measurement",
    "disable_clat",
    "disable_lat",
    "disable_slat",
    "disk_util",
    "error_dump",
    "exec_postrun",
    "exec_prerun",
    "exit_what",
    "exitall_on_error",
    "fadvise_hint",
    "fallocate",
    "file_append",
    "filename_format",
    "fixedbufs",
    "force_async",
    "gid",
    "gtod_cpu",
    "gtod_reduce",
    "hipri",
    "hipri_percentage",
    "hugepage-size",
    "ignore_error",
    "invalidate",
    "io_submit_mode",
    "iopsavgtime",
    "ioscheduler",
    "kb_base",
    "lat_percentiles",
    "lockfile",
    "lockmem",
    "log_entries",
    "mem",
    "mem_align",
    "new_group",
    "nice",
    "nonvectored",
    "nowait",
    "numa_cpu_nodes",
    "numa_mem_policy",
    "opendir",
    "openfiles",
    "overwrite",
    "percentile_list",
    "profile",
    "rate_cycle",
    "read_iolog_chunked",
    "refill_buffers",
    "registerfiles",
    "scramble_buffers",
    "serialize_overlap",
    "significant_figures",
    "slat_percentiles",
    "sqthread_poll",
    "sqthread_poll_cpu",
    "stats",
    "steadystate_check_interval",
    "stream_id",
    "sync_file_range",
    "thread",
    "threads",
    "uid",
    "uncached",
    "unified_rw_reporting",
    "unique_filename",
    "unit_base",
    "unlink",
    "unlink_each_loop",
    "userspace_reap",
    "write_barrier",
    "write_hint",
    "zero_buffers",
];

const LOGS: &str =
    "has no effect; --series-window writes the run in windows, --requests every request";
const VERIFY: &str =
    "has no effect: there is no data to verify, and the reads that verify it are left out";
const ZONE_RESETS: &str =
    "is not modelled: a zone is reset only before it is written again, or by a trim";
const PRIORITY: &str =
    "is not modelled: all requests of a job have its class (prioclass and prio, or `priority`)";
const STEADY: &str = "has no effect; --until-steady runs until the drive is steady";
const DEPTH_SEARCH: &str = "is not modelled: the depth stays at iodepth, where fio looks for the depth that keeps the target";
const SHARES: &str = "is not modelled: jobs run at their own pace";
const LEAST_RATE: &str =
    "has no effect: a job that is slower goes on; `slo = { min_iops }` judges its rate";
const BATCHES: &str = "is not modelled: a request is submitted as soon as one is complete, so that queues are fuller than fio's";
const BACKLOG: &str = "is not modelled: the trims of verified blocks are left out";
pub(super) const BUFFERED: &str =
    "there is no page cache: requests go to the drive, where reads of warm files would not";
const SETUP: &str =
    "is not modelled: what fio does with files before the job is left out of the run";

/// A file system that becomes full.
const FULL: &str = "no file system becomes full here: the job ends after its size=, or after its whole \
                    share of the drive";

/// Options whose part of the load is left out, with the warning for the user.
pub(super) const NOT_MODELLED: &[(&str, &str)] = &[
    ("buffered", BUFFERED),
    ("cmdprio", PRIORITY),
    ("cmdprio_bssplit", PRIORITY),
    ("cmdprio_class", PRIORITY),
    ("cmdprio_percentage", PRIORITY),
    ("create_only", SETUP),
    ("do_verify", VERIFY),
    ("experimental_verify", VERIFY),
    ("fill_device", FULL),
    ("flow", SHARES),
    ("flow_id", SHARES),
    ("flow_sleep", SHARES),
    ("iodepth_batch", BATCHES),
    ("iodepth_batch_complete", BATCHES),
    ("iodepth_batch_complete_max", BATCHES),
    ("iodepth_batch_complete_min", BATCHES),
    ("iodepth_low", BATCHES),
    ("latency_percentile", DEPTH_SEARCH),
    ("latency_run", DEPTH_SEARCH),
    ("latency_target", DEPTH_SEARCH),
    ("latency_window", DEPTH_SEARCH),
    ("log_alternate_epoch", LOGS),
    ("log_alternate_epoch_clock_id", LOGS),
    ("log_avg_msec", LOGS),
    ("log_compression", LOGS),
    ("log_compression_cpus", LOGS),
    ("log_hist_coarseness", LOGS),
    ("log_hist_msec", LOGS),
    ("log_max_value", LOGS),
    ("log_offset", LOGS),
    ("log_prio", LOGS),
    ("log_store_compressed", LOGS),
    ("log_unix_epoch", LOGS),
    ("max_latency", "has no effect; `slo = { max }` judges the longest response time"),
    ("per_job_logs", LOGS),
    ("pre_read", SETUP),
    ("rate_iops_min", LEAST_RATE),
    ("rate_min", LEAST_RATE),
    ("readfua", "has no effect: a read is answered from the data cache where that has the data"),
    ("sg_write_mode", "is not modelled: such a command counts as a write"),
    ("steadystate", STEADY),
    ("steadystate_duration", STEADY),
    ("steadystate_ramp_time", STEADY),
    ("trim_backlog", BACKLOG),
    ("trim_backlog_batch", BACKLOG),
    ("trim_percentage", BACKLOG),
    ("trim_verify_zero", BACKLOG),
    ("verify", VERIFY),
    ("verify_async", VERIFY),
    ("verify_async_cpus", VERIFY),
    ("verify_backlog", VERIFY),
    ("verify_backlog_batch", VERIFY),
    ("verify_dump", VERIFY),
    ("verify_fatal", VERIFY),
    ("verify_interval", VERIFY),
    ("verify_offset", VERIFY),
    ("verify_only", VERIFY),
    ("verify_pattern", VERIFY),
    ("verify_state_load", VERIFY),
    ("verify_state_save", VERIFY),
    ("verifysort", VERIFY),
    ("verifysort_nr", VERIFY),
    ("write_bw_log", LOGS),
    ("write_hist_log", LOGS),
    ("write_iolog", LOGS),
    ("write_iops_log", LOGS),
    ("write_lat_log", LOGS),
    ("zone_reset_frequency", ZONE_RESETS),
    ("zone_reset_threshold", ZONE_RESETS),
];

const MERGE: &str = "merge the traces with blkparse first, and replay the result (read_iolog)";
const ADDRESSES: &str =
    "convert the log instead (`flashlane trace convert`), or scale it in a workload file";

const SCHEME: &str =
    "name the placement identifiers in `plids`, and give each range of addresses a job of its own";

/// Options that are refused, with advice.
pub(super) const REFUSED: &[(&str, &str)] = &[
    ("dp_scheme", SCHEME),
    ("merge_blktrace_file", MERGE),
    ("merge_blktrace_iters", MERGE),
    ("merge_blktrace_scalars", MERGE),
    ("replay_align", ADDRESSES),
    ("replay_scale", ADDRESSES),
    ("replay_skip", ADDRESSES),
];

/// How an option is handled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// The option has fio's effect on operations, sizes, addresses, times and order.
    Exact,
    /// The option concerns the host, files or reports, and changes nothing.
    WithoutEffect,
    /// A warning says how the numbers differ.
    Warned(&'static str),
    /// The file is refused; the message says what to do instead.
    Refused(&'static str),
}

/// Every known option name in alphabetical order, aliases included, with its main name and how it
/// is handled.
#[must_use]
pub fn options() -> Vec<(&'static str, &'static str, Effect)> {
    let exact = EXACT.iter().map(|name| (*name, *name, Effect::Exact));
    let silent = WITHOUT_EFFECT.iter().map(|name| (*name, *name, Effect::WithoutEffect));
    let warned = NOT_MODELLED.iter().map(|(name, why)| (*name, *name, Effect::Warned(why)));
    let refused = REFUSED.iter().map(|(name, why)| (*name, *name, Effect::Refused(why)));
    let mut all: Vec<_> = exact.chain(silent).chain(warned).chain(refused).collect();
    for (alias, name) in ALIASES {
        if let Some(&(.., effect)) = all.iter().find(|one| one.0 == *name) {
            all.push((alias, name, effect));
        }
    }
    all.sort_unstable_by_key(|one| one.0);
    all
}

/// The main name of an option.
pub(super) fn canonical(key: &str) -> Option<&'static str> {
    let name = ALIASES.iter().find(|one| one.0 == key).map_or(key, |one| one.1);
    let left_out = NOT_MODELLED.iter().chain(REFUSED).map(|one| one.0);
    EXACT.iter().chain(WITHOUT_EFFECT).copied().chain(left_out).find(|one| *one == name)
}

/// Names that a message proposes.
pub(super) fn proposed() -> Vec<&'static str> {
    let aliases = ALIASES.iter().map(|one| one.0);
    ["rw"]
        .into_iter()
        .chain(EXACT.iter().copied().filter(|one| *one != "rw"))
        .chain(aliases)
        .collect()
}

/// True if the option changes nothing here.
pub(super) fn is_without_effect(key: &str) -> bool {
    WITHOUT_EFFECT.contains(&key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_stands_once_and_every_alias_for_a_name() {
        let all = options();
        assert!(all.windows(2).all(|pair| pair[0].0 < pair[1].0), "a name stands twice");
        let names = EXACT.len() + WITHOUT_EFFECT.len() + NOT_MODELLED.len() + REFUSED.len();
        assert_eq!(all.len(), names + ALIASES.len(), "an alias stands for no name");
        assert!(all.iter().all(|one| canonical(one.0) == Some(one.1)));
    }
}
