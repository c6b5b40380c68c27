//! Pages of real runs. That charts are drawn is checked in a browser: `python/tests/test_report_browser.py`.

use flashlane::config::load::{self, Overrides};
use flashlane::config::validate;
use flashlane::observe::{Observe, SeriesOptions};
use flashlane::{RunOptions, simulate_in_detail};
use flashlane_report::{RunData, render};

const DEVICE: &str = "
base = 'fast18'
scheduler = 'out-of-order'
[flash]
channels = 2
chips_per_channel = 2
blocks_per_plane = 128
";

const WORKLOAD: &str = "
name = 'pair'
[[flow]]
name = 'light <b>&amp;</b>'
[flow.synthetic]
queue_depth = 1
read_ratio = 1.0
requests = 300
[[flow]]
name = 'heavy'
[flow.synthetic]
queue_depth = 32
read_ratio = 0.7
requests = 3000
";

fn run(scheduler: &str, label: &str) -> RunData {
    let overrides = Overrides { scheduler: Some(scheduler.to_owned()), ..Overrides::default() };
    let device = load::device_from_toml(DEVICE, "device", &overrides).unwrap();
    let workload = load::workload_from_toml(WORKLOAD, "workload", &Overrides::default()).unwrap();
    validate::check_pair(&device, &workload).unwrap();
    let observe =
        Observe { series: Some(SeriesOptions::default()), blame: true, ..Observe::default() };
    let options = RunOptions { alone: true, observe, ..RunOptions::default() };
    let (summary, details) =
        simulate_in_detail(&device.config, &workload.config, &options, &|_| {}).unwrap();
    RunData::new(label, "flashlane run …", "[device]\nname = \"</script>\"", &summary, &details)
}

#[test]
fn a_page_needs_nothing_else_and_gives_its_numbers_back() {
    let run = run("fcfs", "pair");
    let page = render(std::slice::from_ref(&run)).unwrap();
    assert!(page.len() < 3_000_000, "{} bytes", page.len());
    let scripts: Vec<_> = page.match_indices("<script").collect();
    assert_eq!(scripts.len(), 3, "data, library, charts");
    for outside in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!page.contains(outside), "the page loads something: {outside}");
    }
    assert!(!page.contains("light <b>"), "names are text");
    assert!(page.contains("light &lt;b&gt;"), "names are there");
    assert!(RunData::from_page(&page).unwrap() == [run], "the numbers change on their way");
}

#[test]
fn the_first_sentence_names_who_suffers_and_who_causes_it() {
    let run = run("fcfs", "pair");
    let page = render(std::slice::from_ref(&run)).unwrap();
    let slowdowns: Vec<f64> = run.summary.flows.iter().map(|f| f.slowdown.unwrap()).collect();
    assert!(slowdowns[0] > slowdowns[1] && slowdowns[0] > 1.5, "{slowdowns:?}");
    let headline = page.split("class=\"headline\">").nth(1).unwrap().split('<').next().unwrap();
    assert!(headline.starts_with("light &lt;b&gt;"), "{headline}");
    assert!(headline.contains("suffers most"), "{headline}");
    if run.blame.is_some() {
        let cause = page.split("class=\"cause\">").nth(1).unwrap().split('<').next().unwrap();
        assert!(cause.starts_with("heavy causes "), "{cause}");
    }
}

#[test]
fn runs_are_compared_side_by_side() {
    let runs = [run("fcfs", "fcfs"), run("out-of-order", "out-of-order")];
    let page = render(&runs).unwrap();
    assert!(page.contains("id=\"comparison\""));
    assert!(page.contains("heavy: p99"), "every flow has its rows");
    assert_eq!(RunData::from_page(&page).unwrap().len(), 2);
    if let Some(path) = std::env::var_os("FLASHLANE_PAGES") {
        let folder = std::path::PathBuf::from(path);
        std::fs::write(folder.join("compare.html"), &page).unwrap();
        std::fs::write(folder.join("one.html"), render(&runs[..1]).unwrap()).unwrap();
    }
}

#[test]
fn a_summary_alone_makes_a_page_too() {
    let whole = run("fcfs", "pair");
    let made = RunData::from_summary("from a file", whole.summary.clone());
    let page = render(&[made]).unwrap();
    assert!(page.contains("from a file"));
    assert!(RunData::from_page("<html></html>").unwrap_err().contains("no data"));
}
