//! `zonemode` and the keys beside it.

use super::reader::Reader;
use crate::{FioConfig, FioZbd, FioZones};
use flashlane_units::ByteSize;

/// Keys that count only with `zonemode=zbd`.
const ZBD_KEYS: [&str; 5] = [
    "ignore_zone_limits",
    "job_max_open_zones",
    "max_open_zones",
    "read_beyond_wp",
    "zonecapacity",
];

/// `zonemode=zbd`. `size`: `zonesize`.
fn zbd(reader: &mut Reader<'_>, size: Option<u64>) -> FioZbd {
    // Zero is the limit of the drive.
    let mut zones = |key: &str| {
        let count = reader.number(key, 0..=u64::from(u32::MAX))?;
        u32::try_from(count).ok().filter(|count| *count > 0)
    };
    let (max_open, max_open_each) = (zones("max_open_zones"), zones("job_max_open_zones"));
    FioZbd {
        size: size.map(ByteSize),
        capacity: reader.size("zonecapacity").filter(|size| *size > 0).map(ByteSize),
        max_open,
        max_open_each,
        ignore_limits: reader.flag("ignore_zone_limits"),
        read_beyond: reader.flag("read_beyond_wp"),
    }
}

/// `zonemode=strided` and `zbd`.
pub(super) fn zones(reader: &mut Reader<'_>, config: &mut FioConfig) {
    let mode = reader.text("zonemode").unwrap_or_else(|| "none".to_owned());
    let (size, range) = (reader.size("zonesize"), reader.size("zonerange"));
    let skip = reader.size("zoneskip").unwrap_or(0);
    for key in ZBD_KEYS.into_iter().filter(|_| mode != "zbd") {
        if reader.has(key) {
            let line = reader.line(key);
            reader.notes.warn(line, key, "has no effect without zonemode=zbd");
        }
    }
    match (mode.as_str(), size.filter(|size| *size > 0)) {
        ("strided", Some(size)) => {
            let range = ByteSize(range.filter(|range| *range > 0).unwrap_or(size));
            config.zones = Some(FioZones { size: ByteSize(size), range, skip: ByteSize(skip) });
        }
        ("strided", None) => {
            let message = "found without zonesize, allowed: beside it".to_owned();
            reader.refuse("zonemode", message);
        }
        ("zbd", size) => config.zbd = Some(zbd(reader, size)),
        ("none", Some(_)) => {
            reader.refuse(
                "zonesize",
                "found without zonemode, allowed: beside zonemode=strided or zbd".to_owned(),
            );
        }
        ("none", None) => {}
        _ => {
            let message = format!("found {mode:?}, allowed: none, strided, zbd");
            reader.refuse("zonemode", message);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{job, parsed, problems, warned};
    use super::*;
    use crate::FioExtent;

    #[test]
    fn jobs_on_zones_have_their_keys() {
        let of = |keys: &str| job(&format!("zonemode=zbd number_ios=5 {keys}"));
        assert_eq!(of("").zbd, Some(FioZbd::default()));
        assert_eq!(warned("zonemode=zbd number_ios=5"), [""; 0], "the drive may have zones");
        let keys = "zonesize=2g zonecapacity=1m max_open_zones=8 job_max_open_zones=2 \
                    ignore_zone_limits=1 read_beyond_wp=1";
        let all = FioZbd {
            size: Some(ByteSize(2 << 30)),
            capacity: Some(ByteSize(1 << 20)),
            max_open: Some(8),
            max_open_each: Some(2),
            ignore_limits: true,
            read_beyond: true,
        };
        assert_eq!(of(keys).zbd, Some(all));
        let none = of("max_open_zones=0 job_max_open_zones=0 zonesize=0");
        assert_eq!(none.zbd, Some(FioZbd::default()), "0 stands for the limits of the drive");
        let lengths = of("size=4z offset=1z io_size=9z offset_increment=2z");
        assert_eq!(
            (lengths.size, lengths.offset),
            (Some(FioExtent::Zones(4)), FioExtent::Zones(1))
        );
        let rest = (lengths.io_size, lengths.offset_increment);
        assert_eq!(rest, (Some(FioExtent::Zones(9)), FioExtent::Zones(2)));
        let known = of("size=4z zonesize=1m").size;
        assert_eq!(known, Some(FioExtent::Bytes(ByteSize(4 << 20))), "a zone of known size");
        let (copies, ..) = parsed("[a]\nzonemode=zbd\nnumber_ios=5\nnumjobs=3\nmax_open_zones=7");
        let max = |flow: &crate::FlowConfig| {
            let job = flow.synthetic.as_ref().and_then(|one| one.fio.as_ref()).expect("a job");
            job.zbd.expect("zones").max_open
        };
        let each: Vec<_> = copies.flows.iter().map(max).collect();
        assert_eq!(each, [Some(2); 3], "the limit of all copies");
        let unused = warned("max_open_zones=4 number_ios=5");
        assert_eq!(unused, ["job.fio:2: max_open_zones: has no effect without zonemode=zbd"]);
        let resets = warned("zonemode=zbd zone_reset_frequency=0.5 number_ios=5");
        assert!(resets[0].contains("zone_reset_frequency: is not modelled: a zone is reset only"));
        assert!(problems("[a]\nsize=4z").contains("job.fio:2: size: found \"4z\", allowed: bytes"));
    }
}
