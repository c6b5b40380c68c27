//! MQSim's XML: what is translated, what is warned of, what is refused.

use std::path::Path;

use flashlane::config::mqsim_xml::{load_device, load_scenarios, parse_device, parse_scenarios};
use flashlane::config::units::{Bandwidth, BlockShare, ByteSize, Ratio, Span, TransferRate};
use flashlane::config::*;

/// A device file with these tags in its sections.
fn device_text(host: &str, device: &str, flash: &str) -> String {
    format!(
        "<?xml version=\"1.0\" encoding=\"us-ascii\"?>\n<Execution_Parameter_Set>\n\
         <Host_Parameter_Set>\n{host}\n</Host_Parameter_Set>\n<Device_Parameter_Set>\n{device}\n\
         <Flash_Parameter_Set>\n{flash}\n</Flash_Parameter_Set>\n</Device_Parameter_Set>\n\
         </Execution_Parameter_Set>\n"
    )
}

const COMMON: &str = "<Priority_Class>HIGH</Priority_Class>\n\
    <Device_Level_Data_Caching_Mode>TURNED_OFF</Device_Level_Data_Caching_Mode>\n\
    <Channel_IDs>0, 1,3</Channel_IDs>\n<Chip_IDs>0</Chip_IDs>\n<Die_IDs>0,1</Die_IDs>\n\
    <Plane_IDs>1,0,1</Plane_IDs>\n<Initial_Occupancy_Percentage>75</Initial_Occupancy_Percentage>\n";

const SYNTHETIC: &str = "<Working_Set_Percentage>50</Working_Set_Percentage>\n\
    <Synthetic_Generator_Type>QUEUE_DEPTH</Synthetic_Generator_Type>\n\
    <Read_Percentage>70</Read_Percentage>\n\
    <Address_Distribution>RANDOM_UNIFORM</Address_Distribution>\n\
    <Generated_Aligned_Addresses>true</Generated_Aligned_Addresses>\n\
    <Address_Alignment_Unit>16</Address_Alignment_Unit>\n\
    <Request_Size_Distribution>FIXED</Request_Size_Distribution>\n\
    <Average_Request_Size>8</Average_Request_Size>\n<Seed>798</Seed>\n\
    <Average_No_of_Reqs_in_Queue>16</Average_No_of_Reqs_in_Queue>\n\
    <Stop_Time>1000000</Stop_Time>\n\
    <Total_Requests_To_Generate>0</Total_Requests_To_Generate>\n";

const TRACE: &str = "<File_Path>traces/tpcc.trace</File_Path>\n\
    <Percentage_To_Be_Executed>100</Percentage_To_Be_Executed>\n\
    <Relay_Count>1</Relay_Count>\n<Time_Unit>NANOSECOND</Time_Unit>\n";

fn synthetic(tags: &str) -> String {
    format!("<IO_Flow_Parameter_Set_Synthetic>\n{tags}</IO_Flow_Parameter_Set_Synthetic>\n")
}

fn traced(tags: &str) -> String {
    format!("<IO_Flow_Parameter_Set_Trace_Based>\n{tags}</IO_Flow_Parameter_Set_Trace_Based>\n")
}

/// A workload file with one scenario.
fn scenario_text(flows: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<MQSim_IO_Scenarios>\n<IO_Scenario>\n{flows}</IO_Scenario>\n\
         </MQSim_IO_Scenarios>\n"
    )
}

fn device(text: &str) -> (DeviceConfig, Vec<String>) {
    parse_device(Path::new("dir/small.xml"), text.as_bytes()).expect("a valid device")
}

fn device_error(text: &[u8]) -> String {
    let error = parse_device(Path::new("dir/small.xml"), text).expect_err("a refusal");
    assert_eq!(error.exit_status(), 2);
    error.to_string()
}

fn scenarios(text: &str) -> (Vec<WorkloadConfig>, Vec<String>) {
    parse_scenarios(Path::new("work.xml"), text.as_bytes()).expect("a valid workload")
}

fn flow_error(flow: &str) -> String {
    let text = scenario_text(flow);
    let error = parse_scenarios(Path::new("work.xml"), text.as_bytes()).expect_err("a refusal");
    error.to_string()
}

