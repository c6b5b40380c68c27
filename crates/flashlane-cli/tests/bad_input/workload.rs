//! Workloads that are refused.

use super::{Case, assert_refused, case, good_folder, run_table};

/// Keys, types and units.
const READING: &[Case] = &[
    case("name = \"first\"\n", "", &["w.toml:2: flow[0].name", "missing key"]),
    case("priority =", "priorty =", &["w.toml:4: flow[0].priorty", "did you mean `priority`?"]),
    case("\"high\"", "\"hihg\"", &["w.toml:4: flow[0].priority", "did you mean `high`?"]),
    case("[flow.synthetic]", "[flow.sinthetic]", &["w.toml:6", "did you mean `synthetic`?"]),
    case("queue_depth = 4", "queue_dept = 4", &["w.toml:7", "did you mean `queue_depth`?"]),
    case("\"8KiB\"", "8192", &["w.toml:10: flow[0].synthetic.size", "8192", "4KiB"]),
    case("\"8KiB\"", "\"8K\"", &["flow[0].synthetic.size", "unknown unit \"K\""]),
    case("\"8KiB\"", "{ norml = {} }", &["flow[0].synthetic.size", "did you mean `normal`?"]),
    case(
        "\"8KiB\"",
        "{ discrete = [[\"4KiB\", 1], [\"8KiB\"]] }",
        &["flow[0].synthetic.size.discrete[1]", "size 2"],
    ),
    case("\"1ms\"", "1", &["w.toml:15: flow[1].synthetic.duration", "has no unit"]),
    case("read_ratio = 0.5", "read_ratio = true", &["read_ratio", "`true`", "a ratio"]),
    case(
        "size = \"8KiB\"",
        "address = \"unifrom\"",
        &["w.toml:10: flow[0].synthetic.address", "did you mean `uniform`?"],
    ),
    case(
        "size = \"8KiB\"",
        "address = { zipf = { theta = \"big\" } }",
        &["flow[0].synthetic.address.zipf.theta", "a number"],
    ),
    case("name = \"good\"", "window = \"all\"", &["w.toml:1: window", "steady, whole-run"]),
];

