//! The keys of a device file that are varied, with their starts and bounds.

use flashlane::Error;
use flashlane::config::load::{self, Overrides};
use flashlane::config::units::{Bandwidth, ByteSize, Span, TransferRate};
use serde::Serialize;
use toml::Value;

use super::figure::{Figure, Load, Metric, Operation, State};
use crate::calibrate::Parameter;
use crate::unit::Unit;

/// Largest factor between a value and its start, up or down.
const REACH: f64 = 6.0;

/// The keys that are varied if none are named, with the figures that each needs.
const USUAL: &[(&str, Needs)] = &[
    ("flash.read_time", Needs::Reads),
    ("flash.small_read.time", Needs::Reads),
    ("flash.program_time", Needs::Writes),
    ("interface.firmware_time", Needs::Anything),
    ("interface.write_firmware_time", Needs::Writes),
    ("flash.channel_rate", Needs::Anything),
    ("flash.suspend.program_time", Needs::Behind),
    ("flash.suspend.program_min_left", Needs::Behind),
    ("ftl.over_provisioning", Needs::Sustained),
    ("cache.pause.interval", Needs::Behind),
    ("cache.pause.time", Needs::Behind),
    ("cache.pause.rate", Needs::Behind),
    ("cache.pause.buffer", Needs::Behind),
];

/// Keys that published curves alone do not determine.
const STRUCTURE: &[&str] = &[
    "link.generation",
    "flash.channels",
    "flash.chips_per_channel",
    "flash.dies_per_chip",
    "flash.planes_per_die",
    "flash.page_size",
    "interface.firmware_servers",
    "cache.capacity",
];

/// The figures that a key needs.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Needs {
    Anything,
    Reads,
    Writes,
    /// Reads that may find their die programming.
    Behind,
    Sustained,
}

/// A key that keeps the value of the base device.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Kept {
    /// The key.
    pub key: String,
    /// Value of the key, as TOML.
    pub value: String,
    /// Reason why it is not varied.
    pub reason: String,
}

/// The keys to vary.
pub(super) struct Plan {
    /// Keys of quantities.
    pub(super) parameters: Vec<Parameter>,
    /// Keys of whole numbers, with the values to try. The first value is that of the base.
    pub(super) grids: Vec<(Parameter, Vec<u64>)>,
    pub(super) kept: Vec<Kept>,
}

/// Decides which keys of a base device are varied. `vary` is empty for the usual keys.
pub(super) fn plan(base: &str, vary: &[String], figures: &[Figure]) -> Result<Plan, Error> {
    let device = load::device(base, &Overrides::default())?.config;
    let device =
        Value::try_from(&device).map_err(|error| Error::config(base, error.to_string()))?;
    let mut plan = Plan { parameters: Vec::new(), grids: Vec::new(), kept: Vec::new() };
    let mut keep = |key: &str, reason: &str| {
        if let Some(value) = find(&device, key) {
            let (key, value, reason) = (key.to_owned(), value.to_string(), reason.to_owned());
            plan.kept.push(Kept { key, value, reason });
        }
    };
    for &key in STRUCTURE.iter().filter(|key| !vary.iter().any(|varied| varied == *key)) {
        keep(key, "structure: these figures cannot tell it");
    }
    let mut keys = Vec::new();
    for &(key, needs) in USUAL.iter().filter(|_| vary.is_empty()) {
        match needs.missing(figures) {
            Some(reason) => keep(key, reason),
            None => match find(&device, key) {
                Some(value) if parameter(key, value).is_none() => keep(key, "the base has none"),
                Some(_) => keys.push(key.to_owned()),
                None => {}
            },
        }
    }
    keys.extend(vary.iter().cloned());
    let own_pauses = find(&device, "cache.pause").is_some();
    if let Some(us) = stall(figures).filter(|_| vary.is_empty() && !own_pauses) {
        plan.parameters.extend(pause_of(us));
    }
    for key in keys {
        let place = format!("--vary {key}");
        let value = find(&device, &key)
            .ok_or_else(|| Error::config(&place, format!("{base} has no value of this key")))?;
        let parameter = parameter(&key, value)
            .ok_or_else(|| Error::config(&place, format!("{value} is no quantity above 0")))?;
        match parameter.unit {
            Unit::Whole => plan.grids.push((parameter.clone(), grid(parameter.start as u64))),
            _ => plan.parameters.push(parameter),
        }
    }
    Ok(plan)
}