/// The text with one of its lines replaced.
fn with(text: &str, tag: &str, value: &str) -> String {
    let line = text.lines().find(|line| line.starts_with(&format!("<{tag}>"))).expect("a tag");
    text.replace(line, &format!("<{tag}>{value}</{tag}>"))
}

fn without(text: &str, tag: &str) -> String {
    let keep = |line: &&str| !line.starts_with(&format!("<{tag}>"));
    text.lines().filter(keep).map(|line| format!("{line}\n")).collect()
}

fn assert_has(text: &str, parts: &[&str]) {
    for part in parts {
        assert!(text.contains(part), "{part:?} is not in {text:?}");
    }
}

#[test]
fn an_empty_device_takes_the_defaults_of_mqsim_and_says_so_once() {
    let (config, warnings) = device(&device_text("", "", ""));
    assert_eq!(config.name, "small");
    assert_eq!(config.link.lane_bandwidth, Some(Bandwidth(400_000_000)));
    assert_eq!(config.interface.queue_depth, 1024);
    assert_eq!(config.interface.firmware_time, Span(1_000_000));
    assert_eq!(config.cache.capacity, ByteSize(512 << 20));
    assert_eq!(config.cache.dram.bus_width, ByteSize(4));
    assert_eq!(config.cache.dram.data_rate, TransferRate(800_000_000));
    assert_eq!(config.flash.channel_rate, TransferRate(300_000_000));
    assert_eq!(config.flash.read_time, vec![Span(75_000_000); 2]);
    assert_eq!(config.flash.program_time, vec![Span(750_000_000); 2]);
    assert_eq!(config.flash.erase_time, Span(3_800_000_000));
    assert_eq!(config.ftl.gc.threshold, BlockShare::Blocks(102));
    assert_eq!(config.ftl.gc.hard_threshold, BlockShare::Blocks(10));
    assert_eq!(config.ftl.unwritten_read, UnwrittenRead::Flash);
    assert_eq!(config.scheduler.name(), "out-of-order");
    assert!(!config.ftl.mapping.ideal && config.ftl.precondition.enabled);
    assert!(config.flash.suspend.erase && !config.flash.suspend.program);
    assert_eq!(config.compat, CompatConfig::default());
    let lists: Vec<&String> = warnings.iter().filter(|w| w.contains("missing")).collect();
    assert_eq!(lists.len(), 1, "{warnings:?}");
    assert_has(lists[0], &["PCIe_Lane_Bandwidth=0.4", "Page_Capacity=8192"]);
}

#[test]
fn values_are_translated_with_their_units() {
    let text = device_text(
        "<PCIe_Lane_Bandwidth>1.0000</PCIe_Lane_Bandwidth><PCIe_Lane_Count>2</PCIe_Lane_Count>",
        "<Overprovisioning_Ratio>0.5</Overprovisioning_Ratio>\
         <Plane_Allocation_Scheme>pdwc</Plane_Allocation_Scheme>\
         <Transaction_Scheduling_Policy>priority_out_of_order</Transaction_Scheduling_Policy>\
         <GC_Block_Selection_Policy>Greedy</GC_Block_Selection_Policy>\
         <Enabled_Preconditioning>FALSE</Enabled_Preconditioning>\
         <Channel_Transfer_Rate>333</Channel_Transfer_Rate>\
         <Preferred_suspend_write_time_for_read>5</Preferred_suspend_write_time_for_read>",
        "<Flash_Technology>TLC</Flash_Technology><Page_Read_Latency_CSB>80000</Page_Read_Latency_CSB>\
         <CMD_Suspension_Support>PROGRAM_ERASE</CMD_Suspension_Support>\
         <Block_No_Per_Plane>64</Block_No_Per_Plane><Suspend_Program_Time>7</Suspend_Program_Time>",
    );
    let (config, warnings) = device(&text);
    assert_eq!(config.link.lane_bandwidth, Some(Bandwidth(1_000_000_000)));
    assert_eq!(config.link.lanes, 2);
    assert_eq!(config.ftl.over_provisioning, Ratio(1.0));
    assert_eq!(config.ftl.allocation.name(), "pdwc");
    assert_eq!(config.scheduler.name(), "priority-out-of-order");
    assert_eq!(config.ftl.gc.victim.name(), "greedy");
    assert!(!config.ftl.precondition.enabled);
    assert_eq!(config.flash.channel_rate, TransferRate(333_000_000));
    let read_us = [75, 80, 75].map(|us| Span(us * 1_000_000));
    assert_eq!(config.flash.read_time, read_us);
    assert!(config.flash.suspend.program && config.flash.suspend.erase);
    assert_eq!(config.flash.suspend.program_time, Span(7_000));
    assert_eq!(config.flash.suspend.program_min_left, Span(5_000));
    assert_eq!(config.ftl.gc.threshold, BlockShare::Blocks(10));
    assert_eq!(config.ftl.gc.hard_threshold, BlockShare::Blocks(2));
    assert!(warnings.iter().any(|w| w.contains("raised to 2")), "{warnings:?}");
}

