//! Translates `workload.xml` to workloads, one per scenario.

use std::path::{Path, PathBuf};

use super::tags::{Notes, Section, Tag};
use super::tree::{Node, cut};
use crate::{
    CacheMode, FlowConfig, MqsimAddress, MqsimFlowConfig, MqsimSyntheticConfig, MqsimTraceConfig,
    OUTSTANDING_MAX, OnEnd, Priority, WindowRule, WorkloadConfig,
};
use flashlane_reading::Error;
use flashlane_units::Ratio;

const SYNTHETIC: &str = "IO_Flow_Parameter_Set_Synthetic";
const TRACE: &str = "IO_Flow_Parameter_Set_Trace_Based";
/// Most flows of a scenario.
const FLOWS_MAX: usize = 64;
/// Most logical blocks of an NVMe command. Unit: sectors.
const REQUEST_SECTORS_MAX: u32 = 65_536;
/// Longest time that fits 64 bits of picoseconds. Unit: nanoseconds.
const TIME_MAX_NS: u64 = 18_000_000_000_000_000;
/// Bytes of a sector, for MQSim's integer arithmetic of arrival rates.
const SECTOR_BYTES: u64 = 512;

/// Translates the tree of a workload file.
pub(super) fn scenarios(
    file: &str,
    name: &str,
    root: &Node,
) -> Result<(Vec<WorkloadConfig>, Vec<String>), Error> {
    let mut notes = Notes::new(file);
    let scenarios: Vec<&Node> =
        root.children.iter().filter(|child| child.name == "IO_Scenario").collect();
    let mut top = Section::new(Some(root), &mut notes);
    top.skip("IO_Scenario");
    top.finish();
    if scenarios.is_empty() {
        notes.problem(root.line, "holds no <IO_Scenario>; at least one is due");
    }
    let mut workloads = Vec::with_capacity(scenarios.len());
    for (index, node) in scenarios.iter().enumerate() {
        let name = match scenarios.len() {
            1 => name.to_owned(),
            _ => format!("{name}_scenario_{}", index + 1),
        };
        workloads.push(scenario(name, node, &mut notes));
    }
    notes.finish().map(|warnings| (workloads, warnings))
}

fn scenario(name: String, node: &Node, notes: &mut Notes) -> WorkloadConfig {
    let nodes: Vec<&Node> =
        node.children.iter().filter(|c| c.name == SYNTHETIC || c.name == TRACE).collect();
    let mut section = Section::new(Some(node), notes);
    section.skip(SYNTHETIC);
    section.skip(TRACE);
    section.finish();
    if nodes.is_empty() || nodes.len() > FLOWS_MAX {
        let count = nodes.len();
        let message = format!(
            "<IO_Scenario> has {count} flows (<{SYNTHETIC}>, <{TRACE}>); allowed: 1 to {FLOWS_MAX}"
        );
        notes.problem(node.line, message);
    }
    let flows = nodes
        .iter()
        .take(FLOWS_MAX)
        .enumerate()
        .map(|(index, node)| flow(index, node, notes))
        .collect();
    let (window, outstanding_max) = (WindowRule::WholeRun, OUTSTANDING_MAX);
    WorkloadConfig { name, flows, groups: Vec::new(), window, warmup: None, outstanding_max }
}

fn flow(index: usize, node: &Node, notes: &mut Notes) -> FlowConfig {
    let mut section = Section::new(Some(node), notes);
    let mut flow = common(&mut section);
    let source = if node.name == SYNTHETIC {
        flow.name = format!("Synth.No_{index}");
        MqsimFlowConfig::Synthetic(synthetic(&mut section))
    } else {
        let trace = trace(&mut section);
        let stem = Path::new(&trace.path).file_stem().unwrap_or_default().to_string_lossy();
        flow.name = format!("Trace.{stem}.No_{index}");
        MqsimFlowConfig::Trace(trace)
    };
    section.finish();
    notes.warn_of_defaults(&format!(
        "{}: tags that are missing and that MQSim leaves undefined are taken as",
        flow.name
    ));
    flow.mqsim = Some(source);
    flow
}