/// Shortest 99th percentile of writes that counts as a stall of the write buffer, and longest
/// median of reads beside it: a drive that cannot keep up delays both. Unit: microseconds.
const STALL_US: f64 = 500.0;
const READS_US: f64 = 1000.0;

/// The longest 99th percentile of writes that wait while reads do not, if there is one. Unit:
/// microseconds.
pub(super) fn stall(figures: &[Figure]) -> Option<f64> {
    let reads_go_on = |load: Load| {
        let of_reads = |one: &&Figure| {
            one.load == Some(load)
                && one.operation == Operation::Read
                && one.metric == Metric::P50Us
        };
        figures.iter().find(of_reads).is_some_and(|median| median.value < READS_US)
    };
    let stalls = figures.iter().filter(|figure| {
        figure.operation == Operation::Write
            && figure.metric == Metric::P99Us
            && figure.value > STALL_US
            && figure.load.is_some_and(reads_go_on)
    });
    stalls.map(|figure| figure.value).max_by(f64::total_cmp)
}

/// Pauses of the write buffer for a base that has none. Writes wait up to `us` microseconds.
fn pause_of(us: f64) -> [Parameter; 3] {
    let time = us * 1e6;
    let starts = [
        ("cache.pause.interval", 2.0 * time, Unit::Time),
        ("cache.pause.time", time, Unit::Time),
        ("cache.pause.buffer", f64::from(1 << 20), Unit::Bytes),
    ];
    starts.map(|(key, start, unit)| {
        let (low, high) = (start / REACH, start * REACH);
        Parameter { key: key.to_owned(), start, low, high, unit }
    })
}

impl Needs {
    /// The reason why the figures are not sufficient, if they are not.
    fn missing(self, figures: &[Figure]) -> Option<&'static str> {
        let has = |wanted: &dyn Fn(&Figure) -> bool| figures.iter().any(wanted);
        let (there, reason) = match self {
            Self::Anything => (true, ""),
            Self::Reads => {
                (has(&|figure| figure.operation == Operation::Read), "there is no figure of reads")
            }
            Self::Writes => (
                has(&|figure| writes(figure) && figure.metric != Metric::Waf),
                "there is no figure of writes",
            ),
            Self::Behind => (
                has(&|figure| figure.operation == Operation::Read && writes(figure)),
                "there is no figure of reads beside writes",
            ),
            Self::Sustained => (
                has(&|figure| {
                    figure.metric == Metric::Waf
                        || figure.state == State::Sustained && writes(figure)
                }),
                "there is no figure of writes in steady state",
            ),
        };
        (!there).then_some(reason)
    }
}

/// True if the drive is written to.
fn writes(figure: &Figure) -> bool {
    figure.operation == Operation::Write || figure.load.is_some_and(|load| load.write_share > 0.0)
}

/// The value of a key, which may be inside tables.
pub(crate) fn find<'a>(value: &'a Value, key: &str) -> Option<&'a Value> {
    key.split('.').try_fold(value, |value, part| value.get(part))
}

/// A parameter that starts at the value of the base. `None` if that is no quantity above 0.
pub(crate) fn parameter(key: &str, value: &Value) -> Option<Parameter> {
    let (start, unit) = match value {
        Value::String(text) => quantity(text)?,
        Value::Array(times) => {
            let time = |time: &Value| Some(time.as_str()?.parse::<Span>().ok()?.0 as f64);
            let times: Option<Vec<f64>> = times.iter().map(time).collect();
            let times = times?;
            let first = *times.first()?;
            (first, Unit::Times(times.iter().map(|time| time / first).collect()))
        }
        Value::Float(share) => (*share, Unit::Ratio),
        Value::Integer(number) => (*number as f64, Unit::Whole),
        _ => return None,
    };
    let high = start * REACH;
    let high = if unit == Unit::Ratio { high.min(0.99_f64.max(start)) } else { high };
    let sensible = start.is_finite() && start > 0.0;
    sensible.then(|| Parameter { key: key.to_owned(), start, low: start / REACH, high, unit })
}