#[test]
fn single_level_cells_use_the_first_latency() {
    let text = device_text(
        "",
        "",
        "<Flash_Technology>SLC</Flash_Technology><Page_Read_Latency_LSB>25000</Page_Read_Latency_LSB>",
    );
    let (config, _) = device(&text);
    assert_eq!(config.flash.read_time, vec![Span(25_000_000)]);
    assert_eq!(config.flash.program_time.len(), 1);
}

#[test]
fn both_spellings_count_and_the_one_that_mqsim_skips_is_warned_of() {
    let busrt = "<Data_Cache_DRAM_Data_Busrt_Size>2</Data_Cache_DRAM_Data_Busrt_Size>";
    let burst = busrt.replace("Busrt", "Burst");
    let exect = "<GC_Exect_Threshold>0.25</GC_Exect_Threshold>";
    let (config, warnings) = device(&device_text("", busrt, ""));
    assert_eq!(config.cache.dram.bus_width, ByteSize(2));
    assert!(!warnings.iter().any(|w| w.contains("Busrt")), "{warnings:?}");
    let (config, warnings) = device(&device_text("", &format!("{burst}{exect}"), ""));
    assert_eq!(config.cache.dram.bus_width, ByteSize(2));
    assert_eq!(config.ftl.gc.threshold, BlockShare::Blocks(512));
    let spelling = warnings.iter().filter(|w| w.contains("only under that spelling")).count();
    assert_eq!(spelling, 2, "{warnings:?}");
    let shipped =
        "<Preferred_suspend_erase_time_for_read>700000</Preferred_suspend_erase_time_for_read>";
    let (_, warnings) = device(&device_text("", shipped, ""));
    assert!(!warnings.iter().any(|w| w.contains("erase_time_for_read")), "{warnings:?}");
}

#[test]
fn unknown_and_repeated_tags_and_odd_booleans_are_warned_of() {
    let text = device_text(
        "",
        "<Queue_Fetch_Sise>16</Queue_Fetch_Sise><IO_Queue_Depth>8</IO_Queue_Depth>\
         <IO_Queue_Depth>9</IO_Queue_Depth><Ideal_Mapping_Table>yes</Ideal_Mapping_Table>",
        "",
    );
    let (config, warnings) = device(&text);
    let all = warnings.join("\n");
    assert_has(&all, &["small.xml:7", "<Queue_Fetch_Sise>", "did you mean <Queue_Fetch_Size>?"]);
    assert_has(&all, &["given twice", "neither true nor false"]);
    assert_eq!(config.interface.queue_depth, 9);
    assert!(config.ftl.mapping.ideal);
}

#[test]
fn sata_takes_its_delay_and_its_32_tags() {
    let text = device_text(
        "<SATA_Processing_Delay>400000</SATA_Processing_Delay>",
        "<HostInterface_Type>sata</HostInterface_Type><IO_Queue_Depth>1024</IO_Queue_Depth>",
        "",
    );
    let (config, warnings) = device(&text);
    assert_has(&warnings.join("\n"), &["<IO_Queue_Depth> is 1024", "32, the most that SATA"]);
    let interface = &config.interface;
    assert_eq!(interface.kind, flashlane::config::InterfaceKind::Sata);
    assert_eq!((interface.sata.tags, interface.queue_depth), (32, 1024));
    assert_eq!(interface.sata.adapter_time.0, 400_000_000);
}

