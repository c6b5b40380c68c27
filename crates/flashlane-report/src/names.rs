//! Names of the columns of a comparison, by the differences of the runs.

use std::collections::BTreeSet;

use flashlane::metrics::Summary;

use crate::data::RunData;

/// Most flows in the name of a workload without a name.
const FLOWS_MAX: usize = 3;

/// Names runs by their differences: scenario, scheduler, isolation, device and compatibility mode.
/// If two runs still have one name, they are also named by their places, and then by their seeds.
/// Runs that the reader named keep these names if they differ.
///
/// `sources`: the place of each run, as the folders of a path from the outside in; empty if it has
/// no place. Only runs of one place are numbered.
///
/// # Panics
/// Unless there is one list of steps for each run.
pub fn name_columns(runs: &mut [RunData], sources: &[Vec<String>]) {
    assert_eq!(runs.len(), sources.len(), "one source for each run");
    let given: Vec<String> = runs.iter().map(|run| run.label.clone()).collect();
    if runs.len() == 1 || (runs.iter().all(|run| run.named) && are_unique(&given)) {
        return;
    }
    let facts: [fn(&RunData) -> String; 5] = [
        scenario,
        |run| run.summary.scheduler.clone(),
        |run| run.summary.isolation.clone(),
        |run| run.summary.device.clone(),
        |run| match &run.summary.compat {
            Some(mode) => format!("compat {mode}"),
            None => "no compat".to_owned(),
        },
    ];
    let mut parts: Vec<Vec<String>> = Vec::new();
    for fact in facts {
        add(&mut parts, runs.iter().map(fact).collect());
    }
    let mut names = joined(&parts, runs.len());
    let places = places(runs, sources);
    let seeds = runs.iter().map(|run| format!("seed {}", run.summary.seed)).collect();
    let real = are_unique(&places) && places.iter().all(|place| !place.is_empty());
    if !are_unique(&names) && real {
        names = places;
    } else {
        for more in [places, seeds] {
            if !are_unique(&names) {
                add(&mut parts, more);
                names = joined(&parts, runs.len());
            }
        }
    }
    let again = names.clone();
    for (index, (run, name)) in runs.iter_mut().zip(names).enumerate() {
        let twins = again.iter().filter(|other| **other == name).count();
        let number = again[..=index].iter().filter(|other| **other == name).count();
        run.label = match (name.is_empty(), twins) {
            (false, 1) => name,
            (false, _) => format!("{name} ({number})"),
            (true, _) => {
                let place = sources[index].last().filter(|step| !step.is_empty()).cloned();
                format!("{} ({number})", place.unwrap_or_else(|| scenario(run)))
            }
        };
    }
}

/// The name of the workload, or the names of its flows.
fn scenario(run: &RunData) -> String {
    if run.named {
        return run.label.clone();
    }
    workload_name(&run.summary)
}

/// The name of a workload; if it has none, the names of its flows.
fn workload_name(summary: &Summary) -> String {
    if !summary.workload.is_empty() {
        return summary.workload.clone();
    }
    let names: Vec<&str> = summary.flows.iter().map(|flow| flow.name.as_str()).collect();
    match names.len() {
        0..=FLOWS_MAX => names.join(", "),
        all => format!("{} and {} more", names[..FLOWS_MAX].join(", "), all - FLOWS_MAX),
    }
}

fn are_unique(names: &[String]) -> bool {
    names.iter().collect::<BTreeSet<_>>().len() == names.len()
}

/// Adds a part of the names, unless all runs agree in it or it was added already.
fn add(parts: &mut Vec<Vec<String>>, part: Vec<String>) {
    let differ = part.iter().any(|one| *one != part[0]);
    if differ && !parts.contains(&part) {
        parts.push(part);
    }
}

fn joined(parts: &[Vec<String>], count: usize) -> Vec<String> {
    let name = |run: usize| {
        let of: Vec<&str> =
            parts.iter().map(|part| part[run].as_str()).filter(|text| !text.is_empty()).collect();
        of.join(", ")
    };
    (0..count).map(name).collect()
}

/// The places of runs, as far as they differ. Folders of scenarios are left out if the scenarios
/// have names.
fn places(runs: &[RunData], sources: &[Vec<String>]) -> Vec<String> {
    let named = runs.iter().any(|run| scenario(run) != scenario(&runs[0]));
    let numbered = |step: &String| {
        let number = step.strip_prefix("scenario-");
        number.is_some_and(|number| number.parse::<u64>().is_ok())
    };
    let kept = |source: &Vec<String>| match source.split_last() {
        Some((last, above)) if named && numbered(last) => above.to_vec(),
        _ => source.clone(),
    };
    told_apart(&sources.iter().map(kept).collect::<Vec<_>>())
}

