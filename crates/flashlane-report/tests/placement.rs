//! The section "Placement", and the handles that a page tries.

use flashlane::config::load::{self, Overrides};
use flashlane::config::validate;
use flashlane::metrics::Summary;
use flashlane::{RunOptions, simulate_in_detail};
use flashlane_report::{RunData, render};
use flashlane_wasm::{Answer, Question};

/// Pages of 16 KiB, superblocks of 192 of them, and a drive that fills soon.
const DRIVE: &str = r#"
name = "small"
[cache]
capacity = "4MiB"
[placement]
mode = "none"
[ftl]
superblock = "drive"
over_provisioning = 0.3
precondition.enabled = false
[ftl.gc]
threshold = "6 blocks"
hard_threshold = "4 blocks"
max_concurrent_per_plane = 1
[flash]
technology = "tlc"
channels = 2
chips_per_channel = 2
dies_per_chip = 1
planes_per_die = 2
blocks_per_plane = 72
pages_per_block = 24
page_size = "16KiB"
channel_rate = "1200MT/s"
read_time = ["50us"]
program_time = ["500us"]
erase_time = "3ms"
"#;

/// A log that is written in order, and a table that is written at random.
const TENANTS: &str = r#"
[[flow]]
name = "log"
placement = 1
[flow.synthetic]
queue_depth = 8
read_ratio = 0.1
size = "64KiB"
address = "streaming"
requests = 5000
[[flow]]
name = "table <b>"
placement = 2
[flow.synthetic]
queue_depth = 8
read_ratio = 0.2
size = "16KiB"
requests = 16000
"#;

const ZONES: &str = r#"
base = "tiny"
[placement]
mode = "zones"
zones = { max_open = 3, max_active = 5 }
[ftl]
superblock = "drive"
mapping = { ideal = true }
wear_leveling = { static_threshold = 0 }
"#;

const ZONE_TENANTS: &str = r#"
[[flow]]
name = "log"
[flow.synthetic]
queue_depth = 8
size = "16KiB"
read_ratio = 0
requests = 20000
zones = { active = 3, finish_after = "512KiB" }
[[flow]]
name = "reader"
occupancy = 1
[flow.synthetic]
queue_depth = 2
size = "4KiB"
read_ratio = 1
requests = 2000
"#;

fn placed(mode: &str) -> String {
    DRIVE.replace("mode = \"none\"", mode)
}

fn run(device: &str, workload: &str, sets: &[&str]) -> RunData {
    let sets = sets.iter().map(|&set| set.to_owned()).collect();
    let overrides = Overrides { sets, ..Overrides::default() };
    let configuration = format!("# device\n{device}\n# workload\n{workload}");
    let device = load::device_from_toml(device, "device", &overrides).expect("a drive");
    let workload = load::workload_from_toml(workload, "workload", &overrides).expect("tenants");
    validate::check_pair(&device, &workload).expect("they fit");
    let options = RunOptions { alone: true, ..RunOptions::default() };
    let (summary, details) =
        simulate_in_detail(&device.config, &workload.config, &options, &|_| {}).expect("it ends");
    RunData::new("pair", "flashlane run …", &configuration, &summary, &details)
}

fn page(run: &RunData) -> String {
    render(std::slice::from_ref(run), Some("UEsDBA==")).expect("a page")
}

/// The section of a page, if it is there.
fn section(page: &str) -> Option<&str> {
    let rest = page.split_once("<section id=\"placement\"")?.1;
    Some(rest.split_once("</section>").expect("it ends").0)
}

/// The rows of a table of the section: the cells of each.
fn rows(page: &str, table: &str) -> Vec<Vec<String>> {
    let mark = format!("data-chart=\"{table}\"");
    let table = section(page).and_then(|text| text.split_once(&mark)).expect("a table").1;
    let body = table.split_once("<tbody>").expect("a body").1.split("</tbody>").next();
    let text = |cell: &str| cell.split('<').next().unwrap_or_default().to_owned();
    let cells = |row: &str| {
        let cells = row.split("<td>").skip(1).map(text);
        let name = row.split("scope=\"row\">").nth(1).map(text);
        name.into_iter().chain(cells).collect()
    };
    body.expect("a body").split("<tr>").skip(1).map(cells).collect()
}

/// A number of the page beside one of the summary, in MiB.
#[track_caller]
fn assert_mib(shown: &str, bytes: u64) {
    let value = bytes as f64 / f64::from(1 << 20);
    let (digits, size) = match shown.strip_suffix('k') {
        Some(digits) => (digits, 1e3),
        None => (shown, 1.0),
    };
    let found: f64 = digits.parse().expect("a number");
    assert!((size * found - value).abs() <= 0.006 * value.max(1.0), "{shown}: {value} MiB");
}

