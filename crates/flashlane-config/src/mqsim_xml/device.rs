//! Translates `ssdconfig.xml` to a device.

use super::flash::{array, channel, latency, suspend_margins};
use super::tags::{Notes, Section, Tag};
use super::tree::Node;
use crate::{
    CacheConfig, CacheMechanism, CompatConfig, DeviceConfig, DramConfig, EnduranceConfig,
    EnergyConfig, FtlConfig, GcConfig, InterfaceConfig, InterfaceKind, LinkConfig, MappingConfig,
    MappingKind, PreconditionConfig, SataConfig, ScrubbingConfig, Sharing, UnwrittenOrder,
    UnwrittenRead, WearConfig,
};
use flashlane_device::ftl::allocation::Allocation;
use flashlane_device::ftl::gc::Victim;
use flashlane_device::ftl::separation::Separation;
use flashlane_device::ftl::superblocks::Superblock;
use flashlane_device::isolation::Isolation;
use flashlane_device::scheduler::Scheduling;
use flashlane_reading::Error;
use flashlane_units::{Bandwidth, BlockShare, ByteSize, Ratio, Span, TransferRate};

/// MQSim collects a plane as soon as it has fewer free blocks than this, whatever the configured
/// share is.
const GC_THRESHOLD_MIN_BLOCKS: u32 = 10;
/// Collection needs one block to copy to and one to spare.
const GC_RESERVE_MIN_BLOCKS: u32 = 2;

/// Translates the tree of a device file.
pub(super) fn device(
    file: &str,
    name: &str,
    root: &Node,
) -> Result<(DeviceConfig, Vec<String>), Error> {
    let mut notes = Notes::new(file);
    let mut top = Section::new(Some(root), &mut notes);
    let (host, device) = (top.inner("Host_Parameter_Set"), top.inner("Device_Parameter_Set"));
    top.finish();

    let host_section = host;
    let mut host = Section::new(host, &mut notes);
    let link = link(&mut host);
    let adapter_time = latency(&mut host, Tag::new("SATA_Processing_Delay", "0"));
    host.finish();

    let mut section = Section::new(device, &mut notes);
    let flash = section.inner("Flash_Parameter_Set");
    refuse_unbuilt(&mut section);
    let interface = interface(&mut section, adapter_time);
    let cache = cache(&mut section);
    let scheduler = scheduler(&mut section);
    let mut ftl = ftl(&mut section);
    let suspend = suspend_margins(&mut section);
    let channel = channel(&mut section);
    let shares = gc_shares(&mut section);
    let hard_line = section.line_of("GC_Hard_Threshold");
    section.finish();

    let mut section = Section::new(flash, &mut notes);
    let flash = array(&mut section, channel, suspend);
    section.finish();
    let line = device.map_or(root.line, |node| node.line);
    let lines = Thresholds { soft: line, hard: hard_line };
    (ftl.gc.threshold, ftl.gc.hard_threshold) =
        gc_blocks(shares, flash.blocks_per_plane, lines, &mut notes);
    warn_of_idle((host_section, device), interface.kind, ftl.gc.preemptible, &mut notes);
    notes.warn_of_defaults("tags that are missing take MQSim's own defaults");
    let config = DeviceConfig {
        name: name.to_owned(),
        source: format!("MQSim XML {file}"),
        power_loss_protection: false,
        link,
        interface,
        cache,
        ftl,
        scheduler,
        isolation: Isolation::by_name("unified").expect("registered"),
        flash,
        slc_cache: None,
        placement: flashlane_device::config::PlacementConfig::default(),
        errors: None,
        energy: EnergyConfig::default(),
        endurance: EnduranceConfig::default(),
        compat: CompatConfig::default(),
    };
    notes.finish().map(|warnings| (config, warnings))
}

