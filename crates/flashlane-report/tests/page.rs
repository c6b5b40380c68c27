//! Pages of real runs. That charts are drawn is checked in a browser:
//! `python/tests/test_report_browser.py`.

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
    run_of(WORKLOAD, scheduler, label, 1)
}

fn run_of(workload: &str, scheduler: &str, label: &str, seed: u64) -> RunData {
    let overrides = Overrides { scheduler: Some(scheduler.to_owned()), ..Overrides::default() };
    let device = load::device_from_toml(DEVICE, "device", &overrides).unwrap();
    let workload = load::workload_from_toml(workload, "workload", &Overrides::default()).unwrap();
    validate::check_pair(&device, &workload).unwrap();
    let observe = Observe {
        series: Some(SeriesOptions::default()),
        blame: true,
        energy: true,
        ..Observe::default()
    };
    let options = RunOptions { alone: true, seed, observe, ..RunOptions::default() };
    let (summary, details) =
        simulate_in_detail(&device.config, &workload.config, &options, &|_| {}).unwrap();
    RunData::new(label, "flashlane run …", "[device]\nname = \"</script>\"", &summary, &details)
}

#[test]
fn a_page_needs_nothing_else_and_gives_its_numbers_back() {
    let run = run("fcfs", "pair");
    let page = render(std::slice::from_ref(&run), None).unwrap();
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
fn a_page_runs_again_what_needs_no_file() {
    let module = Some("UEsDBA==");
    let pair = run("fcfs", "pair");
    let again = |configuration: &str| {
        let one = RunData { configuration: configuration.to_owned(), ..pair.clone() };
        let page = render(&[one], module).unwrap();
        assert_eq!(page.contains("UEsDBA=="), page.contains("id=\"what-if\""));
        page.contains("UEsDBA==")
    };
    assert!(again("# device\nname = \"a\"\n# workload\n[[flow]]\n[flow.synthetic]\n"));
    assert!(!again("# device\n# workload\n[[flow]]\n[flow.trace]\npath = \"a.csv\"\n"));
    assert!(!again("# device\n# workload\n[[flow]]\n[flow.clone]\nof = \"mine.toml\"\n"));
    assert!(!again("[device]\n[workload]\n"), "a page of an older version");
    assert!(!render(std::slice::from_ref(&pair), None).unwrap().contains("id=\"what-if\""));
}

#[test]
fn the_page_says_what_each_tenant_spends() {
    let run = run("fcfs", "pair");
    let page = render(std::slice::from_ref(&run), None).unwrap();
    let table = page.split("data-chart=\"spending\"").nth(1).expect("the table is there");
    let table = table.split("</table>").next().unwrap();
    let rows: Vec<&str> = table.split("<th scope=\"row\">").skip(1).collect();
    assert_eq!(rows.len(), run.summary.flows.len() + 1);
    let programs = run.summary.wear.unwrap().programs;
    assert!(rows[rows.len() - 1].starts_with("the drive<") && programs > 0);
    assert!(rows[rows.len() - 1].contains(&format!("<td>{programs}</td>")), "{table}");
}

#[test]
fn the_first_sentence_names_who_suffers_and_who_causes_it() {
    let run = run("fcfs", "pair");
    let page = render(std::slice::from_ref(&run), None).unwrap();
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
    let page = render(&runs, None).unwrap();
    assert!(page.contains("id=\"comparison\""));
    assert!(page.contains("heavy: p99"), "every flow has its rows");
    assert_eq!(RunData::from_page(&page).unwrap().len(), 2);
    if let Some(path) = std::env::var_os("FLASHLANE_PAGES") {
        let folder = std::path::PathBuf::from(path);
        std::fs::write(folder.join("compare.html"), &page).unwrap();
        std::fs::write(folder.join("one.html"), render(&runs[..1], None).unwrap()).unwrap();
    }
}

#[test]
fn a_summary_alone_makes_a_page_too() {
    let whole = run("fcfs", "pair");
    let made = RunData::from_summary("from a file", whole.summary.clone());
    let page = render(&[made], None).unwrap();
    assert!(page.contains("from a file"));
    assert!(RunData::from_page("<html></html>").unwrap_err().contains("no data"));
}

/// A load of which the drive keeps up with the second flow only.
const OVERLOAD: &str = "
name = 'pair'
[[flow]]
name = 'busy'
cache = 'off'
[flow.synthetic]
iops = 400000.0
read_ratio = 0.0
size = '4KiB'
duration = '4ms'
[[flow]]
name = 'calm'
[flow.synthetic]
queue_depth = 1
read_ratio = 1.0
duration = '4ms'
";

/// The rows of a table that starts after a mark: texts between tags.
fn rows(page: &str, mark: &str) -> Vec<String> {
    let table = page.split(mark).nth(1).and_then(|rest| rest.split("</table>").next());
    let body = table.and_then(|table| table.split("<tbody>").nth(1)).expect("a table");
    body.split("</tr>").map(str::to_owned).filter(|row| row.contains("<th")).collect()
}

#[test]
fn the_verdict_stands_first_and_figures_of_saturated_flows_are_starred() {
    let calm = run("fcfs", "calm day");
    let page = render(std::slice::from_ref(&calm), None).unwrap();
    assert!(!page.contains("id=\"warning\""), "nothing to warn of");
    assert!(!page.contains("depends on the length of the run"));

    let busy = run_of(OVERLOAD, "fcfs", "pair", 1);
    assert!(busy.summary.flows[0].saturated && !busy.summary.flows[1].saturated);
    let page = render(std::slice::from_ref(&busy), None).unwrap();
    let at = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text}"));
    let verdict = at("Saturated: the drive does not keep up with flow busy (offered ");
    assert!(at("<main") < at("id=\"warning\"") && at("id=\"warning\"") < verdict);
    assert!(verdict < at("id=\"glance\"") && verdict < at("class=\"headline\""));
    for sentence in &busy.summary.verdict {
        assert!(page.contains(sentence.as_str()), "{sentence}");
    }
    let headline = page.split("class=\"headline\">").nth(1).unwrap().split('<').next().unwrap();
    assert!(
        headline.starts_with("calm suffers most of the tenants that the drive keeps up with"),
        "{headline}"
    );
    let tenants = rows(&page, "id=\"tenants-title\"");
    // IOPS and MB/s are rates of the window; all times and the slowdown have a star, reads there
    // are none.
    assert_eq!(tenants[0].matches("*</td>").count(), 7, "{}", tenants[0]);
    assert!(!tenants[1].contains('*'), "{}", tenants[1]);
    let cards: Vec<&str> = page.split("class=\"card").skip(1).collect();
    let busy_card = cards.iter().find(|card| card.contains(">busy</h4>")).expect("a card");
    assert_eq!(busy_card.split("</dl>").next().unwrap().matches('*').count(), 3, "{busy_card}");
    assert!(page.contains("* The drive does not keep up with this tenant"));
    assert!(page.contains("Fairness ") && page.contains("* (smallest over largest slowdown)"));
    // The colours of the warning are there for light and for dark.
    assert_eq!(page.matches("--warn-paper:").count(), 2);

    let both = render(&[calm, busy], None).unwrap();
    assert!(both.contains("<b>pair:</b> Saturated: the drive does not keep up with flow busy"));
    assert!(!both.contains("<b>calm day:</b>"));
    let compared = rows(&both, "id=\"comparison-title\"");
    let row = |name: &str| compared.iter().find(|row| row.contains(name)).expect("a row");
    for name in ["busy: slowdown", "busy: mean response", "busy: p99<"] {
        assert_eq!(row(name).matches("*</td>").count(), 1, "{}", row(name));
    }
    assert!(!row("busy: IOPS").contains('*') && !row("calm: p99<").contains('*'));
    let fairness = row(">fairness<");
    assert!(fairness.contains("*</td>") && !fairness.contains("best"), "{fairness}");
}