#[test]
fn the_section_is_there_where_hosts_place_data() {
    let none = page(&run(DRIVE, TENANTS, &[]));
    assert!(section(&none).is_none() && !none.contains("href=\"#placement\""));
    let fdp = page(&run(&placed("mode = \"fdp\""), TENANTS, &[]));
    assert!(section(&fdp).is_some() && fdp.contains("href=\"#placement\""));
    let both = [run(DRIVE, TENANTS, &[]), run(&placed("mode = \"fdp\""), TENANTS, &[])];
    let both = render(&both, None).expect("a page");
    assert_eq!(section(&both).expect("one run has it").matches("class=\"cause\"").count(), 1);
}

#[test]
fn the_tables_of_handles_have_the_numbers_of_the_summary() {
    let run = run(&placed("mode = \"fdp\"\nhandles = 4"), TENANTS, &[]);
    let placement = run.summary.placement.clone().expect("hosts place data");
    let page = page(&run);
    let handles = rows(&page, "handles");
    assert_eq!(handles.len(), 4, "two handles, units of both, and all: {handles:?}");
    for (row, at, name) in [(0, 1, "handle 1 (log)"), (1, 2, "handle 2 (table &lt;b&gt;)")] {
        let (cells, handle) = (&handles[row], &placement.handles[at]);
        assert_eq!(cells[0], name);
        assert_mib(&cells[1], handle.host_bytes);
        assert_mib(&cells[2], handle.media_bytes);
        let amplification = handle.write_amplification.expect("it wrote");
        assert_eq!(cells[3], format!("{amplification:.2}"));
        assert_mib(&cells[4], handle.erased_bytes);
        assert_eq!(cells[5], handle.filled_units.to_string());
        assert_mib(&cells[6], handle.remaining_bytes);
    }
    assert_mib(&handles[2][4], placement.shared_erased_bytes);
    assert_mib(&handles[3][2], placement.media_bytes);
    assert_mib(&handles[3][4], placement.erased_bytes);

    let copies = rows(&page, "copies");
    let names = ["handle 1 (log)", "handle 2 (table &lt;b&gt;)"];
    let mut before = f64::INFINITY;
    for row in &copies {
        let [data, cause] = [0, 1].map(|cell: usize| {
            1 + names.iter().position(|name| *name == row[cell]).expect("one of the two")
        });
        assert_mib(&row[2], placement.handles[data].copied_for_bytes[cause]);
        let share: f64 = row[3].trim_end_matches(" %").parse().expect("a share");
        assert!(share <= before, "most first: {copies:?}");
        before = share;
    }
    let pairs = placement.handles.iter().flat_map(|handle| &handle.copied_for_bytes);
    assert_eq!(copies.len(), pairs.filter(|bytes| **bytes > 0).count());

    let section = section(&page).expect("it is there");
    let amplification = placement.media_bytes as f64 / placement.host_bytes as f64;
    assert!(section.contains(&format!("that hosts wrote: amplification {amplification:.2}.")));
    let verdict = section.find("Collection copied ").expect("a verdict");
    assert!(verdict < section.find("<table").expect("a table"), "the verdict stands first");
    assert!(section.contains("Data of handle 2 (table &lt;b&gt;) makes up "), "{section}");
}

#[test]
fn streams_and_groups_have_their_words() {
    let streams = page(&run(&placed("mode = \"streams\""), TENANTS, &[]));
    assert_eq!(rows(&streams, "handles")[0][0], "stream 1 (log)");
    assert!(section(&streams).expect("there").contains("all streams share units"));
    let grouped = placed("mode = \"fdp\"\nhandles = 2\ngroups = 2\nisolation = \"persistently\"")
        .replace("superblock = \"drive\"", "superblock = \"1 dies\"")
        .replace("over_provisioning = 0.3", "over_provisioning = 0.5");
    let grouped = page(&run(&grouped, TENANTS, &[]));
    assert!(section(&grouped).expect("there").contains("<th scope=\"col\">group</th>"));
    assert!(section(&grouped).expect("there").contains("each handle has units of its own"));
    let rows = rows(&grouped, "handles");
    assert_eq!(rows[0][..2], ["identifier 1 (log)", "0"]);
    assert_eq!(rows[1][..2], ["identifier 2 (table &lt;b&gt;)", "1"]);
}

