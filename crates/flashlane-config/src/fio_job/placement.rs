//! Placement of the writes of a job by the host: `fdp`, `dataplacement`, `plids`, `plid_select`.

use super::reader::Reader;
use crate::FioPlacement;
use crate::validate::{HANDLES, PLACEMENT_IDS_MAX};
use flashlane_reading::allowed;

/// The largest identifier that a drive may have: that of its last stream.
const LARGEST: u16 = *HANDLES.end() as u16;
/// The engine with which fio places data.
const ENGINE: &str = "io_uring_cmd";

/// The placement of a job: the identifier of all its writes, or several among which each write
/// takes one. Nothing for a job that places nothing.
pub(super) fn placement(reader: &mut Reader<'_>) -> (Option<u16>, Option<FioPlacement>) {
    let Some(placement) = list(reader) else { return (None, None) };
    if let [only] = placement.ids[..] {
        return (Some(only), None);
    }
    if reader.has("read_iolog") {
        let count = placement.ids.len();
        let message = format!("found {count} identifiers beside read_iolog, allowed there: one");
        reader.refuse("plids", message);
    }
    (None, Some(placement))
}

/// The identifiers of a job, with the way in which its writes take them.
fn list(reader: &mut Reader<'_>) -> Option<FioPlacement> {
    let is_on = is_on(reader);
    let wanted =
        "a list of placement identifiers from 0 to 64, such as 2, 0,3 or 1-4,6, with 128 at most";
    let ids = reader.value("plids", wanted, ids);
    let select = "roundrobin, random (a scheme, with dp_scheme, is not modelled)";
    let random = reader.value("plid_select", select, |text| match text {
        "roundrobin" => Some(false),
        "random" => Some(true),
        _ => None,
    });
    let Some(key) = is_on else {
        for key in ["plids", "plid_select"] {
            let line = reader.line(key);
            let message = "has no effect without fdp=1, dataplacement=fdp or dataplacement=streams";
            if reader.has(key) {
                reader.notes.warn(line, key, message);
            }
        }
        return None;
    };
    if !reader.has("plids") {
        let message = "found without plids, allowed: beside plids=, which names the placement identifiers of this \
                       job, such as 0-7 (fio would take all that the drive reports)";
        reader.refuse(key, message.to_owned());
    }
    if reader.text("ioengine").as_deref() != Some(ENGINE) {
        let line = reader.line(key);
        let message = format!("counts here; fio places data only with ioengine={ENGINE}");
        reader.notes.warn(line, key, &message);
    }
    Some(FioPlacement { ids: ids?, random: random.unwrap_or(false) })
}