/// The steps by which sources differ. For paths of equal length, those that are not equal in all;
/// otherwise the steps after the common ones.
fn told_apart(sources: &[Vec<String>]) -> Vec<String> {
    let length = sources[0].len();
    let kept = |keep: &dyn Fn(usize) -> bool, source: &[String]| {
        let steps = source.iter().enumerate().filter(|(step, _)| keep(*step));
        steps.map(|(_, text)| text.as_str()).collect::<Vec<_>>().join("/")
    };
    let same = |step: usize| sources.iter().all(|source| source.get(step) == sources[0].get(step));
    let names: Vec<String> = if sources.iter().all(|source| source.len() == length) {
        sources.iter().map(|source| kept(&|step| !same(step), source)).collect()
    } else {
        let common = (0..length).take_while(|&step| same(step)).count();
        let from = |source: &Vec<String>| common.min(source.len().saturating_sub(1));
        sources.iter().map(|source| kept(&|step| step >= from(source), source)).collect()
    };
    if are_unique(&names) { names } else { sources.iter().map(|s| s.join("/")).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane::metrics::FlowSummary;

    fn run(workload: &str, scheduler: &str, device: &str, seed: u64) -> RunData {
        let mut summary = Summary { seed, ..Summary::default() };
        summary.flows = vec![FlowSummary { name: "only".to_owned(), ..FlowSummary::default() }];
        workload.clone_into(&mut summary.workload);
        scheduler.clone_into(&mut summary.scheduler);
        device.clone_into(&mut summary.device);
        RunData::from_summary("scenario-1", summary)
    }

    fn names(runs: &[RunData], sources: &[&str]) -> Vec<String> {
        let steps = |path: &&str| path.split('/').map(str::to_owned).collect();
        let mut runs = runs.to_vec();
        name_columns(&mut runs, &sources.iter().map(steps).collect::<Vec<_>>());
        runs.into_iter().map(|run| run.label).collect()
    }

    #[test]
    fn columns_are_named_by_what_differs() {
        let (a, b) = (run("day", "fcfs", "tiny", 1), run("day", "flin", "tiny", 1));
        let c = run("night", "fcfs", "tiny", 1);
        let d = run("day", "fcfs", "fast18", 1);
        assert_eq!(names(&[a.clone(), b.clone()], &["x", "y"]), ["fcfs", "flin"]);
        assert_eq!(names(&[a.clone(), c.clone()], &["x/1", "x/2"]), ["day", "night"]);
        assert_eq!(
            names(&[a.clone(), b, c], &["x/1", "y/1", "x/2"]),
            ["day, fcfs", "day, flin", "night, fcfs"]
        );
        assert_eq!(names(&[a, d], &["x", "y"]), ["tiny", "fast18"]);
    }

    #[test]
    fn equal_runs_are_named_by_their_place_and_numbered_only_if_that_is_the_same() {
        let (a, b) = (run("day", "fcfs", "tiny", 1), run("day", "fcfs", "tiny", 2));
        let two = |sources: [&str; 2]| names(&[a.clone(), a.clone()], &sources);
        assert_eq!(two(["out/A/scenario-1", "out/B/scenario-1"]), ["A", "B"]);
        assert_eq!(two(["out/A", "other/deep/A"]), ["out/A", "other/deep/A"]);
        assert_eq!(two(["out", "out/A"]), ["out", "A"]);
        assert_eq!(two(["out", "out"]), ["out (1)", "out (2)"]);
        assert_eq!(two(["", ""]), ["day (1)", "day (2)"]);
        assert_eq!(names(&[a.clone(), b], &["", ""]), ["seed 1", "seed 2"]);
        let (c, night) = (run("day", "flin", "tiny", 1), run("night", "fcfs", "tiny", 1));
        let three = [a.clone(), c, a.clone()];
        assert_eq!(
            names(&three, &["out/first", "out/flin", "out/more"]),
            ["first", "flin", "more"]
        );
        let three = [a.clone(), night, a.clone()];
        let sources = ["A/scenario-1", "A/scenario-2", "B/scenario-1"];
        assert_eq!(names(&three, &sources), ["day, A", "night, A", "day, B"]);
    }

    #[test]
    fn names_of_the_reader_stay_where_they_differ() {
        let named = |label: &str, scheduler: &str| {
            let mut run = run("day", scheduler, "tiny", 1);
            (run.named, run.label) = (true, label.to_owned());
            run
        };
        let both = [named("old", "fcfs"), named("new", "flin")];
        assert_eq!(names(&both, &["", ""]), ["old", "new"]);
        let both = [named("same", "fcfs"), named("same", "flin")];
        assert_eq!(names(&both, &["", ""]), ["fcfs", "flin"]);
    }
}
