//! `flashlane compare` and reports.

use std::path::Path;

use crate::common::{folder_with, refused, succeeds};
use serde_json::Value;

const WORKLOAD: &str = "
[[flow]]
name = 'light'
[flow.synthetic]
queue_depth = 1
read_ratio = 1.0
requests = 100
[[flow]]
name = 'heavy'
[flow.synthetic]
queue_depth = 16
read_ratio = 0.5
requests = 1000
";

/// A run of the pair under a scheduler, in a folder of that name.
fn run(folder: &Path, scheduler: &str, more: &[&str]) {
    let run = ["run", "--device", "tiny", "--workload", "pair.toml", "--alone", "--quiet"];
    let of = ["--scheduler", scheduler, "--out", scheduler];
    succeeds(folder, &[&run[..], &of, more].concat());
}

#[test]
fn two_runs_stand_side_by_side() {
    let folder = folder_with("pair.toml", WORKLOAD);
    let folder = folder.path();
    run(folder, "fcfs", &[]);
    run(folder, "out-of-order", &[]);
    let compared = ["compare", "fcfs", "out-of-order/summary.json", "--report", "both.html"];
    let (table, stderr) = succeeds(folder, &compared);
    assert_eq!(stderr, "");
    let head = table.lines().next().expect("a head");
    assert!(head.contains("fcfs") && head.contains("out-of-order"), "{table}");
    assert!(table.contains("light: slowdown") && table.contains("fairness"), "{table}");
    let page = std::fs::read_to_string(folder.join("both.html")).expect("the page is there");
    assert!(page.contains("id=\"comparison\""));
    let (lines, _) = succeeds(folder, &["compare", "fcfs", "out-of-order", "--format", "json"]);
    let mut runs: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON")["run"].clone())
        .collect();
    runs.dedup();
    assert_eq!(runs, ["fcfs", "out-of-order", "out-of-order minus fcfs"]);
}

#[test]
fn what_is_no_result_is_refused_by_name() {
    let folder = folder_with("pair.toml", WORKLOAD);
    let folder = folder.path();
    std::fs::create_dir(folder.join("empty")).expect("made");
    std::fs::write(folder.join("x.json"), "{}").expect("written");
    std::fs::write(folder.join("x.html"), "<html></html>").expect("written");
    run(folder, "fcfs", &[]);
    for (bad, word) in [
        ("nowhere", "cannot be read"),
        ("empty", "holds no report.html and no summary.json"),
        ("x.json", "is no summary.json"),
        ("x.html", "carries no data"),
    ] {
        let said = refused(folder, &["compare", "fcfs", bad]);
        assert!(said.contains(bad) && said.contains(word), "{said}");
        assert_eq!(said.lines().count(), 1, "{said}");
    }
    let said = refused(folder, &["compare", "fcfs", "fcfs", "--report", "no/such.html"]);
    assert!(said.contains("cannot be written"), "{said}");
    assert!(refused(folder, &["compare", "fcfs"]).contains("RESULT"));
}

#[test]
fn a_report_goes_to_the_folder_of_results_and_is_compared_whole() {
    let folder = folder_with("pair.toml", WORKLOAD);
    let folder = folder.path();
    run(folder, "fcfs", &["--report"]);
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).expect("the page is there");
    let text = read("fcfs/report.html");
    assert!(text.contains("light suffers most"), "who suffers");
    assert!(text.contains("heavy causes"), "who causes it");
    assert!(text.contains("--scheduler fcfs"), "the command that repeats it");
    assert!(text.contains("queue_depth"), "the configuration");
    succeeds(folder, &["compare", "fcfs", "fcfs", "--report", "both.html"]);
    let both = read("both.html");
    assert!(both.contains("fcfs (1)") && both.contains("fcfs (2)"), "runs are told apart");
    assert!(both.contains("data-chart=\"blame\""), "blame comes along");
    let run = ["run", "--device", "tiny", "--workload", "pair.toml", "--report"];
    let said = refused(folder, &run);
    assert!(said.contains("--out"), "{said}");
}