/// The key that turns placement on, if one does.
fn is_on(reader: &mut Reader<'_>) -> Option<&'static str> {
    const KINDS: &[&str] = &["none", "fdp", "streams"];
    let fdp = reader.flag("fdp");
    let kind = reader.text("dataplacement");
    if reader.has("dataplacement") && !kind.as_deref().is_some_and(|kind| KINDS.contains(&kind)) {
        let found = kind.clone().unwrap_or_default();
        let message = format!("found {found:?}; {}", allowed(&found, KINDS));
        reader.refuse("dataplacement", message);
    }
    match kind.as_deref() {
        Some(kind @ ("none" | "streams")) if fdp => {
            let message = format!("found {kind} beside fdp=1, allowed: fdp, or without fdp=1");
            reader.refuse("dataplacement", message);
            None
        }
        Some("fdp" | "streams") => Some("dataplacement"),
        _ => fdp.then_some("fdp"),
    }
}

/// The identifiers of a list of numbers and ranges, in the order in which fio sorts them: the
/// smallest first.
fn ids(text: &str) -> Option<Vec<u16>> {
    let mut ids = Vec::new();
    for part in text.split(',').map(str::trim) {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let id = |text: &str| text.trim().parse::<u16>().ok().filter(|id| *id <= LARGEST);
        let (first, last) = (id(first)?, id(last)?);
        if first > last {
            return None;
        }
        ids.extend(first..=last);
    }
    ids.sort_unstable();
    (ids.len() <= PLACEMENT_IDS_MAX).then_some(ids)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fio_job::tests::{parsed, problems, warned};

    #[test]
    fn lists_have_numbers_and_ranges() {
        assert_eq!(ids("3"), Some(vec![3]));
        assert_eq!(ids("5, 0-2,64"), Some(vec![0, 1, 2, 5, 64]));
        assert_eq!(ids("1,1"), Some(vec![1, 1]), "an identifier may have two turns");
        assert_eq!(ids("0-63,0-63").map(|all| all.len()), Some(128));
        for bad in ["", "1,", "65", "-1", "2-1", "1-2-3", "x", "0-64,0-64", "1.5", "0x1"] {
            assert_eq!(ids(bad), None, "{bad}");
        }
    }

    #[test]
    fn writes_have_placement_identifiers() {
        let flow = |keys: &str| {
            let (config, _, warnings) = parsed(&format!("[job]\n{}", keys.replace(' ', "\n")));
            assert!(warnings.is_empty(), "{warnings:?}");
            let fio = config.flows[0].synthetic.clone().and_then(|one| one.fio).expect("a job");
            (config.flows[0].placement, fio.placement.map(|one| (one.ids, one.random)))
        };
        let of = |keys: &str| flow(&format!("rw=write size=1m ioengine=io_uring_cmd {keys}"));
        assert_eq!(of(""), (None, None));
        assert_eq!(of("fdp=0"), (None, None));
        assert_eq!(of("dataplacement=none"), (None, None));
        assert_eq!(of("fdp=1 fdp_pli=3"), (Some(3), None), "one is that of the flow");
        let several = |random: bool| (None, Some((vec![0, 1, 2, 5], random)));
        assert_eq!(of("fdp=1 fdp_pli=5,0-2"), several(false), "fio sorts them");
        assert_eq!(of("fdp fdp_pli=0-2,5 fdp_pli_select=random"), several(true));
        assert_eq!(of("dataplacement=streams plids=0-2,5 plid_select=roundrobin"), several(false));
        assert_eq!(of("dataplacement=fdp fdp=1 plids=0-2,5 plid_select=random"), several(true));
        let (replayed, ..) =
            parsed("[j]\nread_iolog=a.log\nfdp=1\nplids=4\nioengine=io_uring_cmd\n");
        assert_eq!(replayed.flows[0].placement, Some(4));
        let idle = warned("size=1m plids=1 plid_select=random");
        assert_eq!(idle.len(), 2, "{idle:?}");
        assert!(idle[0].starts_with("job.fio:3: plids: has no effect without fdp=1"), "{idle:?}");
        let engine = warned("size=1m fdp=1 plids=1 ioengine=psync");
        assert_eq!(
            engine,
            ["job.fio:3: fdp: counts here; fio places data only with ioengine=io_uring_cmd"]
        );
    }

    #[test]
    fn placement_that_cannot_be_is_refused() {
        let cases = [
            ("fdp=1", "job.fio:2: fdp: found without plids, allowed: beside plids="),
            (
                "dataplacement=streams",
                "job.fio:2: dataplacement: found without plids, allowed: beside",
            ),
            ("fdp=1\nfdp_pli=65", "job.fio:3: plids: found \"65\", allowed: a list of placement"),
            ("fdp=1\nplids=3-1", "job.fio:3: plids: found \"3-1\", allowed: a list"),
            ("fdp=1\nplids", "job.fio:3: plids: found no value, allowed: a list"),
            ("fdp=2\nplids=1", "job.fio:2: fdp: found \"2\", allowed: 0 or 1"),
            ("dataplacement=fpd\nplids=1", "found \"fpd\"; did you mean `fdp`? allowed: none, fdp"),
            (
                "fdp=1\ndataplacement=streams\nplids=1",
                "job.fio:3: dataplacement: found streams beside",
            ),
            (
                "fdp=1\nplids=1\nplid_select=scheme",
                "job.fio:4: plid_select: found \"scheme\", allowed",
            ),
            ("fdp=1\nplids=1\ndp_scheme=a.txt", "job.fio:4: dp_scheme: is not modelled; name the"),
            ("fdp=1\nplids=1,2\nread_iolog=x", "job.fio:3: plids: found 2 identifiers beside"),
        ];
        for (keys, expected) in cases {
            let found = problems(&format!("[a]\n{keys}\n"));
            assert!(found.contains(expected), "{keys}\n{expected}\n{found}");
        }
    }
}