/// Reads the tags of both kinds of flows.
fn common(section: &mut Section<'_, '_>) -> FlowConfig {
    let priority = section.choice(
        Tag::new("Priority_Class", "MEDIUM"),
        &[
            ("URGENT", Some(Priority::Urgent)),
            ("HIGH", Some(Priority::High)),
            ("MEDIUM", Some(Priority::Medium)),
            ("LOW", Some(Priority::Low)),
        ],
    );
    let cache = section.choice(
        Tag::new("Device_Level_Data_Caching_Mode", "WRITE_CACHE"),
        &[
            ("TURNED_OFF", Some(CacheMode::Off)),
            ("WRITE_CACHE", Some(CacheMode::Write)),
            ("READ_CACHE", Some(CacheMode::Read)),
            ("WRITE_READ_CACHE", Some(CacheMode::WriteRead)),
        ],
    );
    let percent: u32 = section.number(Tag::new("Initial_Occupancy_Percentage", "100"), 0..=100);
    FlowConfig {
        priority,
        cache,
        channels: ids(section, "Channel_IDs", 64),
        chips: ids(section, "Chip_IDs", 64),
        dies: ids(section, "Die_IDs", 16),
        planes: ids(section, "Plane_IDs", 8),
        occupancy: Some(Ratio(f64::from(percent) / 100.0)),
        on_end: Some(OnEnd::Stop),
        ..FlowConfig::named("")
    }
}

/// A comma-separated list of resources, sorted and without duplicates. Range: `0..bound`.
fn ids(section: &mut Section<'_, '_>, name: &'static str, bound: u32) -> Option<Vec<u32>> {
    let value = section.value(Tag::required(name))?;
    let mut list = Vec::new();
    for item in value.text.split(',') {
        match item.trim().parse::<u32>() {
            Ok(id) if id < bound => list.push(id),
            _ => {
                let message = format!(
                    "<{name}> is {:?}; allowed: numbers from 0 to {} with commas between them",
                    cut(value.text),
                    bound - 1
                );
                section.notes.problem(value.line, message);
                return None;
            }
        }
    }
    list.sort_unstable();
    list.dedup();
    Some(list)
}

fn synthetic(section: &mut Section<'_, '_>) -> MqsimSyntheticConfig {
    section.ignored("Intensity", "the load is set by <Average_No_of_Reqs_in_Queue> or <Bandwidth>");
    let closed_loop = section.choice(
        Tag::required("Synthetic_Generator_Type"),
        &[("QUEUE_DEPTH", Some(true)), ("BANDWIDTH", Some(false))],
    );
    let address = section.choice(
        Tag::required("Address_Distribution"),
        &[
            ("STREAMING", Some(MqsimAddress::Streaming)),
            ("RANDOM_UNIFORM", Some(MqsimAddress::Uniform)),
            ("RANDOM_HOTCOLD", Some(MqsimAddress::HotCold)),
        ],
    );
    let normal_size = section.choice(
        Tag::required("Request_Size_Distribution"),
        &[("FIXED", Some(false)), ("NORMAL", Some(true))],
    );
    let aligned = section.boolean(Tag::new("Generated_Aligned_Addresses", "false"));
    let size = 1..=REQUEST_SECTORS_MAX;
    let config = MqsimSyntheticConfig {
        working_set_percent: working_set(section),
        closed_loop,
        read_percent: section.number(Tag::required("Read_Percentage"), 0..=100),
        address,
        hot_region_percent: hot_region(section, address),
        aligned,
        alignment_sectors: section.number_if(
            aligned,
            Tag::required("Address_Alignment_Unit"),
            1..=u32::MAX,
            1,
        ),
        normal_size,
        size_mean_sectors: section.number(Tag::required("Average_Request_Size"), size),
        size_stddev_sectors: section.number_if(
            normal_size,
            Tag::required("Variance_Request_Size"),
            0..=REQUEST_SECTORS_MAX,
            0,
        ),
        seed: section.number(Tag::required("Seed"), 0..=i32::MAX),
        queue_depth: section.number_if(
            closed_loop,
            Tag::required("Average_No_of_Reqs_in_Queue"),
            1..=65_535,
            1,
        ),
        bandwidth: section.number_if(!closed_loop, Tag::required("Bandwidth"), 0..=1 << 40, 0),
        stop_time_ns: section.number(Tag::new("Stop_Time", "0"), 0..=TIME_MAX_NS),
        requests: section.number(Tag::new("Total_Requests_To_Generate", "0"), 0..=1 << 48),
    };
    check_rate(section, &config);
    check_end(section, &config);
    config
}

