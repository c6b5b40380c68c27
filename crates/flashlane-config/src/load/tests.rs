use super::*;
use crate::preset::PRESETS;
use crate::validate::validate_device;
use flashlane_units::{Bandwidth, Span};

fn overrides(sets: &[&str]) -> Overrides {
    Overrides { sets: sets.iter().map(|&set| set.to_owned()).collect(), ..Overrides::default() }
}

fn device_with(text: &str, sets: &[&str]) -> Result<DeviceConfig, String> {
    device_from_toml(text, "d.toml", &overrides(sets))
        .map(|loaded| loaded.config)
        .map_err(|error| error.to_string())
}

const WORKLOAD: &str = r#"
[[flow]]
name = "tpcc"
[flow.clone]
of = "tpcc"
requests = 10
[[flow]]
name = "reader"
[flow.synthetic]
queue_depth = 1
address = { hot-cold = { hot_region = 0.2, hot_traffic = 0.8 } }
"#;

#[test]
fn presets_are_valid_and_survive_a_round_trip() {
    for preset in PRESETS {
        let loaded = device(preset.name, &Overrides::default()).unwrap();
        assert_eq!(loaded.config.name, preset.name);
        assert_eq!(validate_device(&loaded.config), [], "{}", preset.name);
        let text = toml::to_string(&loaded.config).unwrap();
        assert_eq!(device_with(&text, &[]).unwrap(), loaded.config, "{}", preset.name);
    }
}

#[test]
fn preset_capacities_are_those_of_the_papers() {
    use crate::bounds::{Bounds, Capacity};

    let size = |name: &str| {
        let device = device(name, &Overrides::default()).unwrap().config;
        let capacity = Capacity::new(&WorkloadConfig::whole_device().layout(&device));
        (capacity, Bounds::new(&device))
    };
    for name in ["fast18", "flin"] {
        let (capacity, bounds) = size(name);
        assert!((capacity.logical_bytes as f64 / 480e9 - 1.0).abs() < 1e-3, "{name}");
        assert!((bounds.bus_bytes_per_s - 8.0 * 333e6).abs() < 1.0, "{name}");
    }
    let (capacity, _) = size("upi");
    assert_eq!(capacity.physical_bytes, 192 << 30);
    assert_eq!(capacity.logical_bytes >> 30, 150);
    assert!((capacity.over_provisioning - 0.28).abs() < 1e-6);
    assert!((capacity.spare_share - 0.21875).abs() < 1e-6);
}

#[test]
fn a_base_gives_what_the_file_leaves_out() {
    let text = "base = \"flin\"\nname = \"mine\"\n[flash]\nerase_time = \"5ms\"\n\
        [ftl.gc]\nvictim = { greedy = {} }\n[link]\nlane_bandwidth = \"2GB/s\"\n";
    let device = device_with(text, &[]).unwrap();
    assert_eq!(device.name, "mine");
    assert_eq!(device.flash.erase_time, Span(5_000_000_000));
    assert_eq!(device.flash.blocks_per_plane, 4096);
    assert_eq!(device.ftl.gc.victim.name(), "greedy");
    assert_eq!(device.link.lane_bandwidth, Some(Bandwidth(2_000_000_000)));
    assert_eq!(device.link.lanes, 4);
}

#[test]
fn places_tell_base_file_and_option_apart() {
    let text = "base = \"tiny\"\n[flash]\nchannels = 4\n";
    let loaded = device_from_toml(text, "d.toml", &overrides(&["link.lanes=8"])).unwrap();
    let places = &loaded.places;
    assert_eq!(places.locate("flash.channels"), "d.toml:3: flash.channels");
    assert!(places.locate("flash.technology").starts_with("preset tiny:"), "{places:?}");
    assert_eq!(places.locate("link.lanes"), "--set link.lanes=8: link.lanes");
    assert_eq!(places.locate("compat.padded_sqe"), "d.toml: compat.padded_sqe");
}

#[test]
fn options_go_over_files_in_order() {
    let mut all = overrides(&["flash.channels=3", "flash.channels=5", "compat.dram_formula=false"]);
    all.scheduler = Some("fcfs".to_owned());
    all.compat_mqsim = true;
    let device = device("tiny", &all).unwrap().config;
    assert_eq!(device.flash.channels, 5);
    assert_eq!(device.scheduler.name(), "fcfs");
    assert!(device.compat.padded_sqe && !device.compat.dram_formula);
}