fn link(host: &mut Section<'_, '_>) -> LinkConfig {
    host.skip("ResponseTime_Logging_Period_Length");
    if host.boolean(Tag::new("Enable_ResponseTime_Logging", "false")) {
        let line = host.line_of("Enable_ResponseTime_Logging");
        host.notes.warn(
            line,
            "<Enable_ResponseTime_Logging> has no effect here; --series-window with --out writes \
             response times over time to timeseries.parquet",
        );
    }
    let rate = host.number(Tag::new("PCIe_Lane_Bandwidth", "0.4"), 0.001..=1000.0_f64);
    LinkConfig {
        lanes: host.number(Tag::new("PCIe_Lane_Count", "4"), 1..=32),
        lane_bandwidth: Some(Bandwidth((rate * 1e9).round() as u64)),
        ..LinkConfig::default()
    }
}

/// Refuses choices that are not implemented, and skips tags that change nothing here.
fn refuse_unbuilt(device: &mut Section<'_, '_>) {
    // The seed of a run comes from the command line.
    device.skip("Seed");
    device.choice(Tag::new("Memory_Type", "FLASH"), &[("FLASH", Some(()))]);
    device.choice(Tag::new("Flash_Comm_Protocol", "NVDDR2"), &[("NVDDR2", Some(()))]);
}

fn interface(device: &mut Section<'_, '_>, adapter_time: Span) -> InterfaceConfig {
    let kind = device.choice(
        Tag::new("HostInterface_Type", "NVME"),
        &[("NVME", Some(InterfaceKind::Nvme)), ("SATA", Some(InterfaceKind::Sata))],
    );
    let depth: u64 = device.number(Tag::new("IO_Queue_Depth", "1024"), 2..=u64::MAX);
    let (most, whose) = match kind {
        InterfaceKind::Nvme => (65_536, "NVMe"),
        InterfaceKind::Sata => (u64::from(SataConfig::default().tags), "SATA"),
    };
    if depth > most {
        let line = device.line_of("IO_Queue_Depth");
        let message =
            format!("<IO_Queue_Depth> is {depth}; {most}, the most that {whose} allows, is taken");
        device.notes.warn(line, message);
    }
    let mut sata = SataConfig { adapter_time, ..SataConfig::default() };
    if kind == InterfaceKind::Sata {
        sata.tags = depth.min(most) as u32;
    }
    InterfaceConfig {
        kind,
        queue_depth: depth.min(65_536) as u32,
        queue_fetch_size: device.number(Tag::new("Queue_Fetch_Size", "512"), 1..=65_535),
        sata,
        ..InterfaceConfig::default()
    }
}

fn cache(device: &mut Section<'_, '_>) -> CacheConfig {
    let size = 1..=1_u64 << 44;
    let burst = Tag::new("Data_Cache_DRAM_Data_Busrt_Size", "4");
    let rate: u64 = device.number(Tag::new("Data_Cache_DRAM_Data_Rate", "800"), 1..=1_000_000);
    let mechanisms =
        [("ADVANCED", Some(CacheMechanism::Advanced)), ("SIMPLE", Some(CacheMechanism::Simple))];
    CacheConfig {
        mechanism: device.choice(Tag::new("Caching_Mechanism", "ADVANCED"), &mechanisms),
        sharing: sharing(device, "Data_Cache_Sharing_Mode"),
        capacity: ByteSize(
            device.number(Tag::new("Data_Cache_Capacity", "536870912"), size.clone()),
        ),
        write_back_pages_per_plane: 1,
        eager_write_back: true,
        hot_epoch: Span(1_000_000_000_000),
        dram: DramConfig {
            row: ByteSize(device.number(Tag::new("Data_Cache_DRAM_Row_Size", "8192"), size)),
            banks: DramConfig::default().banks,
            data_rate: TransferRate(rate * 1_000_000),
            bus_width: ByteSize(
                device.number(burst.also(&["Data_Cache_DRAM_Data_Burst_Size"]), 1..=4096),
            ),
            t_rcd: latency(device, Tag::new("Data_Cache_DRAM_tRCD", "13")),
            t_cl: latency(device, Tag::new("Data_Cache_DRAM_tCL", "13")),
            t_rp: latency(device, Tag::new("Data_Cache_DRAM_tRP", "13")),
        },
        ..CacheConfig::default()
    }
}