/// Percent of the working set that is hot. If all of it is hot, MQSim has no place for cold
/// requests.
fn hot_region(section: &mut Section<'_, '_>, address: MqsimAddress) -> u32 {
    let tag = Tag::required("Percentage_of_Hot_Region");
    section.number_if(address == MqsimAddress::HotCold, tag, 0..=99, 0)
}

/// Percent of the space. A value out of range means all of it, as in MQSim.
fn working_set(section: &mut Section<'_, '_>) -> u32 {
    let tag = Tag::new("Working_Set_Percentage", "100");
    let percent: u32 = section.number(tag, 0..=u32::MAX);
    if (1..=100).contains(&percent) {
        return percent;
    }
    let line = section.line_of(tag.name());
    section.notes.warn(
        line,
        format!("<Working_Set_Percentage> is {percent}, not 1 to 100; taken as 100, as MQSim does"),
    );
    100
}

/// Checks a rate: MQSim divides by the whole number of requests per second.
fn check_rate(section: &mut Section<'_, '_>, config: &MqsimSyntheticConfig) {
    let size = u64::from(config.size_mean_sectors);
    if !config.closed_loop && config.bandwidth / SECTOR_BYTES < size {
        let line = section.line_of("Bandwidth");
        let message = format!(
            "<Bandwidth> is {} bytes per second, less than one request of {size} sectors; allowed: \
             {} and more",
            config.bandwidth,
            size * SECTOR_BYTES
        );
        section.notes.problem(line, message);
    }
}

fn check_end(section: &mut Section<'_, '_>, config: &MqsimSyntheticConfig) {
    if config.stop_time_ns == 0 && config.requests == 0 {
        let line = section.line();
        section.notes.problem(
            line,
            "<Stop_Time> and <Total_Requests_To_Generate> are both 0, so the flow has no requests; \
             set one of them",
        );
    }
    if config.stop_time_ns > 0 && config.requests > 0 {
        let line = section.line_of("Total_Requests_To_Generate");
        let message = format!(
            "<Total_Requests_To_Generate> is {} but has no effect, as in MQSim, because <Stop_Time> \
             is set",
            config.requests
        );
        section.notes.warn(line, message);
    }
}

fn trace(section: &mut Section<'_, '_>) -> MqsimTraceConfig {
    section.ignored("Time_Unit", "times of a trace are nanoseconds whatever it says");
    let path = section.value(Tag::required("File_Path"));
    if let Some(path) = path
        && path.text.is_empty()
    {
        section.notes.problem(path.line, "<File_Path> is empty; the path of a trace is due");
    }
    let percent = section.number(Tag::required("Percentage_To_Be_Executed"), 1..=u32::MAX);
    if percent > 100 {
        let line = section.line_of("Percentage_To_Be_Executed");
        let message =
            format!("<Percentage_To_Be_Executed> is {percent}; taken as 100, as MQSim does");
        section.notes.warn(line, message);
    }
    let rounds = Tag::required("Relay_Count").also(&["Replay_Count"]);
    let config = MqsimTraceConfig {
        path: PathBuf::from(path.map_or("", |path| path.text)),
        percent: percent.min(100),
        rounds: section.number(rounds, 1..=u32::MAX),
    };
    if config.rounds > 1 && config.percent < 100 {
        let line = section.line_of("Percentage_To_Be_Executed");
        let message = format!(
            "<Percentage_To_Be_Executed> is {} but has no effect, as in MQSim, because the trace is \
             replayed {} times",
            config.percent, config.rounds
        );
        section.notes.warn(line, message);
    }
    config
}