#[test]
fn policies_are_replaced_whole() {
    let sets = ["scheduler.priority-out-of-order.high=9", "scheduler.priority-out-of-order.low=2"];
    let device = device_with("base = \"tiny\"\nscheduler = \"fcfs\"\n", &sets).unwrap();
    let text = toml::to_string(&device).unwrap();
    assert!(text.contains("high = 9") && text.contains("low = 2"), "{text}");
    let loaded = workload_from_toml(
        WORKLOAD,
        "w.toml",
        &overrides(&["flow.reader.synthetic.address.zipf.theta=0.9"]),
    );
    let text = toml::to_string(&loaded.unwrap().config).unwrap();
    assert!(text.contains("theta = 0.9") && !text.contains("hot_region"), "{text}");
}

#[test]
fn flows_are_set_by_name_and_by_number() {
    let sets =
        ["flow.tpcc.clone.time_scale=0.25", "flow[1].synthetic.queue_depth=7", "window=steady"];
    let config = workload_from_toml(WORKLOAD, "w.toml", &overrides(&sets)).unwrap().config;
    assert_eq!(config.flows[0].clone.as_ref().unwrap().time_scale, 0.25);
    assert_eq!(config.flows[1].synthetic.as_ref().unwrap().queue_depth, Some(7));
}

#[test]
fn values_of_options_are_toml_or_bare_words() {
    assert_eq!(flashlane_reading::parse_value("7"), Value::Integer(7));
    assert_eq!(flashlane_reading::parse_value("true"), Value::Boolean(true));
    assert_eq!(flashlane_reading::parse_value("75us"), Value::String("75us".to_owned()));
    assert_eq!(flashlane_reading::parse_value("4 blocks"), Value::String("4 blocks".to_owned()));
    assert_eq!(flashlane_reading::parse_value("\"7\""), Value::String("7".to_owned()));
    assert!(flashlane_reading::parse_value("[1, 2]").is_array());
    assert_eq!(flashlane_reading::parse_value("1\nx = 2"), Value::String("1\nx = 2".to_owned()));
}

#[test]
fn errors_name_the_line_and_the_key() {
    let error = device_with("base = \"tiny\"\n\n[flash]\nread_time = [\"20us\", \"20\"]\n", &[]);
    let error = error.unwrap_err();
    assert!(error.starts_with("d.toml:4: flash.read_time[1]: "), "{error}");
    let error = device_with("base = \"tiny\"\n[ftl.gc]\nvictim = 3\n", &[]).unwrap_err();
    assert!(error.starts_with("d.toml:3: ftl.gc.victim: found integer `3`"), "{error}");
    let error = device_with("base = \"tiny\"\n", &["flash.chips=1"]).unwrap_err();
    assert!(error.starts_with("--set flash.chips=1: flash.chips: unknown key"), "{error}");
    let error = device_with("base = \"tiny\"\nname = \"a\nb\"", &[]).unwrap_err();
    assert!(error.starts_with("d.toml:2: not valid TOML"), "{error}");
}

#[test]
fn traces_are_found_beside_the_workload_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("t.trace"), "x").unwrap();
    let file = folder.path().join("w.toml");
    std::fs::write(&file, "[[flow]]\nname = \"t\"\ntrace = { path = \"t.trace\" }\n").unwrap();
    let loaded = workloads(&file, &Overrides::default()).unwrap();
    let trace = loaded[0].config.flows[0].trace.as_ref().unwrap();
    assert_eq!(trace.path, folder.path().join("t.trace"));
}

#[test]
fn files_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let kind = |text: &str| {
        let file = folder.path().join("f");
        std::fs::write(&file, text).unwrap();
        kind_of(&file).unwrap()
    };
    assert_eq!(kind(WORKLOAD), Kind::Workload);
    assert_eq!(kind("base = \"tiny\""), Kind::Device);
    assert_eq!(kind("[flwo]"), Kind::Workload);
    assert_eq!(kind("[flahs]"), Kind::Device);
    assert_eq!(kind("<Execution_Parameter_Set/>"), Kind::Device);
    assert_eq!(kind("<?xml version=\"1.0\"?><MQSim_IO_Scenarios/>"), Kind::Workload);
}