fn quantity(text: &str) -> Option<(f64, Unit)> {
    if let Ok(span) = text.parse::<Span>() {
        return Some((span.0 as f64, Unit::Time));
    }
    if let Ok(rate) = text.parse::<TransferRate>() {
        return Some((rate.0 as f64, Unit::TransfersPerSecond));
    }
    if let Ok(rate) = text.parse::<Bandwidth>() {
        return Some((rate.0 as f64, Unit::BytesPerSecond));
    }
    text.parse::<ByteSize>().ok().map(|size| (size.0 as f64, Unit::Bytes))
}

/// The values of a whole number to try: the start first, then others from half of it to twice it,
/// at most about nine.
fn grid(start: u64) -> Vec<u64> {
    let (low, high) = (start.div_ceil(2), 2 * start);
    let mut values: Vec<u64> = match high - low {
        0..=8 => (low..=high).collect(),
        _ => (0..=8).map(|step| low + (high - low) * step / 8).collect(),
    };
    values.retain(|value| *value != start);
    values.insert(0, start);
    values
}

#[cfg(test)]
mod tests {
    use super::super::table;
    use super::*;

    #[test]
    fn the_usual_keys_are_those_that_figures_can_tell() {
        let text = "op,pattern,size,depth,metric,value\nread,random,4KiB,1,mean_us,80\n";
        let figures = table::parse(text, "x").expect("right");
        let keys = |base: &str, vary: &[&str]| {
            let vary: Vec<_> = vary.iter().map(ToString::to_string).collect();
            plan(base, &vary, &figures).map(|plan| {
                let keys = plan.parameters.iter().map(|parameter| parameter.key.clone());
                (keys.collect::<Vec<_>>(), plan)
            })
        };
        let (varied, plan) = keys("zn540", &[]).expect("a preset");
        let read = ["flash.read_time", "flash.small_read.time", "interface.firmware_time"];
        assert_eq!(varied[..3], read);
        assert_eq!(varied[3..], ["flash.channel_rate"]);
        assert_eq!(plan.parameters[0].unit.toml(plan.parameters[0].start), "[\"58000000ps\"]");
        assert!(plan.kept.iter().any(|kept| kept.key == "flash.program_time"));
        assert!(plan.kept.iter().any(|kept| kept.key == "flash.channels" && kept.value == "8"));
        let (varied, plan) = keys("zn540", &["flash.chips_per_channel"]).expect("a key");
        assert!(varied.is_empty());
        assert_eq!(plan.grids[0].1, [4, 2, 3, 5, 6, 7, 8]);
        for wrong in ["flash.no_such_key", "flash.technology"] {
            let error = keys("zn540", &[wrong]).map(|_| ()).expect_err("wrong").to_string();
            assert!(error.contains(wrong), "{error}");
        }
        assert_eq!(grid(64), [64, 32, 44, 56, 68, 80, 92, 104, 116, 128]);
        assert_eq!(grid(1), [1, 2]);
    }

    fn beside(p99: f64, read: f64) -> Vec<Figure> {
        let text = format!(
            "op,pattern,size,load_iops,write_share,metric,value,state\n\
             write,random,4KiB,40000,0.9,p99_us,{p99},sustained\n\
             read,random,4KiB,40000,0.9,p50_us,{read},sustained\n"
        );
        table::parse(&text, "x").expect("right")
    }

    #[test]
    fn pauses_are_varied_where_writes_stall_and_reads_do_not() {
        assert_eq!(stall(&beside(50.0, 100.0)), None);
        assert_eq!(stall(&beside(9000.0, 8000.0)), None, "the drive cannot keep up");
        let stalls = beside(9000.0, 100.0);
        assert_eq!(stall(&stalls), Some(9000.0));
        let pauses = |base: &str| {
            let plan = plan(base, &[], &stalls).expect("a preset");
            let keys = plan.parameters.into_iter().map(|parameter| parameter.key);
            keys.filter(|key| key.starts_with("cache.pause")).collect::<Vec<_>>()
        };
        let keys = ["cache.pause.interval", "cache.pause.time", "cache.pause.buffer"];
        assert_eq!([pauses("samsung-pm9a3"), pauses("kioxia-cm7-r")], [keys, keys]);
        let of_data = ["cache.pause.interval", "cache.pause.rate", "cache.pause.buffer"];
        assert_eq!(pauses("micron-7450-max"), of_data, "its pauses have no time of their own");
    }
}
