//! `flashlane run --arrivals`: replays a recording of `flashlane serve --record`.

use std::collections::BTreeMap;
use std::path::Path;

use flashlane::config::load;
use flashlane::drive::{Completion, DriveOptions};
use flashlane::observe::RequestSink;
use flashlane::{Drive, Error, Time};
use flashlane_results::{ArrivalRow, Arrivals, RequestFile};

use crate::args::{Format, RunArgs};
use crate::commands::driven::Driven;
use crate::commands::serve::one_workload;
use crate::execute::to_json;
use crate::output::{Content, OutFolder, print_data, refuse_input, show};
use crate::watch::start_requests;

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
    let folder = |root| OutFolder::for_run(root, common.overwrite.overwrite, &[]);
    let mut folder = common.out.as_deref().map(folder).transpose()?;
    let asked = folder.as_mut().filter(|_| common.watch.requests);
    let start = |folder| start_requests(folder, Path::new(""), &tenants);
    let mut requests = asked.map(start).transpose()?;
    let options = DriveOptions { check: common.check, blame: common.watch.blame };
    let drive = Drive::with_options(&device.config, &tenants, common.seed, &options)?;
    let seed = rows.seed();
    let sink = requests.as_mut().map(|(_, sink)| sink);
    let mut run = Replay { drive, sink, place: arrivals, counts: Counts::default() };
    run.all(rows)?;
    let (counts, summary, blame) = (run.counts, run.drive.summary()?, run.drive.blame()?);
    let driven = Driven { summary: &summary, blame: blame.as_ref() };
    if let Some(folder) = folder {
        let mut files = driven.files()?;
        if let Some((staged, mut sink)) = requests {
            sink.finish()?;
            files.push(("requests.parquet".into(), Content::Staged(staged)));
        }
        folder.write(files)?;
    }
    let json = common.format == Format::Json;
    if !json || !common.quiet {
        driven.show(json)?;
        show(&counts.told(seed.filter(|&seed| seed != common.seed)), json)?;
    }
    if json { print_data(&format!("{}\n", to_json(&summary)?)) } else { Ok(()) }
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