fn sharing(device: &mut Section<'_, '_>, tag: &'static str) -> Sharing {
    device.choice(
        Tag::new(tag, "SHARED"),
        &[
            ("SHARED", Some(Sharing::Shared)),
            ("EQUAL_PARTITIONING", Some(Sharing::EqualPartitioning)),
        ],
    )
}

fn scheduler(device: &mut Section<'_, '_>) -> Scheduling {
    let name = device.choice(
        Tag::new("Transaction_Scheduling_Policy", "OUT_OF_ORDER"),
        &[
            ("OUT_OF_ORDER", Some("out-of-order")),
            ("PRIORITY_OUT_OF_ORDER", Some("priority-out-of-order")),
            ("FLIN", Some("flin")),
        ],
    );
    Scheduling::by_name(name).expect("registered")
}

fn ftl(device: &mut Section<'_, '_>) -> FtlConfig {
    let spare = device.number(Tag::new("Overprovisioning_Ratio", "0.07"), 0.005..=0.9_f64);
    let cmt = Tag::new("CMT_Capacity", "2097152");
    FtlConfig {
        // MQSim writes 1 - logical/physical; here it is physical/logical - 1.
        over_provisioning: Ratio(1.0 / (1.0 - spare) - 1.0),
        mapping: MappingConfig {
            kind: device.choice(
                Tag::new("Address_Mapping", "PAGE_LEVEL"),
                &[("PAGE_LEVEL", Some(MappingKind::Page)), ("HYBRID", Some(MappingKind::Hybrid))],
            ),
            ideal: device.boolean(Tag::new("Ideal_Mapping_Table", "false")),
            cmt_capacity: ByteSize(device.number(cmt, 1..=1_u64 << 44)),
            sharing: sharing(device, "CMT_Sharing_Mode"),
            ..MappingConfig::default()
        },
        allocation: allocation(device),
        superblock: Superblock::Block,
        parity: false,
        separation: Separation::default(),
        unwritten_read: UnwrittenRead::Flash,
        unwritten_order: UnwrittenOrder::Rows,
        gc: GcConfig {
            victim: victim(device),
            preemptible: device.boolean(Tag::new("Preemptible_GC_Enabled", "true")),
            copyback: device.boolean(Tag::new("Use_Copyback_for_GC", "false")),
            ..GcConfig::default()
        },
        wear_leveling: wear(device),
        read_scrubbing: ScrubbingConfig::default(),
        precondition: PreconditionConfig {
            enabled: device.boolean(Tag::new("Enabled_Preconditioning", "true")),
            warm_cache: true,
            ..PreconditionConfig::default()
        },
    }
}

fn allocation(device: &mut Section<'_, '_>) -> Allocation {
    // Only static schemes have four letters; the dynamic one is not MQSim's.
    let schemes: Vec<(String, Option<&str>)> = Allocation::NAMES
        .iter()
        .filter(|name| name.len() == 4)
        .map(|&name| (name.to_ascii_uppercase(), Some(name)))
        .collect();
    let options: Vec<(&str, Option<&str>)> =
        schemes.iter().map(|(tag, name)| (tag.as_str(), *name)).collect();
    let name = device.choice(Tag::new("Plane_Allocation_Scheme", "CWDP"), &options);
    Allocation::by_name(name).expect("registered")
}

fn victim(device: &mut Section<'_, '_>) -> Victim {
    let name = device.choice(
        Tag::new("GC_Block_Selection_Policy", "RGA"),
        &[
            ("GREEDY", Some("greedy")),
            ("RGA", Some("rga")),
            ("RANDOM", Some("random")),
            ("RANDOM_P", Some("random-plus")),
            ("RANDOM_PP", Some("random-plus-plus")),
            ("FIFO", Some("fifo")),
        ],
    );
    Victim::by_name(name).expect("registered")
}