const COUNTED: &str = r#"
[[flow]]
name = "a"
count = 3
slo = { p99 = "1ms" }
[flow.synthetic]
queue_depth = 1
requests = 10
[[flow]]
name = "b"
[flow.synthetic]
queue_depth = 70000
requests = 10
"#;

fn loaded(sets: &[&str], slos: &[&str]) -> Result<Loaded<WorkloadConfig>, String> {
    let slos = slos.iter().map(|&slo| slo.to_owned()).collect();
    let overrides = Overrides { slos, ..overrides(sets) };
    workload_from_toml(COUNTED, "w.toml", &overrides).map_err(|error| error.to_string())
}

#[test]
fn a_count_makes_flows_with_places_and_keys_of_their_own() {
    let loaded = loaded(&["flow.a.synthetic.queue_depth=4"], &[]).expect("valid");
    let names: Vec<&str> = loaded.config.flows.iter().map(|flow| flow.name.as_str()).collect();
    assert_eq!(names, ["a-1", "a-2", "a-3", "b"]);
    for flow in &loaded.config.flows[..3] {
        assert_eq!(flow.synthetic.as_ref().expect("given").queue_depth, Some(4));
        assert_eq!(flow.slo.as_ref().expect("given").p99, Some(Span(1_000_000_000)));
        assert_eq!(flow.count, None);
    }
    // A problem of a later flow is found at its line, whatever comes before it.
    let wrong = crate::validate::validate_workload(&loaded.config);
    assert_eq!(wrong.len(), 1, "{wrong:?}");
    let place = loaded.places.locate("flow[3].synthetic.queue_depth");
    assert_eq!(place, "w.toml:12: flow[3].synthetic.queue_depth");
    let place = loaded.places.locate("flow[2].synthetic.queue_depth");
    assert!(place.starts_with("--set flow.a.synthetic.queue_depth=4: flow[2]"), "{place}");
    // The result is a workload like any other.
    let text = toml::to_string(&loaded.config).expect("plain data");
    let again = workload_from_toml(&text, "again", &Overrides::default()).expect("valid");
    assert_eq!(again.config, loaded.config);
}

#[test]
fn counts_out_of_range_are_refused_at_their_line() {
    for (count, found) in [("0", "found 0"), ("1025", "found 1025"), ("-1", "found integer `-1`")] {
        let error = loaded(&[&format!("flow.a.count={count}")], &[]).expect_err("refused");
        assert!(error.contains("flow[0].count") && error.contains(found), "{error}");
    }
}

#[test]
fn promises_of_the_command_line_go_to_their_flow() {
    let loaded = loaded(&[], &["a:p99=2ms,min_iops=100", "b:slowdown=1.5"]).expect("valid");
    let slo = |flow: usize| loaded.config.flows[flow].slo.clone().expect("given");
    assert_eq!((slo(0).p99, slo(0).min_iops), (Some(Span(2_000_000_000)), Some(100.0)));
    assert_eq!((slo(2).p99, slo(3).slowdown), (slo(0).p99, Some(1.5)));
    for (text, part) in [
        ("a", "write FLOW:GOAL=VALUE"),
        ("a:p99", "write FLOW:GOAL=VALUE"),
        ("c:p99=1ms", "no flow is named `c`"),
        ("a:p98=1ms", "did you mean `p99`?"),
        ("a:p99=1", "unit"),
    ] {
        let error = self::loaded(&[], &[text]).expect_err("refused");
        assert!(error.contains(&format!("--slo {text}")) && error.contains(part), "{error}");
    }
}

#[test]
fn keys_of_endless_depth_are_refused() {
    let key = vec!["a"; 40_000].join(".");
    for text in [format!("flow.{key}=1"), format!("flow{}=1", "[0]".repeat(40_000))] {
        let error = self::loaded(&[&text], &[]).expect_err("refused");
        assert!(error.contains("levels") && error.contains("allowed: 32 at most"), "{error}");
        assert!(error.len() < 1000, "the key is shown in part");
    }
    let deepest = format!("flow.a.{}=1", vec!["b"; 30].join("."));
    let error = self::loaded(&[&deepest], &[]).expect_err("no such key");
    assert!(!error.contains("levels"), "{error}");
}
