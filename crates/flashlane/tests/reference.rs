//! Against figures of the released MQSim that are part of the project, so that anybody can check.
//!
//! `reference/*.toml` holds facts only: the tags in which the inputs of a case differ from a base,
//! and what the release reported for them. The input files are written from the table and read like
//! those of any user with `--compat mqsim`. Every run is judged as in `tests/oracle.rs`. That test
//! also has the cases that replay traces; it needs data that is not part of the project.
//!
//! `REFERENCE_CASE=text` picks cases by name; `--nocapture` prints every case;
//! `REFERENCE_INPUTS=folder` keeps the input files, to run them in the released MQSim.

mod inputs;
mod mixed;
mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::oracle::explained::{EXPLAINED, Known, explanation};
use crate::oracle::frame::{jobs, oracle};
use crate::oracle::judge::{
    Case, Closeness, GROUPS, amplification, faults, only_served, pages, run_all, run_pair,
};
use flashlane::config::load::{self, Overrides};
use flashlane::config::{DeviceConfig, WorkloadConfig};
use flashlane::metrics::Summary;
use inputs::Inputs;
use table::{Row, rows};

/// Both configurations as the command line reads them with `--compat mqsim`.
fn load(folder: &Path) -> (DeviceConfig, WorkloadConfig) {
    let overrides = Overrides { compat_mqsim: true, ..Overrides::default() };
    let device = folder.join("ssdconfig.xml").display().to_string();
    let device = load::device(&device, &overrides).unwrap_or_else(|error| panic!("{error}"));
    let mut workloads = load::workloads(&folder.join("workload.xml"), &overrides)
        .unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(workloads.len(), 1, "one scenario a case");
    // The path of the file is no part of what it means.
    let device = DeviceConfig { source: String::new(), ..device.config };
    (device, workloads.remove(0).config)
}

/// A row with the folder of its inputs and both configurations.
struct Job {
    folder: PathBuf,
    case: Case,
    device: DeviceConfig,
    workload: WorkloadConfig,
}

impl Job {
    /// Writes the inputs of a row into a folder of its own inside `root`, and reads them.
    fn new(root: &Path, row: &Row) -> Self {
        let folder = root.join(&row.name);
        row.inputs.write(&folder).unwrap_or_else(|error| panic!("{}: {error}", row.name));
        let (device, workload) = load(&folder);
        let group = |name: &str| row.name.split_once('/').is_some_and(|(group, _)| group == name);
        let (_, closeness) = table::all_groups().find(|(name, _)| group(name)).expect("a group");
        let case = Case::new(row.name.clone(), closeness, &device, &workload, row.figures.clone());
        Self { folder, case, device, workload }
    }

    fn try_run(&self) -> Result<Summary, String> {
        let mut workload = self.workload.clone();
        only_served(&self.case, &mut workload);
        run_pair(&self.device, &workload)
    }

    fn run(&self) -> Summary {
        self.try_run().unwrap_or_else(|error| panic!("{}: {error}", self.case.name))
    }
}

/// How many runs of the table are inside their tolerance, and what is known of the others.
#[derive(Default)]
struct Verdict {
    inside: usize,
    explained: usize,
    /// Flows with the release's mean to five digits.
    equal_flows: usize,
    failures: Vec<String>,
}

impl Verdict {
    fn add(&mut self, case: &Case, summary: &Summary) {
        let wrong = faults(case, summary);
        match (wrong.is_empty(), explanation(&case.name)) {
            (true, None) => self.inside += 1,
            (true, Some(_)) => self.failures.push(format!("{}: explained, but inside", case.name)),
            (false, Some(known)) => {
                println!("    explained by {}: {}", known.why, wrong.join("; "));
                self.explained += 1;
            }
            (false, None) => self.failures.push(format!("{}: {}", case.name, wrong.join("; "))),
        }
        if case.figures.lossy {
            let theirs = case.figures.pages.as_ref().map_or(f64::NAN, amplification);
            let ours = amplification(&pages(summary));
            return line(&case.name, "WA", theirs, ours, summary);
        }
        for (at, theirs) in case.figures.flows.iter().enumerate() {
            let ours = summary.flows[at].response_time_us.mean;
            self.equal_flows += usize::from((ours / theirs.mean - 1.0).abs() < 1e-5);
            line(&case.name, &at.to_string(), theirs.mean, ours, summary);
        }
    }