fn wear(device: &mut Section<'_, '_>) -> WearConfig {
    let dynamic = device.boolean(Tag::new("Dynamic_Wearleveling_Enabled", "true"));
    if !dynamic {
        let line = device.line_of("Dynamic_Wearleveling_Enabled");
        device.notes.warn(
            line,
            "<Dynamic_Wearleveling_Enabled> is false; MQSim ignores the tag and always levels, here \
             it counts",
        );
    }
    let level = device.boolean(Tag::new("Static_Wearleveling_Enabled", "true"));
    if !level {
        let line = device.line_of("Static_Wearleveling_Enabled");
        device.notes.warn(
            line,
            "<Static_Wearleveling_Enabled> is false; MQSim ignores the tag and always levels, here \
             it counts",
        );
    }
    let tag = Tag::new("Static_Wearleveling_Threshold", "100");
    let threshold = device.number_if(level, tag, 1..=1_000_000, 100);
    if level && threshold != 100 {
        let line = device.line_of(tag.name());
        let message = format!(
            "<Static_Wearleveling_Threshold> is {threshold}; MQSim ignores the tag and takes 100, \
             here it counts"
        );
        device.notes.warn(line, message);
    }
    WearConfig { dynamic, static_threshold: if level { threshold } else { 0 } }
}

/// A value for each of the two thresholds of collection.
#[derive(Clone, Copy)]
struct Thresholds<T> {
    soft: T,
    hard: T,
}

/// The thresholds as shares of the blocks of a plane.
fn gc_shares(device: &mut Section<'_, '_>) -> Thresholds<f64> {
    let soft = Tag::new("GC_Exec_Threshold", "0.05").also(&["GC_Exect_Threshold"]);
    Thresholds {
        soft: device.number(soft, 0.0..=0.99),
        hard: device.number(Tag::new("GC_Hard_Threshold", "0.005"), 0.0..=0.99),
    }
}

/// Warns of tags of the host's and the device's section that other tags make ineffective.
fn warn_of_idle(
    (host, device): (Option<&Node>, Option<&Node>),
    kind: InterfaceKind,
    preemptible: bool,
    notes: &mut Notes,
) {
    let mut warn = |section: Option<&Node>, name: &str, why: &str| {
        let tag = section.and_then(|node| node.children.iter().find(|child| child.name == name));
        if let Some(tag) = tag {
            notes.warn(tag.line, format!("<{name}> has no effect {why}"));
        }
    };
    if kind == InterfaceKind::Nvme {
        warn(host, "SATA_Processing_Delay", "with <HostInterface_Type> NVME");
    }
    if !preemptible {
        warn(device, "GC_Hard_Threshold", "without <Preemptible_GC_Enabled>");
    }
}

/// MQSim's thresholds in blocks: shares rounded down, with its floors. The hard threshold is raised
/// if collection would be left without room.
fn gc_blocks(
    shares: Thresholds<f64>,
    blocks_per_plane: u32,
    lines: Thresholds<usize>,
    notes: &mut Notes,
) -> (BlockShare, BlockShare) {
    let blocks = |share: f64| ((share * f64::from(blocks_per_plane)) as u32).max(1);
    let soft = blocks(shares.soft).max(GC_THRESHOLD_MIN_BLOCKS);
    if soft >= blocks_per_plane {
        notes.problem(
            lines.soft,
            format!(
                "<Block_No_Per_Plane> is {blocks_per_plane}, and garbage collection starts below \
                 {soft} free blocks; allowed: more than {soft} blocks"
            ),
        );
    }
    let hard_given = blocks(shares.hard);
    let hard = hard_given.max(GC_RESERVE_MIN_BLOCKS);
    if hard != hard_given {
        notes.warn(
            lines.hard,
            format!(
                "<GC_Hard_Threshold> means {hard_given} block of {blocks_per_plane}; raised to \
                 {hard}, the least with which collection can always proceed"
            ),
        );
    }
    let most = soft.saturating_sub(1).max(GC_RESERVE_MIN_BLOCKS);
    if hard > most {
        notes.warn(
            lines.hard,
            format!(
                "<GC_Hard_Threshold> means {hard} of {blocks_per_plane} blocks, and <GC_Exec_Threshold> \
                 {soft}; lowered to {most}, because here it is a reserve that only collection may use \
                 (in MQSim it is none)"
            ),
        );
    }
    (BlockShare::Blocks(soft), BlockShare::Blocks(hard.min(most)))
}