/// The cells of a line of a table that starts with a name.
fn cells(table: &str, name: &str) -> Vec<String> {
    let line = table.lines().find(|line| line.starts_with(name)).expect("the line is there");
    let words = line[name.len()..].split("  ").map(str::trim).filter(|cell| !cell.is_empty());
    words.map(str::to_owned).collect()
}

#[test]
fn all_seeds_of_a_folder_are_compared() {
    let folder = folder_with("pair.toml", WORKLOAD);
    let folder = folder.path();
    let values = |name: &str, path: &str| -> Value {
        let text = std::fs::read_to_string(folder.join(name).join("seeds.json")).expect("written");
        serde_json::from_str::<Value>(&text).expect("JSON")[path].clone()
    };
    run(folder, "fcfs", &["--seeds", "3"]);
    run(folder, "out-of-order", &["--seeds", "3", "--seed", "5"]);
    assert_eq!(values("fcfs", "seeds"), serde_json::json!([1, 2, 3]));
    let iops = values("out-of-order", "flows[1].iops");
    let each: Vec<f64> = serde_json::from_value(iops["values"].clone()).expect("numbers");
    assert_eq!(each.len(), 3);
    for (value, seed) in each.iter().zip(["5", "6", "7"]) {
        let one = ["run", "--device", "tiny", "--workload", "pair.toml", "--alone", "--quiet"];
        let of = ["--scheduler", "out-of-order", "--seed", seed, "--format", "json"];
        let (line, _) = succeeds(folder, &[&one[..], &of].concat());
        let summary: Value = serde_json::from_str(&line).expect("JSON");
        assert_eq!(summary["flows"][1]["iops"], *value, "seed {seed}");
    }
    assert!(values("fcfs", "channels[1].channel").is_null(), "an identity is no metric");
    let (table, _) =
        succeeds(folder, &["compare", "fcfs", "out-of-order", "--report", "both.html"]);
    let mean = iops["mean"].as_f64().expect("a mean");
    let shown = &cells(&table, "heavy: IOPS")[1];
    assert!(shown.contains('±'), "{table}");
    let number: f64 = shown.split(' ').next().expect("a mean").parse().expect("a number");
    assert!((number - mean).abs() <= 0.5 + mean * 1e-3, "{number} {mean}");
    assert!(table.contains("fcfs: means over 3 seeds"), "{table}");
    let page = std::fs::read_to_string(folder.join("both.html")).expect("the page is there");
    assert!(page.contains("Figures are means over 3 seeds"));
    let row = page.split("heavy: IOPS").nth(1).and_then(|rest| rest.split("</tr>").next());
    assert_eq!(row.expect("a row").matches('±').count(), 2, "both columns have intervals");
    let (lines, _) = succeeds(folder, &["compare", "fcfs", "both.html", "--format", "json"]);
    let of_page = |line: &Value| {
        line["metric"] == "iops" && line["tenant"] == "heavy" && line["mean"].as_f64() == Some(mean)
    };
    let found: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str::<Value>(line).expect("JSON"))
        .filter(of_page)
        .collect();
    assert_eq!((found.len(), &found[0]["n"]), (1, &Value::from(3)), "a page carries the seeds");
}

