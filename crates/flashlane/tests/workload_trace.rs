//! Replay of traces: addresses, times, passes, refusals.

use std::io::Write;
use std::path::Path;

use flashlane::Error;
use flashlane::config::TraceConfig;
use flashlane::layout::FlowSpace;
use flashlane::workload::footprint::Footprint;
use flashlane::workload::trace::{TraceSource, footprint};
use flashlane::workload::{Directive, Planned, RequestOp, RequestSource};
use flashlane_engine::Time;
use tempfile::NamedTempFile;

fn space(sectors: u64) -> FlowSpace {
    FlowSpace {
        sectors,
        pages: sectors.div_ceil(16),
        ..FlowSpace::empty([vec![0], vec![0], vec![0], vec![0]])
    }
}

/// A file of MQSim's format: ns, device, sector, sectors, 1 for reads.
fn file(text: &str) -> NamedTempFile {
    let mut file = NamedTempFile::new().expect("a temporary file");
    file.write_all(text.as_bytes()).expect("room for it");
    file
}

fn config(path: &Path, rest: &str) -> TraceConfig {
    let text = format!("path = '{}'\nformat = \"mqsim\"\n{rest}", path.display());
    toml::from_str(&text).expect("a valid configuration")
}

fn open(file: &NamedTempFile, rest: &str, sectors: u64) -> Result<TraceSource, Error> {
    TraceSource::open(&config(file.path(), rest), &space(sectors))
}

fn pass(source: &mut TraceSource) -> Vec<Planned> {
    let mut requests = Vec::new();
    while let Some(planned) = source.next(Time(42)).expect("a readable trace") {
        requests.push(planned);
    }
    assert_eq!(source.next(Time(42)).expect("a readable trace"), None);
    requests
}

fn arrivals_ns(requests: &[Planned]) -> Vec<u64> {
    requests.iter().map(|p| p.arrival.0 / 1000).collect()
}

const FOUR: &str = "100 0 0 8 1\n200 0 96 8 0\n300 1 210 8 0\n700 0 16 4 1\n";

#[test]
fn a_plain_replay_keeps_times_addresses_and_types() {
    let file = file(FOUR);
    let mut source = open(&file, "", 1000).expect("a good trace");
    assert_eq!(source.closed_loop(), None);
    let requests = pass(&mut source);
    assert_eq!(arrivals_ns(&requests), [0, 100, 200, 600]);
    let places: Vec<(u64, u32)> = requests.iter().map(|p| (p.sector, p.sectors)).collect();
    assert_eq!(places, [(0, 8), (96, 8), (210, 8), (16, 4)]);
    let ops: Vec<RequestOp> = requests.iter().map(|p| p.op).collect();
    assert_eq!(ops, [RequestOp::Read, RequestOp::Write, RequestOp::Write, RequestOp::Read]);
    assert_eq!(source.report().wrapped, 0);
}

#[test]
fn addresses_beyond_the_space_are_wrapped_clipped_or_refused() {
    let file = file(FOUR);
    let mut wrap = open(&file, "", 100).expect("a good trace");
    let places: Vec<u64> = pass(&mut wrap).iter().map(|p| p.sector).collect();
    assert_eq!(places, [0, 92, 10, 16]);
    assert_eq!((wrap.report().wrapped, wrap.report().clipped), (2, 0));

    let mut clip = open(&file, "out_of_range = \"clip\"", 100).expect("a good trace");
    assert_eq!(arrivals_ns(&pass(&mut clip)), [0, 600]);
    assert_eq!((clip.report().wrapped, clip.report().clipped), (0, 2));

    let error = open(&file, "out_of_range = \"refuse\"", 100).expect_err("it does not fit");
    let message = error.to_string();
    assert!(matches!(error, Error::Trace(_)));
    let name = file.path().display().to_string();
    for part in [name.as_str(), "line 2", "49152..=53247", "51200 bytes", "clip"] {
        assert!(message.contains(part), "{part}: {message}");
    }
    assert!(open(&file, "out_of_range = \"refuse\"", 218).is_ok());
}

