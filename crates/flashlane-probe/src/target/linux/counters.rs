//! Counters of a real NVMe drive, read by nvme-cli's program `nvme`.
//!
//! Two sources tell how much reached the flash. A drive with flexible data placement counts bytes
//! of its endurance group (log page 22h, TP4146). A drive that follows the Open Compute Project
//! counts physical bytes in its extended SMART log (C0h), and host bytes in the log of NVMe (02h),
//! whose unit is a thousand blocks of 512 bytes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::super::Counters;

/// Host bytes of a data unit of NVMe's SMART log. Unit: bytes.
const DATA_UNIT: u64 = 512_000;
/// Offset of the written data units in that log. Unit: bytes.
const DATA_UNITS_WRITTEN: usize = 48;
/// Offset of the number of the endurance group in the namespace's data structure. Unit: bytes.
const ENDURANCE_GROUP: usize = 102;
/// The last 16 bytes of log page C0h, if it is that of the Open Compute Project and not one of a
/// vendor.
const OPEN_COMPUTE: [u8; 16] = [
    0xC5, 0xAF, 0x10, 0x28, 0xEA, 0xBF, 0xF2, 0xA4, 0x9C, 0x4F, 0x6F, 0x7C, 0xC9, 0x14, 0xD5, 0xAF,
];

/// Source of a drive's counters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    /// Statistics of an endurance group with flexible data placement.
    DataPlacement { group: u16 },
    /// The Open Compute Project's extended SMART log.
    OpenCompute,
}

/// A drive with counters.
#[derive(Debug)]
pub(super) struct Drive {
    program: Vec<OsString>,
    device: PathBuf,
    source: Source,
}

impl Drive {
    /// The drive behind a block device; `None` if it has no known counters.
    pub(super) fn behind(device: &Path) -> Option<Self> {
        Self::asked_by(vec!["nvme".into()], device)
    }

    /// The drive behind a block device, which is asked by another program than `nvme`.
    fn asked_by(program: Vec<OsString>, device: &Path) -> Option<Self> {
        let mut drive = Self { program, device: device.to_owned(), source: Source::OpenCompute };
        let group = drive.ask(&["id-ns"], ENDURANCE_GROUP + 2).map(|namespace| {
            u16::from_le_bytes([namespace[ENDURANCE_GROUP], namespace[ENDURANCE_GROUP + 1]])
        });
        let placed = group.filter(|&group| group > 0).map(|group| Source::DataPlacement { group });
        for source in placed.into_iter().chain([Source::OpenCompute]) {
            drive.source = source;
            if drive.counters().is_some() {
                return Some(drive);
            }
        }
        None
    }

    /// The counters now; `None` if the drive does not answer.
    pub(super) fn counters(&self) -> Option<Counters> {
        match self.source {
            Source::DataPlacement { group } => {
                let log = self.log(0x22, 64, &format!("--lsi={group}"))?;
                let (host_written, media_written) = (number(&log, 0), number(&log, 16));
                // A drive without data placement may answer with only zeros.
                (media_written > 0).then_some(Counters { host_written, media_written })
            }
            Source::OpenCompute => {
                let extended = self.log(0xC0, 512, "--rae")?;
                if !extended.ends_with(&OPEN_COMPUTE) {
                    return None;
                }
                let units = number(&self.log(0x02, 512, "--rae")?, DATA_UNITS_WRITTEN);
                let host_written = units.saturating_mul(DATA_UNIT);
                Some(Counters { host_written, media_written: number(&extended, 0) })
            }
        }
    }

    fn log(&self, page: u8, bytes: usize, more: &str) -> Option<Vec<u8>> {
        let (page, length) = (format!("--log-id={page}"), format!("--log-len={bytes}"));
        self.ask(&["get-log", &page, &length, more], bytes)
    }

    /// The first bytes that `nvme` prints for a question; `None` if there are fewer.
    fn ask(&self, question: &[&str], bytes: usize) -> Option<Vec<u8>> {
        let mut command = Command::new(&self.program[0]);
        command.args(&self.program[1..]).args(question).arg("--raw-binary").arg(&self.device);
        let answer = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
        let mut answer = answer.status.success().then_some(answer.stdout)?;
        (answer.len() >= bytes).then(|| answer.truncate(bytes))?;
        Some(answer)
    }
}