#[test]
fn columns_are_named_by_what_differs() {
    let folder = folder_with("pair.toml", WORKLOAD);
    let folder = folder.path();
    for (out, name, scheduler) in [
        ("A/scenario-1", "day", "fcfs"),
        ("A/scenario-2", "night", "fcfs"),
        ("B/scenario-1", "day", "out-of-order"),
    ] {
        let set = format!("workload.name=\"{name}\"");
        let run = ["run", "--device", "tiny", "--workload", "pair.toml", "--quiet", "--set", &set];
        succeeds(folder, &[&run[..], &["--scheduler", scheduler, "--out", out]].concat());
    }
    let head = |arguments: &[&str]| {
        let (table, _) = succeeds(folder, &[&["compare"], arguments].concat());
        cells(&table, "side by side")
    };
    assert_eq!(head(&["A", "B"]), ["day, fcfs", "night, fcfs", "day, out-of-order"]);
    assert_eq!(head(&["A/scenario-1", "A/scenario-2"]), ["day", "night"]);
    assert_eq!(head(&["A/scenario-1", "B/scenario-1"]), ["fcfs", "out-of-order"]);
    assert_eq!(head(&["A/scenario-1", "A/scenario-1"]), ["scenario-1 (1)", "scenario-1 (2)"]);
    std::fs::create_dir(folder.join("C")).expect("made");
    std::fs::rename(folder.join("B"), folder.join("C/old")).expect("moved");
    let run = ["run", "--device", "tiny", "--workload", "pair.toml", "--quiet"];
    let more = ["--set", "workload.name=\"day\"", "--scheduler", "out-of-order"];
    succeeds(folder, &[&run[..], &more, &["--out", "C/new/scenario-1"]].concat());
    assert_eq!(head(&["C/old", "C/new"]), ["old", "new"], "folders tell equal runs apart");
}

#[test]
fn files_of_different_runs_in_one_folder_are_refused() {
    let folder = folder_with("pair.toml", WORKLOAD);
    let folder = folder.path();
    let (seeds, report) = (folder.join("fcfs/seeds.json"), folder.join("fcfs/report.html"));
    let read = |path| std::fs::read_to_string(path).expect("it is there");
    run(folder, "fcfs", &["--seeds", "2"]);
    let of_first = read(&seeds);
    // A run removes the files of an earlier one; people put them together again.
    run(folder, "fcfs", &["--set", "flow.light.synthetic.requests=50"]);
    std::fs::write(&seeds, of_first).expect("room");
    let said = refused(folder, &["compare", "fcfs", "fcfs"]);
    assert!(said.contains("seeds.json: belongs to another summary.json"), "{said}");
    std::fs::remove_file(&seeds).expect("it is there");
    run(folder, "fcfs", &["--report"]);
    let of_first = read(&report);
    run(folder, "fcfs", &["--set", "flow.light.synthetic.requests=60"]);
    std::fs::write(&report, of_first).expect("room");
    let said = refused(folder, &["compare", "fcfs", "fcfs"]);
    assert!(said.contains("report.html: is of another run"), "{said}");
}

const OVERLOAD: &str = "
[[flow]]
name = 'busy'
cache = 'off'
[flow.synthetic]
iops = 200000.0
read_ratio = 0.0
size = '4KiB'
duration = '20ms'
[[flow]]
name = 'calm'
[flow.synthetic]
queue_depth = 1
read_ratio = 1.0
duration = '20ms'
";

/// The verdict on a drive that cannot keep up comes before all numbers, column by column.
#[test]
fn the_verdict_of_every_column_stands_first() {
    let folder = folder_with("pair.toml", OVERLOAD);
    let folder = folder.path();
    run(folder, "fcfs", &[]);
    run(folder, "out-of-order", &["--seeds", "2"]);
    let calm = OVERLOAD.replace("iops = 200000.0", "iops = 500.0");
    std::fs::write(folder.join("pair.toml"), calm).expect("room");
    run(folder, "read-priority", &[]);
    let all = ["compare", "fcfs", "out-of-order", "read-priority", "--report", "all.html"];
    let (table, _) = succeeds(folder, &all);
    let at = |text: &str| table.find(text).unwrap_or_else(|| panic!("no {text}: {table}"));
    let said = "Saturated: the drive does not keep up with flow busy (";
    assert!(
        at(&format!("fcfs: {said}offered ")) < at(&format!("out-of-order: {said}in 2 of 2 seeds;"))
    );
    assert!(at("out-of-order: Saturated") < at("side by side"), "{table}");
    assert!(!table.contains("read-priority: "), "{table}");
    for name in
        ["busy: mean response, us", "busy: p99 response, us", "busy: slowdown", "largest slowdown"]
    {
        let cells = cells(&table, name);
        let starred: Vec<bool> = cells.iter().map(|cell| cell.ends_with('*')).collect();
        assert_eq!(starred, [true, true, false], "{name}: {table}");
    }
    for name in ["busy: IOPS", "calm: slowdown", "calm: mean response, us", "write amplification"] {
        assert!(!cells(&table, name).concat().contains('*'), "{name}: {table}");
    }
    assert!(at("* depends on the length of the run") > at("write amplification"));
    let page = std::fs::read_to_string(folder.join("all.html")).expect("the page is there");
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}"));
    assert!(at("<b>fcfs:</b> Saturated") < at("<b>out-of-order:</b> Saturated"));
    assert!(at("<b>out-of-order:</b> Saturated") < at("id=\"comparison\""));
    assert!(!page.contains("<b>read-priority:</b>"));
}