#[test]
fn a_trace_of_which_nothing_fits_is_refused_rather_than_replayed_for_ever() {
    let file = file("0 0 500 8 1\n");
    let mut source = open(&file, "out_of_range = \"clip\"\nrepeat = 1000", 100).expect("readable");
    let error = source.next(Time::ZERO).expect_err("nothing fits").to_string();
    assert!(error.contains("not one request"), "{error}");
}

#[test]
fn times_are_scaled() {
    let file = file(FOUR);
    let mut source = open(&file, "time_scale = 0.5", 1000).expect("a good trace");
    assert_eq!(arrivals_ns(&pass(&mut source)), [0, 50, 100, 300]);
    let error = open(&file, "time_scale = 0.0", 1000).expect_err("0 is refused");
    assert!(error.to_string().contains("above 0"), "{error}");
}

#[test]
fn repeats_go_on_after_one_mean_gap() {
    let file = file(FOUR);
    let mut source = open(&file, "repeat = 3", 1000).expect("a good trace");
    let requests = pass(&mut source);
    assert_eq!(
        arrivals_ns(&requests),
        [0, 100, 200, 600, 800, 900, 1000, 1400, 1600, 1700, 1800, 2200]
    );
    source.restart(Time(10_000_000)).expect("a readable trace");
    let second = pass(&mut source);
    assert_eq!(arrivals_ns(&second[..5]), [10_200, 10_300, 10_400, 10_800, 11_000]);
    assert_eq!(second.len(), 12);
}

#[test]
fn a_closed_loop_ignores_the_times() {
    let file = file(FOUR);
    let mut source = open(&file, "queue_depth = 7\nrepeat = 2", 1000).expect("a good trace");
    assert_eq!(source.closed_loop(), Some(7));
    assert!(pass(&mut source).iter().all(|p| p.arrival == Time(42)));
}

#[test]
fn devices_are_selected_limited_and_laid_out() {
    let file = file(FOUR);
    let sectors = |rest: &str| -> Vec<u64> {
        pass(&mut open(&file, rest, 10_000).expect("a good trace"))
            .iter()
            .map(|p| p.sector)
            .collect()
    };
    assert_eq!(sectors("devices = [1]"), [210]);
    assert_eq!(sectors("limit = 2"), [0, 96]);
    assert_eq!(sectors("device_stride = \"512000B\""), [0, 96, 1210, 16]);
    assert_eq!(sectors("offset = \"5120B\""), [10, 106, 220, 26]);
}

#[test]
fn odd_bytes_are_widened_to_sectors() {
    let file = file("0,r,700,100\n5,w,1000,50\n");
    let config: TraceConfig = toml::from_str(&format!(
        "path = '{}'\ncolumns = \"t=1[us],op=2,off=3[B],len=4[B];sep=comma\"",
        file.path().display()
    ))
    .expect("a valid configuration");
    let requests = pass(&mut TraceSource::open(&config, &space(1000)).expect("a good trace"));
    let places: Vec<(u64, u32)> = requests.iter().map(|p| (p.sector, p.sectors)).collect();
    assert_eq!(places, [(1, 1), (1, 2)]);
    assert_eq!(requests[1].arrival, Time::from_us(5));
}

#[test]
fn lines_that_step_back_or_cannot_be_read_are_counted() {
    let text: String = (0..200).map(|i| format!("{} 0 {} 8 1\n", i * 10, i * 8)).collect();
    let file = file(&format!("{text}1500 0 0 8 1\n2000 0 zero 8 1\n2500 0 0 8 1\n"));
    let mut source = open(&file, "decreasing_times = \"delay\"", 10_000).expect("a good trace");
    let requests = pass(&mut source);
    assert_eq!(requests.len(), 202);
    assert_eq!(arrivals_ns(&requests[199..]), [1990, 1990, 2500]);
    let report = source.report();
    assert_eq!(report.rejected.len(), 2, "{report:?}");
    assert!(report.rejected.iter().all(|(_, count)| *count == 1));
    assert!(report.rejected.is_sorted());
}