#[test]
fn a_drive_with_zones_shows_its_commands() {
    let run = run(ZONES, ZONE_TENANTS, &[]);
    let zones = run.summary.zones.expect("the drive has zones");
    assert!(zones.finishes > 0 && zones.resets > 0);
    let page = page(&run);
    let shown = rows(&page, "zones");
    let cell = |name: &str| &shown.iter().find(|row| row[0] == name).expect(name)[1];
    assert_eq!(*cell("zones"), zones.zones.to_string());
    assert_eq!(*cell("appends"), zones.appends.to_string());
    assert_eq!(*cell("resets of zones with data"), zones.resets.to_string());
    assert_eq!(*cell("finishes"), zones.finishes.to_string());
    assert_eq!(*cell("active zones, most"), zones.active_max.to_string());
    assert_mib(cell("data in a zone, MiB"), zones.capacity_bytes);
    assert_mib(cell("left by finishes, MiB"), zones.left_bytes);
    let commands = rows(&page, "zone-commands");
    let times = run.summary.flows[0].zone_response_time_us.as_ref().expect("the log has some");
    assert_eq!(commands.len(), 1, "the reader manages no zone");
    assert_eq!(commands[0][..2], ["log".to_owned(), times.count.to_string()]);
    let section = section(&page).expect("there");
    assert!(section.contains(&format!("At most {} of ", zones.active_max)), "{section}");
    assert!(!section.contains("data-chart=\"handles\""));
}

/// The changes of handles that a page offers for its first run: name and keys.
fn offered(page: &str) -> Vec<(String, Vec<String>)> {
    let Some((_, rest)) = page.split_once("data-changes=\"") else { return Vec::new() };
    let text = rest.split('"').next().expect("an attribute").replace("&quot;", "\"");
    let runs: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    let changes = runs[0].as_array().expect("a list").iter();
    let texts = |value: &serde_json::Value| {
        let all = value.as_array().expect("a list").iter();
        all.map(|one| one.as_str().expect("a text").to_owned()).collect()
    };
    changes.map(|one| (one["label"].as_str().expect("a text").into(), texts(&one["set"]))).collect()
}

#[test]
fn a_page_offers_a_handle_for_each_tenant_where_a_drive_can_have_them() {
    let short = TENANTS.replace("00\n", "\n");
    let offers = |device: &str| offered(&page(&run(device, &short, &[])));
    let found = offers(DRIVE);
    let labels: Vec<&str> = found.iter().map(|one| one.0.as_str()).collect();
    assert_eq!(
        labels,
        [
            "a placement handle for each tenant, initially isolated",
            "a placement handle for each tenant, persistently isolated"
        ]
    );
    assert!(offers(&placed("mode = \"fdp\"")).is_empty(), "it has handles");
    assert!(offers(&DRIVE.replace("superblock = \"drive\"", "")).is_empty(), "no superblocks");
    let one = short.split("[[flow]]").take(2).collect::<Vec<_>>().join("[[flow]]");
    assert!(offered(&page(&run(DRIVE, &one, &[]))).is_empty(), "a tenant alone");
    let without_module = render(&[run(DRIVE, &short, &[])], None).expect("a page");
    assert!(offered(&without_module).is_empty(), "no simulator in the page");
}

/// The change of the page, as the simulator in the page answers it.
#[test]
fn what_the_page_says_of_handles_was_run() {
    let was = run(DRIVE, TENANTS, &[]);
    let set = offered(&page(&was)).swap_remove(0).1;
    let (device, workload) = was.configuration.split_once("# workload\n").expect("both");
    let question = |set: &[String]| Question {
        device: device.to_owned(),
        workload: workload.to_owned(),
        set: set.to_vec(),
        alone: true,
        ..Question::default()
    };
    let summary = |answer: Answer| -> Summary {
        assert_eq!(answer.error, None);
        answer.summary.expect("a summary")
    };
    let before = summary(question(&[]).answer());
    let after = summary(question(&set).answer());
    let sets: Vec<&str> = set.iter().map(String::as_str).collect();
    let direct = run(DRIVE, TENANTS, &sets).summary;
    assert_eq!(before.flash, was.summary.flash);
    assert_eq!((&after.flash, &after.placement), (&direct.flash, &direct.placement));
    let handles = &after.placement.as_ref().expect("there are handles").handles;
    assert!(handles.len() == 2 && handles.iter().all(|handle| handle.host_bytes > 0));
    let [with, without] = [&after, &before].map(|one| one.flash.write_amplification);
    assert!(with < 0.98 * without, "with a handle each {with:.3}, without {without:.3}");
}
