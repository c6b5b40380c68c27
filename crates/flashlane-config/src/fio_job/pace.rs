//! The rate of the requests of a job, and its end.

use super::reader::Reader;
use super::values::{MICROSECOND_PS, SECOND_PS, bytes, directions, time_ps};
use crate::{FioConfig, FioExtent, FioThink, SyntheticConfig};
use flashlane_reading::allowed;
use flashlane_units::Span;

/// Engines that wait for every request: the depth is 1.
const SYNCHRONOUS: &[&str] = &["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "posix_sync"];
/// Engines that keep requests in flight, and wait for a flush.
const ASYNCHRONOUS: &[&str] = &["libaio", "windowsaio", "null", "sg"];
/// Engines that keep requests and flushes in flight.
const QUEUED: &[&str] = &["io_uring", "io_uring_cmd", "posixaio"];

/// `iodepth` and `ioengine`: 1 where the engine waits for every request.
pub(super) fn depth(reader: &mut Reader<'_>, config: &mut FioConfig) -> u32 {
    let depth = reader.number("iodepth", 1..=65_535).unwrap_or(1) as u32;
    let Some(engine) = reader.text("ioengine") else {
        // fio's default engine is synchronous.
        config.blocking = depth == 1;
        if depth > 1 {
            let line = reader.line("iodepth");
            let message = "counts here; fio's default engine (psync) waits for every request, so that it has no effect \
                           there without ioengine=libaio or another one that queues";
            reader.notes.warn(line, "iodepth", message);
        }
        return depth;
    };
    config.queued_flushes = QUEUED.contains(&engine.as_str());
    if SYNCHRONOUS.contains(&engine.as_str()) {
        if depth > 1 {
            let line = reader.line("iodepth");
            let message =
                format!("has no effect with ioengine={engine}, which waits for every request");
            reader.notes.warn(line, "iodepth", &message);
        }
        config.blocking = true;
        return 1;
    }
    if !ASYNCHRONOUS.contains(&engine.as_str()) && !QUEUED.contains(&engine.as_str()) {
        let all: Vec<&str> = [SYNCHRONOUS, ASYNCHRONOUS, QUEUED].concat();
        reader.refuse("ioengine", format!("found {engine:?}; {}", allowed(&engine, &all)));
    }
    // The null engine completes a request at once if only one is in flight.
    config.blocking = engine == "null" && depth == 1;
    depth
}

/// A time in seconds or with a unit. Unit of the result: picoseconds.
pub(super) fn span(reader: &mut Reader<'_>, key: &str) -> Option<u64> {
    reader.value(key, "a time, such as 30 (seconds), 500ms or 2m", |text| time_ps(text, SECOND_PS))
}

/// `rate`, `rate_iops`: bytes per second of each direction.
pub(super) fn rates(reader: &mut Reader<'_>, config: &mut FioConfig) {
    let each = |text: &str, read: &dyn Fn(&str) -> Option<u64>| {
        let each = directions(text)?;
        let read = |one: Option<&str>| match one {
            None | Some("0") => Some(None),
            Some(one) => read(one).filter(|rate| (1..=1_000_000_000_000).contains(rate)).map(Some),
        };
        Some([read(each[0])?, read(each[1])?, read(each[2])?])
    };
    let allowed = "bytes per second of each direction, such as 100m, 100m,20m (reads, writes) or ,20m (writes only)";
    let rate = reader.value("rate", allowed, |text| each(text, &bytes));
    let allowed = "requests per second of each direction, such as 500, 500,100 (reads, writes) or ,100 (writes only)";
    let iops = reader.value("rate_iops", allowed, |text| each(text, &|text| text.parse().ok()));
    if rate.is_some() && iops.is_some() {
        reader.refuse("rate", "found beside rate_iops, allowed: one of them".to_owned());
    }
    let process = reader.text("rate_process").unwrap_or_else(|| "linear".to_owned());
    match process.as_str() {
        "linear" => {}
        "poisson" => config.poisson = true,
        _ => reader.refuse("rate_process", format!("found {process:?}, allowed: linear, poisson")),
    }
    let targets = [&mut config.read, &mut config.write, &mut config.trim];
    for (index, target) in targets.into_iter().enumerate() {
        let iops = iops.and_then(|each| each[index]);
        target.rate = match rate.and_then(|each| each[index]) {
            None => iops.map(|iops| iops.saturating_mul(target.smallest.0)),
            rate => rate,
        };
    }
}

/// Reads `thinktime` and related keys.
pub(super) fn think(reader: &mut Reader<'_>, config: &mut FioConfig) {
    let allowed = "a time, such as 50us, 1ms or 100 (microseconds)";
    let time = reader.value("thinktime", allowed, |text| time_ps(text, MICROSECOND_PS));
    let blocks = reader.number("thinktime_blocks", 1..=u64::from(u32::MAX));
    let after = span(reader, "thinktime_iotime");
    let kind = reader.text("thinktime_blocks_type");
    if let Some(kind) = kind.as_ref().filter(|kind| !["complete", "issue"].contains(&kind.as_str()))
    {
        let message = format!("found {kind:?}, allowed: complete, issue");
        reader.refuse("thinktime_blocks_type", message);
    }
    let shifts_rate = reader.flag("rate_ignore_thinktime");
    let Some(time) = time.filter(|time| *time > 0) else { return };
    config.think = Some(FioThink {
        time: Span(time),
        blocks,
        // According to the HOWTO a job waits after a number of issued requests. fio 3.33 counts
        // complete requests unless told otherwise, and issues up to iodepth more before its first
        // pause.
        issued: kind.as_deref() != Some("complete"),
        after: after.filter(|after| *after > 0).map(Span),
        shifts_rate,
    });
}

/// Reads `fsync`, `fdatasync`, `end_fsync`, `fsync_on_close`. Returns whether every write is on
/// flash when it is complete (`sync`).
pub(super) fn flushes(reader: &mut Reader<'_>, config: &mut FioConfig) -> bool {
    config.fsync = reader.number("fsync", 0..=1 << 30).unwrap_or(0);
    config.fdatasync = reader.number("fdatasync", 0..=1 << 30).unwrap_or(0);
    config.end_fsync = reader.flag("end_fsync");
    config.end_fsync |= reader.flag("fsync_on_close");
    let sync = reader.value("sync", "none, sync, dsync, 0 or 1", |text| match text {
        "0" | "none" => Some(false),
        "" | "1" | "sync" | "dsync" => Some(true),
        _ => None,
    });
    sync.unwrap_or(false) || reader.flag("writefua")
}

/// Reads the end of the job: bytes, requests or time, whichever comes first.
pub(super) fn end(
    reader: &mut Reader<'_>,
    ramp: u64,
    config: &mut FioConfig,
    synthetic: &mut SyntheticConfig,
) {
    let runtime = reader.value("runtime", "a time, such as 30 (seconds), 500ms or 2m", |text| {
        time_ps(text, SECOND_PS).filter(|time| *time > 0)
    });
    // The time before fio counts is added to the time that it counts.
    synthetic.duration = runtime.map(|time| Span(time.saturating_add(ramp)));
    config.loops = reader.number("loops", 1..=1 << 30).unwrap_or(1);
    config.io_size = reader.extent("io_size").filter(|size| *size != FioExtent::default());
    config.number_ios = reader.number("number_ios", 1..=1 << 50);
    config.time_based = reader.flag("time_based");
    if config.time_based && runtime.is_none() {
        reader.refuse("time_based", "found without runtime, allowed: beside it".to_owned());
    }
    let is_bounded = config.size.is_some() || config.io_size.is_some();
    if !is_bounded && config.number_ios.is_none() && runtime.is_none() {
        // fio would read or write the whole device once.
        synthetic.duration = Some(Span(SECOND_PS.saturating_add(ramp)));
        let message = "nothing ends the job before the end of the drive: it runs for 1 s of simulated time; \
                       io_size in bytes, number_ios or runtime say otherwise";
        let line = reader.section.line;
        reader.notes.warn(line, "", message);
    }
}
