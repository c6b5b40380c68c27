//! The workloads of the cases, as TOML, for about a given number of requests.

/// Flows that end a run, and flows that load the drive until then.
const STOP: &str = "stop";
const REPEAT: &str = "repeat";

/// Most flows of a drive.
pub(crate) const MANY: u64 = 1024;

fn flow(name: &str, on_end: &str, cache: &str, kind: &str) -> String {
    format!("[[flow]]\nname = \"{name}\"\ncache = \"{cache}\"\non_end = \"{on_end}\"\n{kind}\n")
}

fn synthetic(depth: u32, read_ratio: f64, size: &str, align: &str, requests: u64) -> String {
    let requests = requests.max(1);
    format!(
        "[flow.synthetic]\nqueue_depth = {depth}\nread_ratio = {read_ratio:?}\nsize = \"{size}\"\n\
         align = \"{align}\"\nrequests = {requests}"
    )
}

/// Two closed loops of random reads, each of a depth and a number of requests. The second ends the
/// run.
pub(crate) fn readers(first: (u32, u64), second: (u32, u64)) -> String {
    let reads = |(depth, requests)| synthetic(depth, 1.0, "8KiB", "8KiB", requests);
    flow("first", REPEAT, "off", &reads(first)) + &flow("second", STOP, "off", &reads(second))
}

/// Closed loops of random reads at one depth, with `requests` requests in all.
pub(crate) fn several(flows: u64, depth: u64, requests: u64) -> String {
    let kind = synthetic(depth as u32, 1.0, "8KiB", "8KiB", requests / flows);
    (0..flows).map(|reader| flow(&format!("reader-{reader}"), STOP, "off", &kind)).collect()
}

/// As many flows as a drive accepts, each a closed loop of random reads at depth 4, with a line for
/// every flow, such as its limits.
pub(crate) fn many(each: &str, requests: u64) -> String {
    let kind = synthetic(4, 1.0, "8KiB", "8KiB", requests / MANY);
    let head = format!("[[flow]]\nname = \"tenant\"\ncount = {MANY}\ncache = \"off\"\n{each}");
    format!("{head}\n{kind}\n")
}

/// A closed loop of random page reads and one write in ten, nearly all in a hot hundredth of the
/// space: most reads wait for a write to the same page.
pub(crate) fn hot_rewriter(depth: u64, requests: u64) -> String {
    let kind = synthetic(depth as u32, 0.9, "8KiB", "8KiB", requests);
    let address = "address = { hot-cold = { hot_region = 0.01, hot_traffic = 0.95 } }";
    flow("mixed", STOP, "off", &format!("{kind}\n{address}"))
}

/// MQSim's two default flows: half of the space each, half of a page a request.
pub(crate) fn writers(requests: u64) -> String {
    let writes = |depth| synthetic(depth, 0.0, "4KiB", "8KiB", requests) + "\nworking_set = 0.5";
    flow("first", STOP, "write", &writes(16)) + &flow("second", REPEAT, "write", &writes(2))
}

/// A closed loop of random page writes.
pub(crate) fn rewriter(requests: u64) -> String {
    flow("writer", STOP, "write", &synthetic(32, 0.0, "8KiB", "8KiB", requests))
}

/// A closed loop of random page writes that bypass the cache.
pub(crate) fn overwriter(requests: u64) -> String {
    flow("writer", STOP, "off", &synthetic(32, 0.0, "8KiB", "8KiB", requests))
}

/// A closed loop of random reads, one at a time.
pub(crate) fn reader(requests: u64) -> String {
    flow("reader", STOP, "off", &synthetic(1, 1.0, "4KiB", "4KiB", requests))
}

/// A trace from a file, repeated `passes` times, at the speed of a closed loop of 64.
pub(crate) fn replay(path: &str, format: Option<&str>, passes: u64) -> String {
    let format = format.map_or_else(String::new, |name| format!("format = {name:?}\n"));
    let kind = format!(
        "[flow.trace]\npath = {path:?}\n{format}queue_depth = 64\nrepeat = {passes}\ndecreasing_times = \"delay\""
    );
    flow("trace", STOP, "off", &kind)
}

/// Tenants of FLIN's Table 2 with their bursts; their shares of the requests follow from their
/// rates.
pub(crate) fn bursts(requests: u64) -> String {
    [("tpcc", 1.0, 0.41), ("tpce", 1.0, 0.41), ("msnfs", 0.5, 0.11), ("wsrch", 0.2, 0.07)]
        .map(|(name, time_scale, share)| {
            let requests = ((requests as f64 * share) as u64).max(1);
            let clone = format!(
                "[flow.clone]\nof = \"{name}\"\ntime_scale = {time_scale:?}\nrequests = {requests}"
            );
            flow(name, REPEAT, "write", &clone)
        })
        .concat()
}

/// A stream of reads beside a stream of writes.
pub(crate) fn streams(requests: u64) -> String {
    let stream = |read_ratio| {
        synthetic(8, read_ratio, "128KiB", "128KiB", requests / 2) + "\naddress = \"streaming\""
    };
    flow("reader", REPEAT, "off", &stream(1.0)) + &flow("writer", REPEAT, "write", &stream(0.0))
}

/// As many flows as a drive accepts.
pub(crate) fn tenants(requests: u64) -> String {
    let kind = synthetic(4, 0.7, "8KiB", "8KiB", requests / 64);
    (0..64).map(|tenant| flow(&format!("tenant-{tenant}"), REPEAT, "write", &kind)).collect()
}

/// Hardly any requests: only the state of the drive before them counts.
pub(crate) fn nothing(requests: u64) -> String {
    flow("reader", STOP, "off", &synthetic(1, 1.0, "16KiB", "16KiB", requests))
}
