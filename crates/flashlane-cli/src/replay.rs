//! `flashlane run --arrivals`: replays a recording of `flashlane serve --record`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use flashlane::config::load;
use flashlane::drive::{Completion, DriveOptions};
use flashlane::observe::RequestSink;
use flashlane::{Drive, Error, Time};
use flashlane_results::{ArrivalRow, Arrivals, RequestFile};
use tempfile::NamedTempFile;

use crate::args::{CommonArgs, Format, RunArgs};
use crate::execute::{pretty, to_json};
use crate::output::{Content, OutFolder, RUN, places_of_results, print_data, refuse_input, show};
use crate::serve::one_workload;
use crate::{blame_table, summary_table};

/// Replays the recording, and reports the results as those of a run.
pub(crate) fn replay(arguments: &RunArgs, arrivals: &Path) -> Result<(), Error> {
    let common = &arguments.common;
    if !matches!(common.format, Format::Text | Format::Json) {
        return Err(Error::config("--format", "allowed with --arrivals: text, json"));
    }
    let overrides = arguments.overrides();
    let device = load::device(&arguments.device, &overrides)?;
    let tenants = one_workload(&arguments.workload, &overrides)?.config.flows;
    let rows = Arrivals::open(arrivals)?;
    if let Some(root) = &common.out {
        refuse_input(&root.join("requests.parquet"), [arrivals])?;
    }
    let mut folder = common.out.as_ref().map(|root| out_folder(root, common)).transpose()?;
    let mut requests = None;
    if let (true, Some(folder)) = (common.watch.requests, folder.as_mut()) {
        let names: Vec<String> = tenants.iter().map(|tenant| tenant.name.clone()).collect();
        requests = Some(start_requests(folder, &names)?);
    }
    let options = DriveOptions { check: common.check, blame: common.watch.blame };
    let drive = Drive::with_options(&device.config, &tenants, common.seed, &options)?;
    let seed = rows.seed();
    let sink = requests.as_mut().map(|(sink, _)| sink);
    let mut run = Replay { drive, sink, place: arrivals, counts: Counts::default() };
    run.all(rows)?;
    let (counts, summary, blame) = (run.counts, run.drive.summary()?, run.drive.blame()?);
    let value = to_json(&summary)?;
    if let Some(folder) = folder {
        let mut files: Vec<(PathBuf, Content)> =
            vec![("summary.json".into(), pretty(&value).into())];
        if let Some(blame) = &blame {
            files.push(("blame.json".into(), pretty(&to_json(blame)?).into()));
        }
        if let Some((mut sink, staged)) = requests {
            sink.finish()?;
            files.push(("requests.parquet".into(), Content::Staged(staged)));
        }
        folder.write(files)?;
    }
    let json = common.format == Format::Json;
    if !json || !common.quiet {
        show(summary_table::report(&summary, None).trim_end(), json)?;
        if let Some(blame) = &blame {
            show(blame_table::blame(blame).trim_end(), json)?;
        }
        show(&counts.told(seed.filter(|&seed| seed != common.seed)), json)?;
    }
    if json { print_data(&format!("{value}\n")) } else { Ok(()) }
}

fn out_folder(root: &Path, common: &CommonArgs) -> Result<OutFolder, Error> {
    let folder = OutFolder::prepare(root, common.overwrite.overwrite)?.of_set(RUN);
    folder.expect(places_of_results::<PathBuf>([])).map(|()| folder)
}

fn start_requests(
    folder: &mut OutFolder,
    names: &[String],
) -> Result<(RequestFile, NamedTempFile), Error> {
    let staged = folder.stage(Path::new("requests.parquet"))?;
    let handle = staged.as_file().try_clone();
    let handle = handle
        .map_err(|error| Error::Output(format!("requests.parquet: cannot be written: {error}")))?;
    Ok((RequestFile::create(handle, names)?, staged))
}

/// Commands of a recording by what became of them.
#[derive(Debug, Default)]
struct Counts {
    completed: u64,
    /// Commands that completed in the recording too.
    compared: u64,
    /// Compared commands that completed at the same time.
    equal: u64,
}

impl Counts {
    /// What the times say, for people.
    fn told(&self, recorded_seed: Option<u64>) -> String {
        let Self { completed, compared, equal } = self;
        let mut text = format!(
            "\n{equal} of {compared} commands completed at the recorded picosecond ({completed} replayed)"
        );
        if let Some(seed) = recorded_seed.filter(|_| equal < compared) {
            text += &format!("; the recording has seed {seed}");
        }
        text
    }
}

struct Replay<'a> {
    drive: Drive,
    sink: Option<&'a mut RequestFile>,
    place: &'a Path,
    counts: Counts,
}

impl Replay<'_> {
    /// Submits every row after the events up to and including its time, and runs to the end.
    fn all(&mut self, mut rows: Arrivals) -> Result<(), Error> {
        let mut expected = BTreeMap::new();
        let mut completions = Vec::new();
        let mut number = 0;
        while let Some(ArrivalRow { at_ps, tenant, command, complete_ps }) = rows.next_row()? {
            self.drive.advance(Time(at_ps), &mut completions)?;
            self.over(&mut completions, &mut expected)?;
            self.drive.schedule(Time(at_ps), tenant, command, number).map_err(|refused| {
                let place = format!("{}: row {}", self.place.display(), number + 1);
                Error::config(place, refused.to_string())
            })?;
            expected.insert(number, complete_ps);
            number += 1;
        }
        while let Some(at) = self.drive.next_event() {
            self.drive.advance(at, &mut completions)?;
            self.over(&mut completions, &mut expected)?;
        }
        Ok(())
    }

    fn over(
        &mut self,
        completions: &mut Vec<Completion>,
        expected: &mut BTreeMap<u64, Option<u64>>,
    ) -> Result<(), Error> {
        for done in completions.iter() {
            self.counts.completed += 1;
            if let Some(recorded) = expected.remove(&done.cookie).flatten() {
                self.counts.compared += 1;
                self.counts.equal += u64::from(recorded == done.at().0);
            }
        }
        if let (Some(sink), false) = (&mut self.sink, completions.is_empty()) {
            sink.take(&mut completions.iter().map(|done| done.record).collect())?;
        }
        completions.clear();
        Ok(())
    }
}
