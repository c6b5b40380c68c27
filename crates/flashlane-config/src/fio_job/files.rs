//! The files of a job: their names and sizes, and the copies that share them.

use super::reader::Reader;
use crate::{FioConfig, FioExtent, FioFileOrder, SyntheticConfig};
use flashlane_units::ByteSize;

/// Most copies of a job that become tenants of their own.
const TENANTS_MAX: u32 = 16;
/// Most files of a job.
const FILES_MAX: u64 = 1 << 16;

/// The copies of a job.
pub(super) struct Copies {
    pub(super) count: u32,
    /// True if the copies are one tenant.
    pub(super) together: bool,
}

/// The names in `filename`: a colon stands between two, unless a backslash is before it.
fn names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut letters = text.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => names.last_mut().into_iter().for_each(|name| name.extend(letters.next())),
            ':' => names.push(String::new()),
            _ => names.last_mut().into_iter().for_each(|name| name.push(letter)),
        }
    }
    names.into_iter().map(|name| name.trim().to_owned()).filter(|name| !name.is_empty()).collect()
}

/// The drive that a device file belongs to: `/dev/nvme0n1p2` to `nvme0`, `/dev/sda1` to `sda`.
fn drive(name: &str) -> Option<&str> {
    let name = name.strip_prefix("/dev/")?;
    let digits =
        |text: &str| text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    for prefix in ["nvme", "ng"] {
        if let Some(rest) = name.strip_prefix(prefix).filter(|rest| digits(rest) > 0) {
            return Some(&name[..prefix.len() + digits(rest)]);
        }
    }
    let is_disk = ["sd", "hd", "vd", "xvd"].iter().any(|prefix| name.starts_with(prefix));
    Some(if is_disk { name.trim_end_matches(|c: char| c.is_ascii_digit()) } else { name })
}

/// Reads the places of a job's files, and the number of its copies.
pub(super) fn files(
    reader: &mut Reader<'_>,
    flows_max: usize,
    config: &mut FioConfig,
    synthetic: &mut SyntheticConfig,
) -> Copies {
    let count = reader.number("numjobs", 1..=flows_max as u64).unwrap_or(1) as u32;
    let names = names(&reader.text("filename").unwrap_or_default());
    check_drives(reader, &names);
    let named = names.len() as u64;
    let files = reader.number("nrfiles", 1..=FILES_MAX).unwrap_or(1).max(named.max(1));
    // A filename format makes different names for each copy.
    let shared = named > 0 && !names.iter().any(|name| name.contains("$job"));
    config.own_files = !shared;
    config.files = files as u32;
    file_order(reader, config);
    let is_device = names.iter().any(|name| name.starts_with("/dev/"));
    sizes(reader, is_device, count, config);
    let grouped = reader.flag("group_reporting") || shared || reader.has("offset_increment");
    let together = count > 1 && (grouped || count > TENANTS_MAX);
    if together && !grouped {
        let line = reader.line("numjobs");
        let message = format!(
            "{count} jobs are one tenant, reported together; up to {TENANTS_MAX} are tenants of their own"
        );
        reader.notes.warn(line, "numjobs", &message);
    }
    if together {
        config.jobs = count;
    }
    region(config, synthetic);
    Copies { count, together }
}

/// Checks that all jobs use one drive, since only one is simulated.
fn check_drives(reader: &mut Reader<'_>, names: &[String]) {
    let mut drives: Vec<&str> = names.iter().filter_map(|name| drive(name)).collect();
    drives.sort_unstable();
    drives.dedup();
    if drives.len() > 1 {
        let message = format!(
            "found {} drives ({}), allowed: one; run a job for each, since drives do not slow each other down",
            drives.len(),
            drives.join(", ")
        );
        return reader.refuse("filename", message);
    }
    let Some(drive) = drives.first() else { return };
    let line = reader.line("filename");
    match &reader.notes.drive {
        Some(other) if other != drive => {
            let message = format!("{drive} and {other} are one drive here, which their jobs share");
            reader.notes.warn(line, "filename", &message);
        }
        Some(_) => {
            let message = format!(
                "jobs on {drive} have a part of the drive each here, where fio's share its addresses"
            );
            reader.notes.warn(line, "filename", &message);
        }
        None => reader.notes.drive = Some((*drive).to_owned()),
    }
}