/// Rules of one flow.
const RULES: &[Case] = &[
    case("\"second\"", "\"first\"", &["w.toml:12: flow[1].name", "unique"]),
    case("\"second\"", "\" \"", &["flow[1].name", "empty name"]),
    case("[0, 1]", "[]", &["w.toml:5: flow[0].channels", "empty list", "leave the key out"]),
    case("[0, 1]", "[0, 2]", &["w.toml:5: flow[0].channels[1]", "found 2", "0 to 1"]),
    case("[0, 1]", "[1, 1]", &["flow[0].channels[1]", "second time"]),
    case("channels = [0, 1]", "chips = [5]", &["flow[0].chips[0]", "found 5", "0 to 1"]),
    case("channels = [0, 1]", "chips = []", &["flow[0].chips", "empty list"]),
    case("channels = [0, 1]", "dies = [1]", &["flow[0].dies[0]", "found 1", "0 to 0"]),
    case("channels = [0, 1]", "dies = []", &["flow[0].dies", "empty list"]),
    case("channels = [0, 1]", "planes = [2]", &["flow[0].planes[0]", "found 2", "0 to 1"]),
    case("channels = [0, 1]", "occupancy = \"101%\"", &["flow[0].occupancy", "0 to 1"]),
    case("queue_depth = 4\n", "", &["w.toml:6: flow[0].synthetic", "exactly one of queue_depth"]),
    case(
        "queue_depth = 4",
        "queue_depth = 4\nbandwidth = \"1MB/s\"",
        &["flow[0].synthetic", "queue_depth and bandwidth", "exactly one"],
    ),
    case("queue_depth = 4", "queue_depth = 0", &["flow[0].synthetic.queue_depth", "1 to 65535"]),
    case("queue_depth = 4", "queue_depth = 65536", &["queue_depth", "1 to 65535"]),
    case(
        "read_ratio = 0.5",
        "region = \"700B\"",
        &["w.toml:8: flow[0].synthetic.region", "found 700B", "multiples of 512B"],
    ),
    case(
        "read_ratio = 0.5",
        "region_start = \"4KiB\"\nworking_set = 0.5",
        &["w.toml:8: flow[0].synthetic.region_start", "beside working_set"],
    ),
    case(
        "read_ratio = 0.5",
        "region = \"1TiB\"",
        &["w.toml:8: flow[0].synthetic.region", "found 1TiB", "logical space from 0B on"],
    ),
    case(
        "read_ratio = 0.5",
        "region_start = \"1TiB\"",
        &[
            "w.toml:8: flow[0].synthetic.region_start",
            "found 1TiB",
            "below the flow's logical space",
        ],
    ),
    case(
        "read_ratio = 0.5",
        "think_time = \"0s\"",
        &["w.toml:8: flow[0].synthetic.think_time", "1ps to"],
    ),
    case(
        "queue_depth = 4",
        "iops = 5.0\nthink_time = \"1us\"",
        &["flow[0].synthetic.think_time", "without queue_depth"],
    ),
    case("read_ratio = 0.5", "seed = -1", &["w.toml:8: flow[0].synthetic.seed", "0 or more"]),
    case("read_ratio = 0.5", "read_ratio = 1.5", &["w.toml:8", "found 1.5", "0 to 1"]),
    case("read_ratio = 0.5", "trim_ratio = -0.1", &["trim_ratio", "found -0.1", "0 to 1"]),
    case(
        "read_ratio = 0.5",
        "trim_ratio = 0.7\nflush_ratio = 0.7",
        &["flow[0].synthetic.trim_ratio", "at most 1"],
    ),
    case("requests = 100", "requests = 0", &["flow[0].synthetic.requests", "found 0", "1 to"]),
    case("\"8KiB\"", "\"0B\"", &["flow[0].synthetic.size", "found 0B", "512B to 16MiB"]),
    case("\"8KiB\"", "\"1000B\"", &["w.toml:10: flow[0].synthetic.size", "multiples of 512B"]),
    case("\"8KiB\"", "\"32MiB\"", &["flow[0].synthetic.size", "512B to 16MiB"]),
    case(
        "\"8KiB\"",
        "{ discrete = [[\"4KiB\", 0.0]] }",
        &["flow[0].synthetic.size.discrete[0][1]", "weights above 0"],
    ),
    case("\"8KiB\"", "{ discrete = [] }", &["size.discrete", "found 0 sizes", "1 to 1024"]),
    case(
        "size = \"8KiB\"",
        "align = \"100B\"",
        &["w.toml:10: flow[0].synthetic.align", "multiples of 512B"],
    ),
    case("size = \"8KiB\"", "working_set = 0", &["flow[0].synthetic.working_set", "above 0"]),
    case(
        "size = \"8KiB\"",
        "size = \"8KiB\"\nworking_set = \"0.001%\"",
        &["flow[0].synthetic.size", "a request of 8KiB", "working set of"],
    ),
    case(
        "size = \"8KiB\"",
        "address = { hot-cold = { hot_region = 1.0, hot_traffic = 0.8 } }",
        &["address.hot-cold.hot_region", "below 1"],
    ),
    case(
        "size = \"8KiB\"",
        "address = { zipf = { theta = 9.0 } }",
        &["flow[0].synthetic.address.zipf.theta", "0 to 5"],
    ),
    case("iops = 1000.0", "iops = inf", &["flow[1].synthetic.iops", "found inf", "allowed"]),
    case("\"1ms\"", "\"0ms\"", &["flow[1].synthetic.duration", "found 0ps", "1ps to"]),
    case(
        "[flow.synthetic]",
        "[flow.clone]\nof = \"tpcc\"\n[flow.synthetic]",
        &["flow[0]", "synthetic and clone", "exactly one of"],
    ),
    case(
        "iops = 1000.0\nduration = \"1ms\"\n",
        "iops = 1.0\n[[flow]]\nname = \"third\"\n",
        &["w.toml:15: flow[2]", "no source", "exactly one of synthetic, trace"],
    ),
];

