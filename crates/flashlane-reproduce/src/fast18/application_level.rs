//! Fig. 9: file server, mail server, web server and IOzone alone and in pairs, as programs that run
//! in virtual time; a slowdown is IPC alone over IPC.

use flashlane::Error;
use flashlane::config::load::{self, Overrides};
use flashlane_exec::{ExecConfig, ExecOptions, ProgramResult, programs};

use super::contention::quotients;
use crate::row::over_seeds;
use crate::{Bound, Findings, Lab, Row, Table};

const NAME: &str = super::APPLICATION_LEVEL;

/// The applications: the paper's name, the program, its page cache, its arguments.
///
/// A host has 512 MiB of memory. The set of `fs` and its memory are a sixteenth; the sets of `ms`
/// and `ws` are as published.
const APPLICATIONS: [(&str, &str, &str, &str); 4] = [
    ("fs", "fileserver", "32MiB", "files=625"),
    ("ms", "mailserver", "512MiB", "files=1000"),
    ("ws", "webserver", "512MiB", "files=1000"),
    ("io", "iozone", "512MiB", "file=64m"),
];

const FS: usize = 0;
const MS: usize = 1;
const WS: usize = 2;
const IO: usize = 3;

/// The pairs, in the order of the figure.
const PAIRS: [[usize; 2]; 6] = [[FS, MS], [FS, WS], [FS, IO], [MS, WS], [MS, IO], [WS, IO]];

/// The sizes of the figure.
const FETCH_SIZES: [u32; 2] = [16, 1024];

/// Numbers of records that io has under way. The paper does not give its number. All pairs run with
/// the first one, and those with io run with the others, too.
const DEPTHS: [u32; 3] = [64, 256, 1024];

/// Length of a run, with `--full` and without. Shorter runs understate the effect on fs with io: it
/// is 8 % in 500 ms and 15 % in 2 s.
const SPAN: &str = "ms=2000";

/// The two sizes that vary between runs.
#[derive(Clone, Copy)]
struct Setting {
    /// The QueueFetchSize of the drive.
    fetch: u32,
    /// Number of records that io has under way.
    depth: u32,
}

/// A run of the experiment.
#[derive(Clone, Debug, PartialEq)]
struct Job {
    /// The QueueFetchSize of the drive.
    fetch: u32,
    /// Number of records that io has under way.
    depth: u32,
    /// The programs that run.
    together: Vec<usize>,
    seed: u64,
}

/// The results of all runs.
struct Measured {
    jobs: Vec<Job>,
    results: Vec<Vec<ProgramResult>>,
    seeds: Vec<u64>,
}

impl Measured {
    /// The result of an application in a run.
    fn of(&self, application: usize, job: &Job) -> &ProgramResult {
        let run = self.jobs.iter().position(|one| one == job).expect("a run of the experiment");
        let place = job.together.iter().position(|&one| one == application);
        &self.results[run][place.expect("an application of the run")]
    }

    /// A figure of an application alone, for every seed.
    fn alone(
        &self,
        application: usize,
        at: Setting,
        of: impl Fn(&ProgramResult) -> f64,
    ) -> Vec<f64> {
        let one = |&seed: &u64| {
            let job = Job {
                fetch: at.fetch,
                depth: depth_of(application, at.depth),
                together: vec![application],
                seed,
            };
            of(self.of(application, &job))
        };
        self.seeds.iter().map(one).collect()
    }

    /// Slowdown of an application of a pair, for every seed.
    fn slowdown(&self, application: usize, at: Setting, pair: [usize; 2]) -> Vec<f64> {
        let alone = self.alone(application, at, |one| one.ipc);
        let together = self.seeds.iter().map(|&seed| {
            let job = Job { fetch: at.fetch, depth: at.depth, together: pair.to_vec(), seed };
            self.of(application, &job).ipc
        });
        alone.into_iter().zip(together).map(|(alone, together)| alone / together).collect()
    }

    /// Fairness of a pair, for every seed.
    fn fairness(&self, at: Setting, pair: [usize; 2]) -> Vec<f64> {
        let [first, second] = pair.map(|application| self.slowdown(application, at, pair));
        first.iter().zip(&second).map(|(a, b)| a.min(*b) / a.max(*b)).collect()
    }