#[test]
fn the_trade_off_comes_first_and_the_table_has_other_forms() {
    let folder = folder_with(
        "w.toml",
        "[[flow]]\nname = 'reader'\nsynthetic = { queue_depth = 1, read_ratio = 1.0, requests = 300 }\n\
         [[flow]]\nname = 'writer'\nsynthetic = { queue_depth = 16, read_ratio = 0.0, requests = 900 }\n",
    );
    let folder = folder.path();
    for scheduler in ["fcfs", "read-priority"] {
        let run = ["run", "--device", "tiny", "--workload", "w.toml", "--scheduler", scheduler];
        succeeds(folder, &[&run[..], &["--seeds", "3", "--out", scheduler, "--quiet"]].concat());
    }
    let compared =
        |more: &[&str]| succeeds(folder, &[&["compare", "fcfs", "read-priority"], more].concat());
    let (said, _) = compared(&[]);
    assert!(said.starts_with("Against fcfs, read-priority cuts reader's "), "{said}");
    let (markdown, _) = compared(&["--format", "markdown"]);
    assert!(
        markdown.starts_with("| side by side | fcfs | read-priority |\n| --- | ---: | ---: |\n")
    );
    let (latex, _) = compared(&["--format", "latex"]);
    assert!(latex.starts_with("\\begin{tabular}{lrr}\n") && latex.contains("$\\pm$"), "{latex}");
    let rows = |text: &str, extra: usize| text.lines().count() - extra;
    assert_eq!(rows(&markdown, 2), rows(&latex, 6), "{latex}");
}

/// The rows of `compare --format json`.
fn data(folder: &Path, arguments: &[&str]) -> Vec<Value> {
    let (lines, _) = succeeds(folder, &[&["compare", "--format", "json"], arguments].concat());
    lines.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
}

/// The row of a metric, a run and a tenant.
fn row<'a>(rows: &'a [Value], metric: &str, run: &str, tenant: &str) -> &'a Value {
    let is = |row: &&Value| {
        [("metric", metric), ("run", run), ("tenant", tenant)].iter().all(|(k, v)| row[k] == *v)
    };
    rows.iter().find(is).unwrap_or_else(|| panic!("{metric} of {tenant} in {run}"))
}