/// Rules of clones.
const CLONES: &[Case] = &[
    case(
        "[flow.synthetic]\niops = 1000.0\nduration = \"1ms\"",
        "[flow.clone]\nof = \"lm-tbe\"\nrequests = 10\nstart = \"86400s\"",
        &["w.toml:16: flow[1].clone.start", "found 86400s", "0"],
    ),
    case(
        "[flow.synthetic]\niops = 1000.0\nduration = \"1ms\"",
        "[flow.clone]\nof = \"lm-tbe\"\nrequests = 10\nday = \"2s\"",
        &["w.toml:16: flow[1].clone.day", "24s to 86400s"],
    ),
    case(
        "[flow.synthetic]\niops = 1000.0\nduration = \"1ms\"",
        "[flow.clone]\nof = \"tpcc\"\nrequests = 10\nstart = \"60s\"",
        &["w.toml:16: flow[1].clone.start", "do not follow the hour"],
    ),
    case(
        "[flow.synthetic]\niops = 1000.0\nduration = \"1ms\"",
        "[flow.clone]\nof = \"tpcc\"\nrequests = 10\nfootprint = 0.0",
        &["w.toml:16: flow[1].clone.footprint", "found 0, allowed: 0.001 to 1000"],
    ),
    case(
        "[flow.synthetic]\niops = 1000.0\nduration = \"1ms\"",
        "[flow.clone]\nof = \"tpcc\"\nrequests = 10\ntheta = 6.0",
        &["w.toml:16: flow[1].clone.theta", "found 6, allowed: 0 to 5"],
    ),
    case(
        "[flow.synthetic]\niops = 1000.0\nduration = \"1ms\"",
        "[flow.clone]\nof = \"tpcc\"\nrequests = 10\nread_sizes = [[8.0, 0.0]]",
        &["w.toml:16: flow[1].clone.read_sizes[0][1]", "allowed: weights above 0"],
    ),
];

/// Rules of cache engines.
const CACHE_ENGINES: &[Case] = &[
    case(
        "iops = 1000.0",
        "iops = 1000.0\ncache_engine = { small_space = 1.0 }",
        &["flow[1].synthetic.cache_engine.small_space", "found 1, allowed: 0 or more, below 1"],
    ),
    case(
        "iops = 1000.0",
        "iops = 1000.0\ncache_engine = { small_bytes = 0.0 }",
        &["flow[1].synthetic.cache_engine.small_bytes", "found 0, allowed: above 0, below 1"],
    ),
    case(
        "iops = 1000.0",
        "iops = 1000.0\ncache_engine = { read_ratio = 1.5 }",
        &["flow[1].synthetic.cache_engine.read_ratio", "found 1.5", "0 to 1"],
    ),
    case(
        "iops = 1000.0",
        "iops = 1000.0\ncache_engine = { small_reads = -0.5 }",
        &["flow[1].synthetic.cache_engine.small_reads", "found -0.5", "0 to 1"],
    ),
    case(
        "iops = 1000.0",
        "iops = 1000.0\ncache_engine = { bucket = \"1001B\" }",
        &["flow[1].synthetic.cache_engine.bucket", "found 1001B", "multiples of 512B"],
    ),
    case(
        "iops = 1000.0",
        "iops = 1000.0\ncache_engine = { large_write = \"1GiB\" }",
        &["flow[1].synthetic.cache_engine.large_write", "found 1GiB", "to 16MiB"],
    ),
    case(
        "iops = 1000.0",
        "iops = 1000.0\ncache_engine = { large_read = \"0B\" }",
        &["flow[1].synthetic.cache_engine.large_read", "found 0B", "512B to 16MiB"],
    ),
    case(
        "iops = 1000.0",
        "iops = 1000.0\ncache_engine = { fill_first = true, read_ratio = 1.0 }",
        &["flow[1].synthetic.cache_engine.fill_first", "where there are writes"],
    ),
    case(
        "iops = 1000.0",
        "iops = 1000.0\ncache_engine = { small_placement = 70000 }",
        &["cache_engine.small_placement", "70000", "from 0 to 65535"],
    ),
    case(
        "iops = 1000.0",
        "iops = 1000.0\ncache_engine = { large_placement = 400 }",
        &["flow[1].synthetic.cache_engine.large_placement", "found 400, allowed: 0 to"],
    ),
    case(
        "iops = 1000.0",
        "iops = 1000.0\ncache_engine = { small_space = 1e-9 }",
        &["flow[1].synthetic.cache_engine.bucket", "found 4KiB, allowed: at most the space of"],
    ),
    case(
        "iops = 1000.0",
        "iops = 1000.0\ncache_engine = { buckets = 5 }",
        &["unknown key", "bucket"],
    ),
    case(
        "iops = 1000.0",
        "iops = 1000.0\nread_ratio = 0.5\ncache_engine = {}",
        &["flow[1].synthetic.cache_engine", "beside read_ratio", "the keys of cache_engine"],
    ),
    case(
        "iops = 1000.0",
        "bandwidth = \"1MB/s\"\ncache_engine = {}",
        &["flow[1].synthetic.cache_engine", "beside bandwidth", "with queue_depth or iops"],
    ),
    case(
        "iops = 1000.0",
        "iops = 1000.0\ncache_engine = {}\nparts = [{ share = 1.0 }]",
        &["flow[1].synthetic.cache_engine", "found a cache engine beside parts, allowed: one"],
    ),
];