#[test]
fn bad_options_and_missing_files_are_named() {
    let file = file(FOUR);
    for (rest, part) in [
        ("time_unit = \"fortnights\"", "fortnights"),
        ("repeat = 0", "repeat"),
        ("columns = \"t=1\"", "mqsim"),
        ("limit = 0", "limit"),
    ] {
        let error = open(&file, rest, 1000).expect_err(rest).to_string();
        assert!(error.contains(part), "{rest}: {error}");
    }
    let missing = config(Path::new("no-such.trace"), "");
    let error = TraceSource::open(&missing, &space(10)).expect_err("it is missing").to_string();
    assert!(error.contains("no-such.trace"), "{error}");
}

#[test]
fn the_footprint_is_the_set_of_touched_pages() {
    let file = file(FOUR);
    let found = footprint(&config(file.path(), ""), &space(1000), 16).expect("a good trace");
    let Footprint::Pages(pages) = found else { panic!("not all is touched") };
    assert_eq!(pages.iter().collect::<Vec<_>>(), [0, 1, 6, 13]);
    let found = footprint(&config(file.path(), ""), &space(8), 16).expect("a good trace");
    assert_eq!(found, Footprint::Whole);
}

#[test]
fn real_traces_replay_whole() {
    let what = "the stock traces of MQSim";
    let Some(folder) = flashlane_testing::shared("oracle/traces", what) else { return };
    // Requests, duration in ms, read ratio: measured independently of this reader.
    for (name, requests, ms, reads) in
        [("wsrch", 24_783, 60_055.0, 0.9998), ("tpcc", 6999, 136.4, 0.626)]
    {
        let path = folder.join(format!("{name}-small.trace"));
        let space = space(128 << 21);
        let mut source = TraceSource::open(&config(&path, ""), &space).expect("a good trace");
        let planned = pass(&mut source);
        assert_eq!(planned.len(), requests);
        let span = planned[requests - 1].arrival.0 as f64 / 1e9;
        assert!((span / ms - 1.0).abs() < 0.01, "{name}: {span} ms");
        let found =
            planned.iter().filter(|p| p.op == RequestOp::Read).count() as f64 / requests as f64;
        assert!((found - reads).abs() < 0.001, "{name}: {found}");
        assert!(planned.windows(2).all(|w| w[0].arrival <= w[1].arrival));
        assert!(planned.iter().all(|p| p.sector + u64::from(p.sectors) <= space.sectors));
        let touched = footprint(&config(&path, ""), &space, 16).expect("a good trace");
        let Footprint::Pages(pages) = touched else { panic!("{name} does not touch all") };
        assert!(planned.iter().all(|p| pages.contains(p.sector / 16)));
    }
}

#[test]
fn without_the_shared_data_tests_say_that_they_are_skipped() {
    flashlane_testing::assert_skipped_without_shared(module_path!(), &["real_traces_replay_whole"]);
}

#[test]
fn writes_name_the_placement_identifiers_of_the_trace() {
    let text = "# t_us,op(R/W),offset_bytes,size_bytes,device,placement\n\
        0,W,0,4096,0,2\n1,W,4096,4096,0,\n2,R,0,4096,0,2\n3,W,8192,4096,0,9\n4,W,0,4096,0,7\n";
    let file = file(text);
    let config: TraceConfig =
        toml::from_str(&format!("path = '{}'", file.path().display())).expect("a configuration");
    let place = |id| Directive::place(flashlane_units::Handle::new(id));
    let placed = FlowSpace { identifiers: 8, ..space(1000) };
    let mut source = TraceSource::open(&config, &placed).expect("a good trace");
    let found: Vec<Directive> = pass(&mut source).iter().map(|one| one.directive).collect();
    assert_eq!(found, [place(2), Directive::NONE, Directive::NONE, place(7)]);
    let report = source.report();
    let why = "placement identifier not below 8, the number of the drive".to_owned();
    assert_eq!((report.rejected, report.changed), (vec![(why, 1)], 1));
    assert_eq!(
        report.named,
        ["line 5: placement 9, rejected; allowed: 0 to 7, which the drive has"]
    );
    // Without effect on a drive that places nothing.
    let mut source = TraceSource::open(&config, &space(1000)).expect("a good trace");
    assert_eq!(pass(&mut source).len(), 5);
    assert_eq!(source.report().changed, 0);
}