/// `file_service_type`.
fn file_order(reader: &mut Reader<'_>, config: &mut FioConfig) {
    let allowed = "roundrobin, random or sequential, with the number of requests at a time, such as roundrobin:8";
    let order = reader.value("file_service_type", allowed, |text| {
        let (kind, count) = text.split_once(':').unwrap_or((text, "1"));
        let count = count.parse::<u64>().ok().filter(|count| *count > 0)?;
        match kind {
            "roundrobin" => Some(FioFileOrder::RoundRobin(count)),
            "random" => Some(FioFileOrder::Random(count)),
            "sequential" => Some(FioFileOrder::Sequential),
            _ => None,
        }
    });
    config.file_order = order.unwrap_or_default();
}

/// Reads `size`, `filesize`, `offset` and related keys.
fn sizes(reader: &mut Reader<'_>, is_device: bool, copies: u32, config: &mut FioConfig) {
    let files = u64::from(config.files);
    let whole = reader.extent("size").filter(|size| *size != FioExtent::default());
    let filesize =
        reader.value("filesize", "bytes, such as 4096, 4k, 1m or 2g, or a range", |text| {
            // The larger end of a range, because fio's draws are not those of the host.
            super::values::bytes(text.rsplit('-').next().unwrap_or(text))
        });
    config.offset = reader.extent("offset").unwrap_or_default();
    config.offset_align = reader.size("offset_align").filter(|size| *size > 0).map(ByteSize);
    config.offset_increment = reader.extent("offset_increment").unwrap_or_default();
    let per_file = match whole {
        Some(FioExtent::Bytes(bytes)) => Some(FioExtent::Bytes(ByteSize(bytes.0 / files))),
        Some(FioExtent::Zones(count)) => Some(FioExtent::Zones(count / files)),
        Some(share) => Some(share),
        None => None,
    };
    config.size = match (per_file, filesize) {
        (None, Some(bytes)) => Some(FioExtent::Bytes(ByteSize(bytes))),
        (size, _) => size,
    };
    let bytes_of = |extent: FioExtent| match extent {
        FioExtent::Bytes(bytes) => Some(bytes.0),
        _ => None,
    };
    let size = config.size.and_then(bytes_of);
    // The last copy begins later by this much.
    let later =
        bytes_of(config.offset_increment).map(|bytes| bytes.saturating_mul(u64::from(copies - 1)));
    let start =
        bytes_of(config.offset).zip(later).map(|(start, later)| start.saturating_add(later));
    let end = size.zip(start).map(|(size, start)| size.saturating_add(start));
    let made = filesize.max(end).map(ByteSize);
    config.file_size = if is_device { None } else { made };
}

/// The region, for checks against the drive and for reports.
fn region(config: &FioConfig, synthetic: &mut SyntheticConfig) {
    let FioExtent::Bytes(start) = config.offset else { return };
    let Some(FioExtent::Bytes(size)) = config.size else { return };
    let copies = if config.own_files { u64::from(config.jobs) } else { 1 };
    let files = u64::from(config.files) * copies;
    let sector = flashlane_device::layout::SECTOR_BYTES;
    let whole = |bytes: u64| ByteSize(bytes.next_multiple_of(sector));
    if files == 1 && config.jobs == 1 {
        synthetic.region_start = (start.0 > 0).then(|| ByteSize(start.0 / sector * sector));
        synthetic.region = Some(whole(size.0));
    } else {
        let file = config.file_size.map_or(start.0.saturating_add(size.0), |size| size.0);
        synthetic.region = Some(whole(file.saturating_mul(files).min(1 << 59)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_at_colons_and_belong_to_drives() {
        assert_eq!(names("a:b\\:c: d "), ["a", "b:c", "d"]);
        assert_eq!(names(""), [""; 0]);
        for (name, expected) in [
            ("/dev/nvme0n1", Some("nvme0")),
            ("/dev/nvme12n3p1", Some("nvme12")),
            ("/dev/ng0n1", Some("ng0")),
            ("/dev/sda1", Some("sda")),
            ("/dev/dm-0", Some("dm-0")),
            ("/tmp/x", None),
        ] {
            assert_eq!(drive(name), expected, "{name}");
        }
    }
}