/// Rules of traces.
const TRACES: &[Case] = &[
    case(
        "[flow.synthetic]\niops = 1000.0\nduration = \"1ms\"",
        "[flow.trace]\npath = \"nowhere.trace\"",
        &["w.toml:14: flow[1].trace.path", "no such file", "nowhere.trace"],
    ),
    case(
        "[flow.synthetic]\niops = 1000.0\nduration = \"1ms\"",
        "[flow.trace]\npath = \".\"",
        &["w.toml:14: flow[1].trace.path", "is a folder"],
    ),
    case(
        "[flow.synthetic]\niops = 1000.0\nduration = \"1ms\"",
        "[flow.trace]\npath = \"w.toml\"\nformat = \"msrc\"",
        &["w.toml:15: flow[1].trace.format", "did you mean `msr`?"],
    ),
    case(
        "[flow.synthetic]\niops = 1000.0\nduration = \"1ms\"",
        "[flow.trace]\npath = \"w.toml\"\ntime_scale = 0.0",
        &["w.toml:15: flow[1].trace.time_scale", "above 0"],
    ),
    case(
        "[flow.synthetic]\niops = 1000.0\nduration = \"1ms\"",
        "[flow.trace]\npath = \"w.toml\"\nout_of_range = \"refuze\"",
        &["w.toml:15: flow[1].trace.out_of_range", "did you mean `refuse`?"],
    ),
    case(
        "[flow.synthetic]\niops = 1000.0\nduration = \"1ms\"",
        "[flow.trace]\npath = \"w.toml\"\nformat = \"columns\"",
        &["flow[1].trace.columns", "column map"],
    ),
    case(
        "[flow.synthetic]\niops = 1000.0\nduration = \"1ms\"",
        "[flow.trace]\npath = \"w.toml\"\ntime_unit = \"hours\"",
        &["w.toml:15: flow[1].trace.time_unit", "s, ms, us, ns, ps"],
    ),
];

#[test]
fn workloads_that_cannot_be_read() {
    run_table(READING, false);
}

#[test]
fn workloads_that_break_a_rule() {
    run_table(RULES, false);
}

#[test]
fn clones_that_break_a_rule() {
    run_table(CLONES, false);
}

#[test]
fn cache_engines_that_break_a_rule() {
    run_table(CACHE_ENGINES, false);
}

#[test]
fn traces_that_are_refused_before_the_run() {
    run_table(TRACES, false);
}

#[test]
fn a_workload_that_never_ends() {
    let folder = good_folder();
    let endless = "[[flow]]\nname = \"a\"\n[flow.synthetic]\nqueue_depth = 1\n";
    std::fs::write(folder.path().join("w.toml"), endless).expect("written");
    let arguments = ["run", "--device", "d.toml", "--workload", "w.toml"];
    assert_refused(folder.path(), &arguments, &["w.toml:1: flow", "no flow ever ends", "duration"]);
}

#[test]
fn no_flows_and_too_many() {
    let folder = good_folder();
    let arguments = ["run", "--device", "d.toml", "--workload", "w.toml"];
    std::fs::write(folder.path().join("w.toml"), "flow = []\n").expect("written");
    assert_refused(folder.path(), &arguments, &["w.toml:1: flow", "found 0 flows", "1 to 1024"]);
    let many: String = (0..1025)
        .map(|i| {
            format!("[[flow]]\nname = \"{i}\"\n[flow.synthetic]\nqueue_depth = 1\nrequests = 1\n")
        })
        .collect();
    std::fs::write(folder.path().join("w.toml"), many).expect("written");
    assert_refused(folder.path(), &arguments, &["w.toml", "found 1025 flows", "1 to 1024"]);
}