    /// Fairness with 1024 entries divided by that with 16.
    fn effect(&self, depth: u32, pair: [usize; 2]) -> Vec<f64> {
        let fairness = |fetch| self.fairness(Setting { fetch, depth }, pair);
        quotients(&fairness(1024), &fairness(16))
    }
}

/// The depth of a run alone, which matters only for io.
fn depth_of(application: usize, depth: u32) -> u32 {
    if application == IO { depth } else { DEPTHS[0] }
}

/// The pairs with the depths of io that they run with.
fn pairs_and_depths() -> Vec<([usize; 2], u32)> {
    let with = |depth: u32| {
        let runs = move |pair: &[usize; 2]| depth == DEPTHS[0] || pair.contains(&IO);
        PAIRS.into_iter().filter(runs).map(move |pair| (pair, depth))
    };
    DEPTHS.into_iter().flat_map(with).collect()
}

fn name_of(pair: [usize; 2], depth: u32) -> String {
    let name = |application: usize| match (application, depth) {
        (IO, depth) if depth != DEPTHS[0] => format!("io of depth {depth}"),
        _ => APPLICATIONS[application].0.to_owned(),
    };
    pair.map(name).join(" with ")
}

/// Runs the experiment.
pub(super) fn run(lab: &Lab<'_>) -> Result<Findings, Error> {
    let measured = measure(lab)?;
    let mut rows = Vec::new();
    for (pair, depth) in pairs_and_depths() {
        let (effect, name) = (measured.effect(depth, pair), name_of(pair, depth));
        if pair == [FS, IO] {
            let change: Vec<f64> = effect.iter().map(|ratio| ratio - 1.0).collect();
            let metric = format!("{name}: fairness, 1024 against 16");
            let note = "\"a large QueueFetchSize value leads to 60% fairness reduction\"; the paper does \
                        not say how many requests its io has under way";
            rows.push(Row::number_over_seeds(NAME, metric, -0.6, &change, 0.0, "change", note));
        } else {
            let metric = format!("{name}: fairness, 1024 over 16");
            let bound = Bound::Between(0.9, 1.1);
            let note = "\"the impact of QueueFetchSize on fairness is negligible\"";
            rows.push(Row::statement_over_seeds(NAME, metric, &effect, bound, "x", note));
        }
    }
    for application in [MS, WS] {
        let at = Setting { fetch: 16, depth: DEPTHS[0] };
        let rate = |one: &ProgramResult| {
            let requests = one.requests;
            (requests.bytes_read + requests.bytes_written) as f64 / one.measured_s
        };
        let least = measured.alone(FS, at, rate).into_iter().zip(measured.alone(IO, at, rate));
        let least: Vec<f64> = least.map(|(fs, io)| fs.min(io)).collect();
        let share = quotients(&measured.alone(application, at, rate), &least);
        let metric =
            format!("{}: traffic alone, of the lesser of fs and io", APPLICATIONS[application].0);
        let bound = Bound::AtMost(0.2);
        let note = "\"issue very few requests to the SSD\"";
        rows.push(Row::statement_over_seeds(NAME, metric, &share, bound, "share", note));
    }
    Ok(Findings { rows, tables: vec![pairs(&measured), alone(&measured)] })
}