#[test]
fn tags_without_effect_beside_others_are_warned_of() {
    let delay = "<SATA_Processing_Delay>400000</SATA_Processing_Delay>";
    let hard = "<GC_Hard_Threshold>0.1</GC_Hard_Threshold>";
    let never = format!("{hard}<Preemptible_GC_Enabled>false</Preemptible_GC_Enabled>");
    let (_, warnings) = device(&device_text(delay, &never, ""));
    let says = "has no effect";
    let said: Vec<&String> = warnings.iter().filter(|one| one.contains(says)).collect();
    assert_eq!(said.len(), 2, "{warnings:?}");
    assert_has(said[0], &["<SATA_Processing_Delay>", "NVME"]);
    assert_has(said[1], &["<GC_Hard_Threshold>", "<Preemptible_GC_Enabled>"]);
    let (_, warnings) = device(&device_text("", hard, ""));
    assert!(!warnings.iter().any(|one| one.contains(says)), "{warnings:?}");
}

#[test]
fn a_hard_threshold_above_the_other_one_is_lowered_and_named() {
    let hard = "\n<GC_Hard_Threshold>0.5</GC_Hard_Threshold>";
    let (config, warnings) = device(&device_text("", hard, ""));
    assert_has(&warnings.join("\n"), &["small.xml:8: <GC_Hard_Threshold> means", "; lowered to "]);
    let blocks = config.flash.blocks_per_plane;
    let gc = &config.ftl.gc;
    assert!(gc.hard_threshold.blocks(blocks) < gc.threshold.blocks(blocks));
}

#[test]
fn a_mapping_cache_of_a_few_entries_is_taken() {
    let few = device_text("", "<CMT_Capacity>64</CMT_Capacity>", "");
    assert_eq!(device(&few).0.ftl.mapping.cmt_capacity.0, 64);
}

#[test]
fn what_is_not_built_is_refused_with_line_value_and_choice() {
    for (tag, value, allowed) in [
        ("HostInterface_Type", "SAS", "allowed: NVME, SATA"),
        ("Address_Mapping", "BLOCK_LEVEL", "allowed: PAGE_LEVEL, HYBRID"),
        ("Memory_Type", "PCM", "allowed: FLASH"),
        ("GC_Block_Selection_Policy", "RANDOM_PPP", "allowed: GREEDY, RGA, RANDOM, RANDOM_P"),
        ("CMT_Sharing_Mode", "equally", "allowed: SHARED, EQUAL_PARTITIONING"),
        ("Caching_Mechanism", "SIMPLEST", "allowed: ADVANCED, SIMPLE"),
        ("Transaction_Scheduling_Policy", "FAIR", "allowed: OUT_OF_ORDER"),
        ("Flash_Comm_Protocol", "SDR", "allowed: NVDDR2"),
    ] {
        let text = device_text("", &format!("<{tag}>{value}</{tag}>"), "");
        let error = device_error(text.as_bytes());
        assert_has(&error, &["dir/small.xml:7", tag, value, allowed]);
    }
}

#[test]
fn collection_and_wear_are_translated() {
    let text = device_text(
        "",
        "<Use_Copyback_for_GC>true</Use_Copyback_for_GC>\
         <Static_Wearleveling_Threshold>7</Static_Wearleveling_Threshold>\
         <Preferred_suspend_erase_time_for_write>5000</Preferred_suspend_erase_time_for_write>",
        "",
    );
    let (config, warnings) = device(&text);
    assert!(config.ftl.gc.copyback);
    assert_eq!(config.ftl.wear_leveling.static_threshold, 7);
    assert!(warnings.iter().any(|w| w.contains("<Static_Wearleveling_Threshold> is 7")));
    let suspend = &config.flash.suspend;
    assert!(suspend.erase_for_write, "CMD_Suspension_Support is ERASE by default");
    assert_eq!(suspend.erase_min_left_for_write, Span(5_000_000));
    let off = "<Static_Wearleveling_Enabled>false</Static_Wearleveling_Enabled>";
    let (config, warnings) = device(&device_text("", off, ""));
    assert_eq!(config.ftl.wear_leveling.static_threshold, 0);
    assert!(warnings.iter().any(|w| w.contains("<Static_Wearleveling_Enabled> is false")));
}