#[test]
fn no_saturated_flow_is_called_the_one_that_suffers() {
    let headline = |run: &RunData| {
        let page = render(std::slice::from_ref(run), None).unwrap();
        page.split("class=\"headline\">").nth(1).unwrap().split('<').next().unwrap().to_owned()
    };
    let mut run = run_of(OVERLOAD, "fcfs", "pair", 1);
    for flow in &mut run.summary.flows {
        flow.slowdown = None;
    }
    assert!(headline(&run).starts_with("calm waits most for others"), "{}", headline(&run));
    run.summary.flows[1].saturated = true;
    assert_eq!(headline(&run), "The drive does not keep up with any tenant.");
    let page = render(std::slice::from_ref(&run), None).unwrap();
    assert!(
        page.contains("calm waits most for others. busy causes "),
        "it is still known who does it"
    );
    run.summary.flows.truncate(1);
    assert_eq!(headline(&run), "busy has the drive to itself, which does not keep up with it.");
}

#[test]
fn with_several_seeds_the_verdict_counts_them() {
    let runs = (1..=3).map(|seed| run_of(OVERLOAD, "fcfs", "pair", seed)).collect();
    let page = render(&[RunData::over_seeds(runs).unwrap()], None).unwrap();
    assert!(page.contains("flow busy (in 3 of 3 seeds; on average offered "));
}