fn measure(lab: &Lab<'_>) -> Result<Measured, Error> {
    let folder = tempfile::tempdir()
        .map_err(|error| Error::Output(format!("a folder for programs: {error}")))?;
    for (_, program, ..) in APPLICATIONS {
        programs::build(program, folder.path())?;
    }
    let span = if lab.smoke { "ms=2" } else { SPAN };
    let seeds: Vec<u64> = (lab.seed..lab.seed + lab.seeds).collect();
    let mut jobs: Vec<Job> = Vec::new();
    for &seed in &seeds {
        for fetch in FETCH_SIZES {
            let mut run = |together: Vec<usize>, depth| {
                jobs.push(Job { fetch, depth, together, seed });
            };
            (0..APPLICATIONS.len()).for_each(|one| run(vec![one], DEPTHS[0]));
            DEPTHS[1..].iter().for_each(|&depth| run(vec![IO], depth));
            pairs_and_depths().into_iter().for_each(|(pair, depth)| run(pair.to_vec(), depth));
        }
    }
    let results = lab.each(&jobs, |Job { fetch, depth, together, seed }| {
        let mut text = String::from("device = \"fast18\"\n");
        for (name, program, cache, argument) in APPLICATIONS {
            let depth = if name == "io" { format!(", \"depth={depth}\"") } else { String::new() };
            text.push_str(&format!(
                "[[program]]\nname = \"{name}\"\nelf = \"{program}\"\n\
                 args = [\"{span}\", \"seed={seed}\", \"{argument}\"{depth}]\n\
                 host = {{ cache = \"{cache}\" }}\n"
            ));
        }
        let mut config = ExecConfig::from_toml(&text, &folder.path().join("applications.toml"))?;
        config.seed = *seed;
        // A drive with an eighth of the preset's blocks, which holds everything that the programs
        // touch.
        let fetch = format!("interface.queue_fetch_size={fetch}");
        let sets = vec!["flash.blocks_per_plane=256".to_owned(), fetch];
        let device = load::device("fast18", &Overrides { sets, ..Overrides::default() })?;
        let run = flashlane_exec::run(&config, &device.config, together, &ExecOptions::default())?;
        Ok(run.programs)
    })?;
    Ok(Measured { jobs, results, seeds })
}

/// The table of the figure.
fn pairs(measured: &Measured) -> Table {
    let columns = ["pair", "QueueFetchSize", "first slowdown", "second slowdown", "fairness"];
    let title = "Fig. 9: slowdowns (IPC alone over IPC) and fairness of the pairs";
    let mut table = Table::new("application-level", title, &columns);
    for (pair, depth) in pairs_and_depths() {
        for fetch in FETCH_SIZES {
            let at = Setting { fetch, depth };
            table.row(vec![
                name_of(pair, depth).as_str().into(),
                fetch.into(),
                over_seeds(&measured.slowdown(pair[0], at, pair)).0.into(),
                over_seeds(&measured.slowdown(pair[1], at, pair)).0.into(),
                over_seeds(&measured.fairness(at, pair)).0.into(),
            ]);
        }
    }
    table
}

/// A table of each application alone. The fetch size matters only to applications with more
/// requests at the drive.
fn alone(measured: &Measured) -> Table {
    let columns = [
        "alone",
        "QueueFetchSize",
        "IPC",
        "reads per ms",
        "writes per ms",
        "outstanding: mean",
        "p50",
        "p99",
        "max",
        "above 16",
    ];
    let title = "Each application alone: its requests at the drive, weighted by time";
    let mut table = Table::new("application-level-alone", title, &columns);
    let figure = (0..APPLICATIONS.len()).map(|application| (application, DEPTHS[0]));
    for (application, depth) in figure.chain(DEPTHS[1..].iter().map(|&depth| (IO, depth))) {
        let name = match depth {
            depth if depth == DEPTHS[0] => APPLICATIONS[application].0.to_owned(),
            depth => format!("io of depth {depth}"),
        };
        for fetch in FETCH_SIZES {
            let mean = |of: &dyn Fn(&ProgramResult) -> f64| {
                over_seeds(&measured.alone(application, Setting { fetch, depth }, of)).0
            };
            let per_ms = |count: u64, one: &ProgramResult| count as f64 / one.measured_s / 1e3;
            table.row(vec![
                name.as_str().into(),
                fetch.into(),
                mean(&|one| one.ipc).into(),
                mean(&|one| per_ms(one.requests.read, one)).into(),
                mean(&|one| per_ms(one.requests.write, one)).into(),
                mean(&|one| one.outstanding.mean).into(),
                mean(&|one| one.outstanding.p50 as f64).into(),
                mean(&|one| one.outstanding.p99 as f64).into(),
                mean(&|one| one.outstanding.max as f64).into(),
                mean(&|one| one.outstanding.above_16).into(),
            ]);
        }
    }
    table
}