#[test]
fn every_victim_policy_of_mqsim_has_its_counterpart() {
    for (value, name) in [
        ("GREEDY", "greedy"),
        ("RGA", "rga"),
        ("RANDOM", "random"),
        ("RANDOM_P", "random-plus"),
        ("RANDOM_PP", "random-plus-plus"),
        ("FIFO", "fifo"),
    ] {
        let tag = "GC_Block_Selection_Policy";
        let text = device_text("", &format!("<{tag}>{value}</{tag}>"), "");
        assert_eq!(device(&text).0.ftl.gc.victim.name(), name);
    }
}

#[test]
fn every_problem_of_a_file_is_reported_at_once() {
    let text = device_text(
        "<PCIe_Lane_Count>0</PCIe_Lane_Count>\n<PCIe_Lane_Bandwidth>nan</PCIe_Lane_Bandwidth>",
        "<CMT_Capacity>99999999999999999999999</CMT_Capacity>\n\
         <Overprovisioning_Ratio>1.0</Overprovisioning_Ratio>\n\
         <Plane_Allocation_Scheme>CWPP</Plane_Allocation_Scheme>",
        "<Page_Capacity>1000</Page_Capacity>\n<Die_No_Per_Chip>-2</Die_No_Per_Chip>\n\
         <Page_No_Per_Block></Page_No_Per_Block>\n<Block_No_Per_Plane>8</Block_No_Per_Plane>",
    );
    let error = device_error(text.as_bytes());
    assert_eq!(error.lines().count(), 9, "{error}");
    for tag in ["PCIe_Lane_Count", "PCIe_Lane_Bandwidth", "CMT_Capacity", "Overprovisioning_Ratio"]
    {
        assert!(error.contains(tag), "{tag} is not in {error}");
    }
    assert_has(&error, &["did you mean CWDP?", "multiples of 512", "-2", "Page_No_Per_Block"]);
}

#[test]
fn malformed_files_are_refused_with_their_line() {
    let valid = device_text("", "<IO_Queue_Depth>8</IO_Queue_Depth>", "");
    let broken = |from: &str, to: &str| valid.replace(from, to).into_bytes();
    let cut = valid.len() - 40;
    for (text, parts) in [
        (Vec::new(), vec!["dir/small.xml", "empty"]),
        (b" \n \n".to_vec(), vec!["empty"]),
        (b"no xml at all".to_vec(), vec!["small.xml:1", "outside any tag"]),
        (b"<?xml version=\"1.0\"?>".to_vec(), vec!["no XML element"]),
        (valid.as_bytes()[..cut].to_vec(), vec!["malformed XML"]),
        (broken("8</IO_Queue_Depth>", "8</<IO_Queue_Depth>"), vec!["small.xml:7", "malformed"]),
        (broken("</IO_Queue_Depth>", "</IO_Queue_Size>"), vec!["small.xml:7", "IO_Queue_Size"]),
        (broken("<IO_Queue_Depth>", "<<<<<<< HEAD\n<IO_Queue_Depth>"), vec![":7", "conflict"]),
        (broken("<Device_Parameter_Set>", "\n=======\n<Device_Parameter_Set>"), vec!["conflict"]),
        (broken("<IO_Queue_Depth>", "loose <IO_Queue_Depth>"), vec![":7", "loose text"]),
        (broken("8</IO", "&nothing;</IO"), vec![":7", "&nothing;"]),
        (broken("8</IO", "<A>8</A></IO"), vec![":7", "holds tags where a value is due"]),
        (format!("{valid}<More/>").into_bytes(), vec![":13", "<More> follows the end"]),
        (b"<Execution_Parameter_Set>\n\xff\xfe".to_vec(), vec![":2", "not UTF-8"]),
        ("<a>".repeat(100).into_bytes(), vec!["deep"]),
        (scenario_text("").into_bytes(), vec!["this is a workload file"]),
        (b"<html></html>".to_vec(), vec!["<Execution_Parameter_Set>"]),
        (b"<1a></1a>".to_vec(), vec!["no tag name"]),
    ] {
        let error = device_error(&text);
        assert_has(&error, &parts);
    }
}

/// The release takes its own defaults for a file that holds nothing but this word.
#[test]
fn internal_parameters_are_those_of_a_file_without_tags() {
    let (internal, warnings) = device(" USE_INTERNAL_PARAMS\n");
    let (empty, _) = device(&device_text("", "", ""));
    assert_eq!(internal, empty);
    assert!(warnings.iter().any(|warning| warning.contains("missing")), "{warnings:?}");
    assert_has(&device_error(b"USE_INTERNAL_PARAMS and more"), &["small.xml"]);
}