    /// What the documentation says of it.
    fn sentence(&self) -> String {
        let Self { inside, explained, .. } = self;
        let cases = inside + explained;
        format!("{inside} of {cases} cases agree; the other {explained} have a known cause")
    }
}

fn line(name: &str, what: &str, theirs: f64, ours: f64, summary: &Summary) {
    println!(
        "{name:<44} {what:>2} {theirs:>12.3} {ours:>12.3} {:>8.3} {:>7.2} s",
        100.0 * (ours / theirs - 1.0),
        summary.wall_s + summary.precondition_wall_s
    );
}

#[test]
fn the_figures_of_the_released_mqsim_are_met() {
    let temporary = tempfile::tempdir().expect("a temporary folder");
    let kept = std::env::var_os("REFERENCE_INPUTS").map(PathBuf::from);
    let root = kept.as_deref().unwrap_or(temporary.path());
    let only = std::env::var("REFERENCE_CASE").unwrap_or_default();
    let wanted = |row: &Row| row.name.contains(&only) && !mixed::is_of_a_set(&row.name);
    let rows: Vec<Row> = rows().into_iter().filter(wanted).collect();
    let jobs: Vec<Job> = rows.iter().map(|row| Job::new(root, row)).collect();
    let summaries = run_all(&jobs, Job::run);
    println!(
        "{:<44} {:>2} {:>12} {:>12} {:>8} {:>9}",
        "case", "", "MQSim us", "ours us", "diff %", ""
    );
    let mut verdict = Verdict::default();
    for (job, summary) in jobs.iter().zip(&summaries) {
        verdict.add(&job.case, summary);
    }
    println!("{}; {} flows equal to five digits", verdict.sentence(), verdict.equal_flows);
    assert!(verdict.failures.is_empty(), "{}", verdict.failures.join("\n"));
    if !only.is_empty() {
        return;
    }
    let find = |name: &str| {
        let at = jobs.iter().position(|job| job.case.name == name)?;
        let (Job { case, folder, .. }, summary) = (&jobs[at], summaries[at].clone());
        Some(Known { case, inputs: folder, summary })
    };
    let checked: usize = EXPLAINED.iter().map(|explained| explained.check(&find)).sum();
    println!("what explains {checked} of them is shown by cases of the table");
    for document in ["README.md", "docs/validation.md", "docs/mqsim.md", "docs/oracle.md"] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../..").join(document);
        let text = std::fs::read_to_string(path).expect("readable");
        let words: Vec<&str> = text.split_whitespace().collect();
        let sentence = verdict.sentence();
        assert!(words.join(" ").contains(&sentence), "{document} does not say: {sentence}");
    }
}

#[test]
fn the_table_covers_every_group_and_is_not_picked_for_agreement() {
    let rows = rows();
    assert!(rows.len() >= 200, "{} cases", rows.len());
    for (group, _) in GROUPS {
        let count = rows.iter().filter(|row| row.name.starts_with(&format!("{group}/"))).count();
        println!("{group:<26} {count:>3}");
        assert!(count > 0, "{group} has no case");
    }
    let outside = rows.iter().filter(|row| explanation(&row.name).is_some()).count();
    println!("{} cases, {outside} of them outside their tolerance", rows.len());
    assert!(outside * 10 <= rows.len(), "at most one case in ten is explained");
}

/// Random and minimal combinations: the flows outside are known by name.
#[test]
fn mixed_figures_are_met_but_for_known_flows() {
    are_met_but_for_known_flows(&mixed::MIXED);
}

/// Combinations that were drawn at random for this test.
#[test]
fn random_figures_are_met_but_for_known_flows() {
    are_met_but_for_known_flows(&mixed::RANDOM);
}

fn are_met_but_for_known_flows(set: &mixed::Set) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let rows: Vec<Row> = rows().into_iter().filter(|row| set.has(&row.name)).collect();
    let jobs: Vec<Job> = rows.iter().map(|row| Job::new(folder.path(), row)).collect();
    let summaries = run_all(&jobs, Job::try_run);
    let results: Vec<_> = jobs.iter().map(|job| &job.case).zip(&summaries).collect();
    set.check(&results);
}