/// Names come from files that others wrote.
#[test]
fn names_are_text_and_control_characters_are_written_out() {
    let mut run = RunData::from_summary("label\u{1b}[31m<i>", run("fcfs", "pair").summary);
    run.summary.flows[0].name = "\u{1b}[2J<script>alert(1)</script>\u{202e}\u{9b}\0".to_owned();
    run.summary.flows[0].saturated = true;
    run.summary.device = "\u{7}<img src=x>".to_owned();
    let pages =
        [render(&[run.clone()], None).unwrap(), render(&[run.clone(), run.clone()], None).unwrap()];
    for page in pages {
        let hidden = |c: char| (c.is_control() && c != '\n' && c != '\t') || c == '\u{202e}';
        assert!(!page.contains(hidden), "{:?}", page.find(hidden));
        for tag in ["<script>alert", "<img", "<i>"] {
            assert!(!page.contains(tag), "{tag}");
        }
        let name = r"\u{1b}[2J&lt;script&gt;alert(1)&lt;&#x2f;script&gt;\u{202e}\u{9b}\u{0}";
        assert!(page.contains(name), "the name is shown");
        assert!(page.contains(r"label\u{1b}[31m&lt;i&gt;"), "the label is shown");
        assert!(RunData::from_page(&page).unwrap()[0] == run, "the numbers change on their way");
    }
}

#[test]
fn promises_stand_on_the_cards_of_their_tenants() {
    let workload = WORKLOAD.replace(
        "name = 'heavy'",
        "name = 'heavy'\nslo = { p99_9 = '1us', min_iops = 1, slowdown = 1000 }",
    );
    let run = run_of(&workload, "fcfs", "pair", 1);
    let page = render(std::slice::from_ref(&run), None).unwrap();
    let card = page.split("<h4>").nth(2).expect("the second tenant");
    for (goal, missed) in
        [("p99.9 at most 1", true), ("slowdown at most 1000", false), ("at least 1.00 IOPS", false)]
    {
        let (before, after) = card.split_once(goal).unwrap_or_else(|| panic!("{goal}: {card}"));
        assert_eq!(before.ends_with("class=\"goal missed\"><dt>"), missed, "{goal}");
        let verdict = after.split("</dd>").next().expect("a line").to_owned();
        assert!(verdict.ends_with(if missed { ", missed" } else { ", met" }), "{goal}: {verdict}");
    }
    assert_eq!(RunData::from_page(&page).unwrap()[0].summary, run.summary);
}