#[test]
fn a_missing_file_is_named() {
    let error = load_device(Path::new("no/such.xml")).expect_err("no file").to_string();
    assert_has(&error, &["no/such.xml", "cannot be read"]);
    let error = load_scenarios(Path::new("no/such.xml")).expect_err("no file").to_string();
    assert_has(&error, &["no/such.xml", "cannot be read"]);
}

#[test]
fn entities_comments_and_a_byte_order_mark_are_read() {
    let text = scenario_text(&traced(&with(
        &format!("{COMMON}{TRACE}"),
        "File_Path",
        "a&amp;<!-- not b -->&#98;<![CDATA[<c>]]>.trace",
    )));
    let (workloads, _) = scenarios(&format!("\u{feff}{text}"));
    let Some(MqsimFlowConfig::Trace(trace)) = &workloads[0].flows[0].mqsim else {
        panic!("a trace is due")
    };
    assert_eq!(trace.path, Path::new("a&b<c>.trace"));
}

#[test]
fn flows_are_translated_and_named() {
    let flows = synthetic(&format!("{COMMON}{SYNTHETIC}")) + &traced(&format!("{COMMON}{TRACE}"));
    let (workloads, warnings) = scenarios(&scenario_text(&flows));
    assert_eq!(workloads.len(), 1);
    let workload = &workloads[0];
    assert_eq!((workload.name.as_str(), workload.window), ("work", WindowRule::WholeRun));
    let [one, two] = workload.flows.as_slice() else { panic!("two flows are due") };
    assert_eq!((one.name.as_str(), two.name.as_str()), ("Synth.No_0", "Trace.tpcc.No_1"));
    assert_eq!((one.priority, one.cache), (Priority::High, CacheMode::Off));
    assert_eq!(one.channels, Some(vec![0, 1, 3]));
    assert_eq!(one.planes, Some(vec![0, 1]));
    assert_eq!((one.occupancy, one.on_end), (Some(Ratio(0.75)), Some(OnEnd::Stop)));
    let Some(MqsimFlowConfig::Synthetic(config)) = &one.mqsim else { panic!("synthetic is due") };
    assert!(config.closed_loop && config.aligned && !config.normal_size);
    assert_eq!((config.read_percent, config.seed, config.queue_depth), (70, 798, 16));
    assert_eq!((config.size_mean_sectors, config.alignment_sectors), (8, 16));
    let Some(MqsimFlowConfig::Trace(config)) = &two.mqsim else { panic!("a trace is due") };
    assert_eq!(config.path, Path::new("traces/tpcc.trace"));
    assert_eq!((config.percent, config.rounds), (100, 1));
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    assert_has(&warnings[0], &["<Time_Unit>", "work.xml:"]);
}

#[test]
fn scenarios_are_numbered() {
    let flow = synthetic(&format!("{COMMON}{SYNTHETIC}"));
    let two = format!("{flow}</IO_Scenario>\n<IO_Scenario>\n{flow}");
    let (workloads, _) = scenarios(&scenario_text(&two));
    let names: Vec<&str> = workloads.iter().map(|w| w.name.as_str()).collect();
    assert_eq!(names, ["work_scenario_1", "work_scenario_2"]);
}

