//! `--record`: what clients sent, in a folder that `flashlane run --arrivals` replays.

use std::collections::VecDeque;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use flashlane::Error;
use flashlane::config::WorkloadConfig;
use flashlane::drive::Completion;
use flashlane_nvme::{Arrival, Journal, MediaConfig};
use flashlane_results::{ArrivalFile, ArrivalRow};
use tempfile::NamedTempFile;

use crate::output::{Content, OutFolder};

/// Name of the result set of recordings, which replace each other as a whole.
const RECORDING: &str = "recording";

const ARRIVALS: &str = "arrivals.parquet";
const WORKLOAD: &str = "workload.toml";
const DEVICE: &str = "device.toml";

/// Rows that go to the file at a time.
const ROWS: usize = 4096;

/// Commands that are not in the file yet.
struct Rows {
    file: ArrivalFile,
    /// Number of the first row that is kept.
    first: u64,
    kept: VecDeque<ArrivalRow>,
    /// The first rows of `kept`, all of which are complete.
    complete: usize,
    failed: Option<Error>,
    /// Ends the server, which would otherwise serve what nobody records.
    stop: Arc<AtomicBool>,
}

impl Rows {
    fn write(&mut self, count: usize) {
        let rows = self.kept.drain(..count).collect();
        self.first += count as u64;
        self.complete = self.complete.saturating_sub(count);
        if self.failed.is_none()
            && let Err(error) = self.file.take(rows)
        {
            self.failed = Some(error);
            self.stop.store(true, Ordering::Relaxed);
        }
    }
}

/// The journal of the drive that keeps commands for the file.
struct Recorder(Arc<Mutex<Rows>>);

impl Journal for Recorder {
    fn arrived(&mut self, arrival: &Arrival) {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Arrival { at, tenant, command, number } = *arrival;
        debug_assert_eq!(number, rows.first + rows.kept.len() as u64, "none is left out");
        rows.kept.push_back(ArrivalRow { at_ps: at.0, tenant, command, complete_ps: None });
    }

    fn completed(&mut self, number: u64, completion: &Completion) {
        let mut rows = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let place = (number - rows.first) as usize;
        rows.kept[place].complete_ps = Some(completion.at().0);
        while rows.kept.get(rows.complete).is_some_and(|row| row.complete_ps.is_some()) {
            rows.complete += 1;
        }
        if rows.complete >= ROWS {
            let count = rows.complete;
            rows.write(count);
        }
    }
}

/// A recording that is under way.
pub(super) struct Recording {
    folder: OutFolder,
    root: PathBuf,
    staged: NamedTempFile,
    rows: Arc<Mutex<Rows>>,
    texts: [(PathBuf, Content); 2],
    seed: u64,
}

impl Recording {
    /// Prepares the folder, and the files that tell about the drive.
    pub(super) fn start(
        root: &Path,
        overwrite: bool,
        media: &MediaConfig,
        stop: Arc<AtomicBool>,
    ) -> Result<Self, Error> {
        let mut folder = OutFolder::prepare(root, overwrite)?.of_set(RECORDING);
        folder.expect([ARRIVALS, WORKLOAD, DEVICE])?;
        let (staged, handle) = folder.stage_to_write(Path::new(ARRIVALS))?;
        let names: Vec<String> = media.tenants.iter().map(|tenant| tenant.name.clone()).collect();
        let file = ArrivalFile::create(handle, &names, media.seed)?;
        let workload = WorkloadConfig { flows: media.tenants.clone(), ..tenants_only() };
        let texts = [
            (WORKLOAD.into(), toml_of(WORKLOAD, &workload)?),
            (DEVICE.into(), toml_of(DEVICE, &media.device)?),
        ];
        let (kept, first, complete, failed) = (VecDeque::new(), 0, 0, None);
        let rows = Rows { file, first, kept, complete, failed, stop };
        let rows = Arc::new(Mutex::new(rows));
        Ok(Self { folder, root: root.to_owned(), staged, rows, texts, seed: media.seed })
    }

    /// The journal to give to the drive.
    pub(super) fn journal(&self) -> Box<dyn Journal> {
        Box::new(Recorder(self.rows.clone()))
    }

    /// Writes the folder, and returns the command that replays it.
    pub(super) fn finish(self) -> Result<String, Error> {
        {
            let mut rows = self.rows.lock().unwrap_or_else(PoisonError::into_inner);
            let count = rows.kept.len();
            rows.write(count);
            let finished = rows.file.finish();
            rows.failed.take().map_or(finished, Err)?;
        }
        let [workload, device] = self.texts;
        let arrivals = (ARRIVALS.into(), Content::Staged(self.staged));
        self.folder.write([arrivals, workload, device])?;
        let place = |name: &str| self.root.join(name).display().to_string();
        Ok(format!(
            "flashlane run --device {} --workload {} --arrivals {} --seed {}",
            place(DEVICE),
            place(WORKLOAD),
            place(ARRIVALS),
            self.seed
        ))
    }
}

/// A workload without flows.
fn tenants_only() -> WorkloadConfig {
    WorkloadConfig {
        name: "drive".to_owned(),
        flows: Vec::new(),
        groups: Vec::new(),
        window: flashlane::config::WindowRule::WholeRun,
        warmup: None,
        outstanding_max: flashlane::config::OUTSTANDING_MAX,
    }
}

fn toml_of(name: &str, value: &impl serde::Serialize) -> Result<Content, Error> {
    let text = toml::to_string(value)
        .map_err(|error| Error::Output(format!("{name}: cannot be written as TOML: {error}")))?;
    Ok(Content::Text(text))
}