#[test]
fn data_have_a_row_for_each_metric_run_and_tenant() {
    let folder = folder_with("pair.toml", WORKLOAD);
    let folder = folder.path();
    run(folder, "fcfs", &["--seeds", "3"]);
    run(folder, "read-priority", &["--seeds", "3"]);
    let rows = data(folder, &["fcfs", "read-priority"]);
    let (csv, _) = succeeds(folder, &["compare", "fcfs", "read-priority", "--format", "csv"]);
    assert!(csv.starts_with("metric,run,tenant,mean,low,high,n,unit\n"), "{csv}");
    assert_eq!(csv.lines().count(), rows.len() + 1);
    let values = |name: &str, path: &str| -> Vec<f64> {
        let text = std::fs::read_to_string(folder.join(name).join("seeds.json")).expect("written");
        let seeds: Value = serde_json::from_str(&text).expect("JSON");
        serde_json::from_value(seeds[path]["values"].clone()).expect("numbers")
    };
    let path = "flows[0].response_time_us.mean";
    let (one, two) = (values("fcfs", path), values("read-priority", path));
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let close = |found: &Value, wanted: f64| {
        let found = found.as_f64().expect("a number");
        assert!((found - wanted).abs() <= 1e-9 * wanted.abs().max(1.0), "{found} {wanted}");
    };
    let found = row(&rows, "mean", "read-priority", "light");
    close(&found["mean"], mean(&two));
    assert_eq!((&found["unit"], &found["n"]), (&Value::from("us"), &Value::from(3)));
    // The interval is that of the differences seed by seed, with Student's t of two degrees.
    let differences: Vec<f64> = one.iter().zip(&two).map(|(one, two)| two - one).collect();
    let found = row(&rows, "mean", "read-priority minus fcfs", "light");
    close(&found["mean"], mean(&differences));
    let squares: f64 =
        differences.iter().map(|d| (d - mean(&differences)) * (d - mean(&differences))).sum();
    close(&found["high"], mean(&differences) + 4.3027 * (squares / 2.0 / 3.0).sqrt());
    let drive = row(&rows, "fairness", "fcfs", "");
    assert!(drive["low"].as_f64() < drive["mean"].as_f64(), "{drive}");
}

/// The names of six runs of the pair: two schedulers with three isolations.
fn six_runs(folder: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for scheduler in ["fcfs", "out-of-order"] {
        for isolation in ["unified", "partitioned", "upi"] {
            let name = format!("{scheduler}-{isolation}");
            let basis = ["--alone-basis", "same-isolation", "--set", "ftl.over_provisioning=0.7"];
            let of = ["--scheduler", scheduler, "--isolation", isolation, "--out", &name];
            let run = ["run", "--device", "tiny", "--workload", "pair.toml", "--alone", "--quiet"];
            succeeds(folder, &[&run[..], &of, &basis].concat());
            names.push(name);
        }
    }
    names
}

/// The fairness of runs against their own tenants alone, and against those of the first run.
fn own_and_common(folder: &Path, names: &[String]) -> (Vec<f64>, Vec<f64>) {
    let summary = |name: &String| -> Value {
        let text = std::fs::read_to_string(folder.join(name).join("summary.json")).expect("there");
        serde_json::from_str(&text).expect("JSON")
    };
    let of = |value: &Value, path: &str| value.pointer(path).and_then(Value::as_f64).expect("it");
    let first = summary(&names[0]);
    let common = |name| {
        let slowdown = |flow: &str| {
            of(&summary(name), &format!("/flows/{flow}/end_to_end_us/mean"))
                / of(&first, &format!("/flows/{flow}/alone_end_to_end_us"))
        };
        let (a, b) = (slowdown("0"), slowdown("1"));
        a.min(b) / a.max(b)
    };
    let own = |name| of(&summary(name), "/fairness/fairness");
    (names.iter().map(own).collect(), names.iter().map(common).collect())
}

fn assert_close(found: &[f64], expected: &[f64], by: f64) {
    assert_eq!(found.len(), expected.len());
    for (one, wanted) in found.iter().zip(expected) {
        assert!((one - wanted).abs() < by, "{found:?} {expected:?}");
    }
}

#[test]
fn the_order_of_fairness_is_that_of_one_baseline() {
    let folder = folder_with("pair.toml", WORKLOAD);
    let folder = folder.path();
    let names = six_runs(folder);
    let (own, common) = own_and_common(folder, &names);
    let order = |values: &[f64]| {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_by(|a, b| values[*a].total_cmp(&values[*b]));
        order
    };
    assert_ne!(order(&own), order(&common), "the baselines matter here");
    let results: Vec<&str> = names.iter().map(String::as_str).collect();
    let rows = data(folder, &results);
    let fairness = rows.iter().filter(|row| row["metric"] == "fairness").take(6);
    let fairness: Vec<f64> = fairness.map(|row| row["mean"].as_f64().expect("it")).collect();
    assert_close(&fairness, &common, 1e-12);
    let (table, _) = succeeds(folder, &[&["compare"], &results[..]].concat());
    let shown = cells(&table, "fairness (1 is fair)");
    let shown: Vec<f64> = shown.iter().map(|cell| cell.parse().expect("a number")).collect();
    assert_close(&shown, &common, 6e-4);
    assert!(table.contains("light: slowdown, own alone"), "{table}");
    assert!(table.contains("Slowdowns and fairness are against the tenants alone in "), "{table}");
}