#[test]
fn a_wrong_figure_is_found() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let rows = rows();
    // By name, and by what the tolerance has to notice.
    for (name, factor) in [
        ("g2_latency_floor/off_read_rand_8K", 1.000_02),
        ("g2_latency_floor/off_write_rand_8K", 1.006),
        ("g5_cmt/cmt64K_ws1_rand_read", 1.06),
    ] {
        let row = rows.iter().find(|row| row.name == name).unwrap_or_else(|| panic!("{name}"));
        let mut job = Job::new(folder.path(), row);
        let summary = job.run();
        assert_eq!(faults(&job.case, &summary), Vec::<String>::new(), "{name}");
        for factor in [factor, 1.0 / factor] {
            let right = job.case.figures.clone();
            job.case.figures.flows[0].mean *= factor;
            let found = faults(&job.case, &summary);
            assert!(found[0].contains("flow 0 mean"), "{name}, mean times {factor}: {found:?}");
            job.case.figures = right;
        }
        job.case.figures.flows[0].requests *= 2;
        let found = faults(&job.case, &summary);
        assert!(found.iter().any(|fault| fault.contains("requests")), "{name}: {found:?}");
    }
}

#[test]
fn settings_that_no_base_has_are_refused() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut row = rows().remove(0);
    row.inputs.device = inputs::Differences::parse("Flash_Chanel_Count=4").expect("a pair");
    let error = row.inputs.write(folder.path()).expect_err("misspelt");
    assert!(error.contains("Flash_Chanel_Count"), "{error}");
    assert!(inputs::Differences::parse("Flash_Channel_Count").is_err());
}

/// True if the table has the inputs of a folder of the full reference runs: all but those that
/// replay a trace. [`the_table_equals_the_full_reference_runs`] shows it.
pub(crate) fn has(inputs: &Path) -> bool {
    Inputs::read(inputs).is_some()
}

/// The rows that the full reference runs give: one for every distinct pair of inputs without a
/// trace. Where several cases have the same inputs, one with exact times.
fn rows_of_the_full_runs(root: &Path) -> Vec<(Row, PathBuf)> {
    let mut found = Vec::new();
    for job in jobs(root, &table::groups().collect::<Vec<_>>()).0 {
        let exact = |case: &&Case| case.figures.flows.iter().all(|flow| flow.cut == 0.0);
        let case = job.cases.iter().find(exact).unwrap_or(&job.cases[0]);
        let Some(inputs) = Inputs::read(&job.inputs) else { continue };
        let (name, mut figures) = (case.name.clone(), case.figures.clone());
        for flow in &mut figures.flows {
            // The reference has a sum over a count; a picosecond is enough.
            flow.mean = (flow.mean * 1e6).round() / 1e6;
        }
        found.push((Row { name, inputs, figures }, job.inputs));
    }
    // Some means of the table are not of the stock release.
    let committed: BTreeMap<String, Row> =
        rows().into_iter().map(|row| (row.name.clone(), row)).collect();
    for (row, _) in &mut found {
        let Some(known) = committed.get(&row.name) else { continue };
        for (flow, known) in row.figures.flows.iter_mut().zip(&known.figures.flows) {
            if known.stock.is_some() {
                (flow.mean, flow.stock) = (known.mean, Some(flow.mean));
            }
        }
    }
    found.sort_by_key(|(row, _)| {
        let group = |(name, _): (&str, Closeness)| row.name.starts_with(&format!("{name}/"));
        (table::groups().position(group), row.name.clone())
    });
    found
}

/// Facts and inputs of the table are those of the full reference runs. `UPDATE_REFERENCE=1` writes
/// the table from them.
#[test]
fn the_table_equals_the_full_reference_runs() {
    let Some(root) = oracle() else { return };
    let full = rows_of_the_full_runs(&root);
    if std::env::var_os("UPDATE_REFERENCE").is_some() {
        table::write(&full.iter().map(|(row, _)| row.clone()).collect::<Vec<Row>>());
    }
    let committed: Vec<Row> =
        rows().into_iter().filter(|row| !mixed::RANDOM.has(&row.name)).collect();
    let names = |row: &Row| row.name.clone();
    assert_eq!(
        committed.iter().map(names).collect::<Vec<String>>(),
        full.iter().map(|(row, _)| names(row)).collect::<Vec<String>>()
    );
    let folder = tempfile::tempdir().expect("a temporary folder");
    for (committed, (full, inputs)) in committed.iter().zip(&full) {
        assert_eq!(committed, full, "{}", full.name);
        let job = Job::new(folder.path(), committed);
        assert!((job.device, job.workload) == load(inputs), "{}: other configurations", full.name);
    }
}

#[test]
fn without_the_shared_data_tests_say_that_they_are_skipped() {
    flashlane_testing::assert_skipped_without_shared(
        module_path!(),
        &["the_table_equals_the_full_reference_runs"],
    );
}