#[test]
fn bad_flows_are_refused() {
    let base = format!("{COMMON}{SYNTHETIC}");
    for (tag, value, part) in [
        ("Channel_IDs", "0,64", "0 to 63"),
        ("Channel_IDs", "", "numbers"),
        ("Chip_IDs", "0;1", "numbers"),
        ("Plane_IDs", "-1", "0 to 7"),
        ("Priority_Class", "HIHG", "did you mean HIGH?"),
        ("Initial_Occupancy_Percentage", "101", "0 to 100"),
        ("Average_Request_Size", "0", "1 to 65536"),
        ("Read_Percentage", "110", "0 to 100"),
        ("Seed", "-5", "0 to 2147483647"),
        ("Address_Alignment_Unit", "0", "1 to"),
        ("Average_No_of_Reqs_in_Queue", "0", "1 to 65535"),
        ("Stop_Time", "0", "both 0"),
        ("Stop_Time", "99999999999999999999", "Stop_Time"),
        ("Address_Distribution", "MIXED_STREAMING_RANDOM", "synthetic.address.mixed"),
        ("Synthetic_Generator_Type", "BANDWIDTH", "<Bandwidth> is missing"),
        ("Request_Size_Distribution", "NORMAL", "<Variance_Request_Size> is missing"),
    ] {
        let error = flow_error(&synthetic(&with(&base, tag, value)));
        assert_has(&error, &["work.xml:", part]);
    }
    for tag in ["Read_Percentage", "Seed", "Channel_IDs", "Average_Request_Size"] {
        let error = flow_error(&synthetic(&without(&base, tag)));
        assert_has(&error, &[tag, "missing"]);
    }
    assert_has(&flow_error(""), &["0 flows"]);
    let hot = with(&base, "Address_Distribution", "RANDOM_HOTCOLD");
    let hot = format!("{hot}<Percentage_of_Hot_Region>100</Percentage_of_Hot_Region>\n");
    assert_has(&flow_error(&synthetic(&hot)), &["Percentage_of_Hot_Region", "0 to 99"]);
    // A region of no percent is one sector, as in the release.
    scenarios(&scenario_text(&synthetic(&hot.replace(">100<", ">0<"))));
    let trace = format!("{COMMON}{TRACE}");
    for (tag, value) in [("File_Path", ""), ("Relay_Count", "0"), ("Relay_Count", "x")] {
        assert_has(&flow_error(&traced(&with(&trace, tag, value))), &[tag]);
    }
    let empty = "<MQSim_IO_Scenarios>\n</MQSim_IO_Scenarios>";
    let error = parse_scenarios(Path::new("work.xml"), empty.as_bytes()).expect_err("none");
    assert_has(&error.to_string(), &["no <IO_Scenario>"]);
}

#[test]
fn slow_open_loops_are_refused_and_closed_ones_do_not_care() {
    let base = format!("{COMMON}{SYNTHETIC}<Bandwidth>4095</Bandwidth>\n");
    let (_, warnings) = scenarios(&scenario_text(&synthetic(&base)));
    assert!(warnings.is_empty(), "{warnings:?}");
    let open = with(&base, "Synthetic_Generator_Type", "BANDWIDTH");
    assert_has(&flow_error(&synthetic(&open)), &["<Bandwidth>", "4095", "4096 and more"]);
    let open = with(&open, "Bandwidth", "4096");
    let (workloads, _) = scenarios(&scenario_text(&synthetic(&open)));
    let Some(MqsimFlowConfig::Synthetic(config)) = &workloads[0].flows[0].mqsim else {
        panic!("synthetic is due")
    };
    assert_eq!((config.closed_loop, config.bandwidth), (false, 4096));
}

#[test]
fn what_mqsim_ignores_or_overrides_in_flows_is_warned_of() {
    let tags = format!("{COMMON}{SYNTHETIC}<Intensity>32768</Intensity>\n");
    let tags = with(&tags, "Working_Set_Percentage", "0");
    let tags = with(&tags, "Total_Requests_To_Generate", "5");
    let tags = without(&tags, "Priority_Class");
    let (workloads, warnings) = scenarios(&scenario_text(&synthetic(&tags)));
    let all = warnings.join("\n");
    assert_has(&all, &["<Intensity>", "taken as 100", "<Stop_Time> is set"]);
    assert_has(&all, &["undefined", "Priority_Class=MEDIUM"]);
    assert_eq!(workloads[0].flows[0].priority, Priority::Medium);
    let trace = format!("{COMMON}{TRACE}").replace("Relay_Count", "Replay_Count");
    let trace = with(&trace, "Replay_Count", "3");
    let trace = with(&trace, "Percentage_To_Be_Executed", "50");
    let (workloads, warnings) = scenarios(&scenario_text(&traced(&trace)));
    assert_has(&warnings.join("\n"), &["<Replay_Count>", "<Relay_Count>", "replayed 3 times"]);
    let Some(MqsimFlowConfig::Trace(config)) = &workloads[0].flows[0].mqsim else {
        panic!("a trace is due")
    };
    assert_eq!(config.rounds, 3);
}