/// The points of a sweep have the slowdowns of the same runs.
#[test]
fn a_sweep_has_one_baseline() {
    let folder = folder_with("pair.toml", WORKLOAD);
    let folder = folder.path();
    let (_, common) = own_and_common(folder, &six_runs(folder));
    let grid = "device = 'tiny'\nworkload = 'pair.toml'\nrun.alone = true\n\
                set.ftl.over_provisioning = 0.7\n[axes]\n\
                scheduler = ['fcfs', 'out-of-order']\n\
                isolation = ['unified', 'partitioned', 'upi']\n";
    std::fs::write(folder.join("grid.toml"), grid).expect("written");
    for more in [&[][..], &["--baseline", "fcfs-unified"]] {
        let sweep = ["sweep", "grid.toml", "--out", "swept", "--quiet", "--format", "csv"];
        let (csv, _) = succeeds(folder, &[&sweep[..], more].concat());
        let head: Vec<&str> = csv.lines().next().expect("a head").split(',').collect();
        let at = head.iter().position(|name| *name == "fairness").expect("the column");
        let cell = |line: &str| line.split(',').nth(at).and_then(|cell| cell.parse().ok());
        let swept: Option<Vec<f64>> = csv.lines().skip(1).step_by(2).map(cell).collect();
        assert_close(&swept.expect("numbers"), &common, 1e-9);
    }
}

#[test]
fn a_named_baseline_is_that_of_all_runs() {
    let folder = folder_with("pair.toml", WORKLOAD);
    let folder = folder.path();
    run(folder, "fcfs", &[]);
    run(folder, "out-of-order", &["--seed", "2"]);
    let rows = data(folder, &["fcfs", "out-of-order", "--baseline", "out-of-order"]);
    let own = row(&rows, "own_slowdown", "fcfs", "light")["mean"].as_f64();
    let now = row(&rows, "slowdown", "fcfs", "light")["mean"].as_f64();
    assert_ne!(own, now);
    assert_eq!(
        row(&rows, "slowdown", "out-of-order", "light")["mean"],
        row(&rows, "own_slowdown", "out-of-order", "light")["mean"]
    );
    // A run takes them as well, and does not run its tenants alone again.
    let again = ["run", "--device", "tiny", "--workload", "pair.toml", "--scheduler", "fcfs"];
    let (line, _) = succeeds(
        folder,
        &[&again[..], &["--baseline", "out-of-order", "--quiet", "--format", "json"]].concat(),
    );
    let summary: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(summary["flows"][0]["slowdown"].as_f64(), now);
    assert!(summary["flows"][0]["alone_end_to_end_us"].is_null());
    let (text, _) = succeeds(folder, &[&again[..], &["--baseline", "out-of-order"]].concat());
    assert!(text.contains("against the tenants alone in out-of-order."), "{text}");
    let plain = ["run", "--device", "tiny", "--workload", "pair.toml", "--quiet"];
    succeeds(folder, &[&plain[..], &["--out", "plain"]].concat());
    std::fs::write(folder.join("one.toml"), WORKLOAD.replace("light", "other")).expect("written");
    let other = ["run", "--device", "tiny", "--workload", "one.toml", "--baseline", "fcfs"];
    for (arguments, words) in [
        (&["compare", "fcfs", "fcfs", "--baseline", "plain"][..], "has no tenants alone, allowed"),
        (&["compare", "fcfs", "fcfs", "--baseline", "nowhere"], "nowhere"),
        (&other, "has no tenant `other`, allowed: a run with all tenants of the workload"),
    ] {
        let said = refused(folder, arguments);
        assert!(said.contains(words), "{said}");
    }
}