/// A number of 128 bits, of which drives only use 64.
fn number(log: &[u8], at: usize) -> u64 {
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&log[at..at + 16]);
    u64::try_from(u128::from_le_bytes(bytes)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that answers like `nvme`, with a file for each question.
    fn program(folder: &Path, answers: &[(&str, Vec<u8>)]) -> Vec<OsString> {
        let mut script = String::from("case \"$*\" in\n");
        for (at, (question, answer)) in answers.iter().enumerate() {
            let file = folder.join(format!("answer-{at}"));
            std::fs::write(&file, answer).unwrap();
            script.push_str(&format!("*'{question}'*) cat '{}';;\n", file.display()));
        }
        script.push_str("*) echo 'NVMe status: Invalid Log Page' >&2; exit 1;;\nesac\n");
        let file = folder.join("nvme.sh");
        std::fs::write(&file, script).unwrap();
        vec!["sh".into(), file.into()]
    }

    /// A log page with numbers of 128 bits at some places.
    fn page(bytes: usize, numbers: &[(usize, u128)]) -> Vec<u8> {
        let mut page = vec![0; bytes];
        for &(at, number) in numbers {
            page[at..at + 16].copy_from_slice(&number.to_le_bytes());
        }
        page
    }

    fn namespace(group: u16) -> Vec<u8> {
        page(4096, &[(ENDURANCE_GROUP, u128::from(group))])
    }

    fn open_compute(written: u128) -> Vec<u8> {
        page(512, &[(0, written), (496, u128::from_le_bytes(OPEN_COMPUTE))])
    }

    fn ask(answers: &[(&str, Vec<u8>)]) -> Option<(Source, Counters)> {
        let folder = tempfile::tempdir().unwrap();
        let program = program(folder.path(), answers);
        let drive = Drive::asked_by(program, Path::new("/dev/nvme0n1"))?;
        Some((drive.source, drive.counters().unwrap()))
    }

    #[test]
    fn data_placement_counts_bytes_of_the_endurance_group() {
        let found = ask(&[
            ("id-ns --raw-binary /dev/nvme0n1", namespace(3)),
            (
                "get-log --log-id=34 --log-len=64 --lsi=3 --raw-binary /dev/nvme0n1",
                page(64, &[(0, 7_000_000), (16, 9_500_000), (32, 5)]),
            ),
            ("--log-id=192", open_compute(1)),
        ]);
        let counters = Counters { host_written: 7_000_000, media_written: 9_500_000 };
        assert_eq!(found, Some((Source::DataPlacement { group: 3 }, counters)));
    }

    #[test]
    fn open_compute_counts_media_bytes_beside_the_data_units_of_nvme() {
        let smart = page(512, &[(32, 99), (DATA_UNITS_WRITTEN, 4)]);
        let answers = [
            ("id-ns", namespace(1)),
            ("get-log --log-id=192 --log-len=512", open_compute(u128::from(u64::MAX) + 5)),
            ("get-log --log-id=2 --log-len=512", smart),
        ];
        let counters = Counters { host_written: 4 * 512_000, media_written: u64::MAX };
        assert_eq!(ask(&answers), Some((Source::OpenCompute, counters)));
    }

    #[test]
    fn drives_that_count_nothing_of_this_are_told_apart() {
        assert_eq!(ask(&[]), None);
        // A log page of a vendor; zeros where data placement is off; an answer that is too short.
        assert_eq!(ask(&[("--log-id=192", page(512, &[(0, 8)]))]), None);
        assert_eq!(ask(&[("id-ns", namespace(1)), ("--log-id=34", page(64, &[]))]), None);
        assert_eq!(ask(&[("id-ns", namespace(1)), ("--log-id=34", vec![1; 63])]), None);
        let missing = vec!["a-program-that-is-not-there".into()];
        assert!(Drive::asked_by(missing, Path::new("/dev/nvme0n1")).is_none());
    }
}
