//! `flashlane run --dry-run`.

use flashlane::Error;
use flashlane::config::bounds::{Bounds, Capacity};
use flashlane::config::load::Loaded;
use flashlane::config::{DeviceConfig, WorkloadConfig, validate};
use flashlane::layout::{Layout, SECTOR_BYTES};
use serde::Serialize;
use serde_json::json;

use crate::args::Format;
use crate::commands::run::scenario_name;
use crate::output::print_data;
use crate::table::bytes;

/// The document that is printed: valid TOML, with capacity and bounds as comments.
#[derive(Serialize)]
struct Resolved<'a> {
    device: &'a DeviceConfig,
    workload: &'a WorkloadConfig,
}

/// Prints the resolved configuration, capacity, over-provisioning and peak bounds of each scenario.
pub(crate) fn dry_run(
    device: &DeviceConfig,
    workloads: &[Loaded<WorkloadConfig>],
    format: Format,
) -> Result<(), Error> {
    let mut text = String::new();
    for (index, workload) in workloads.iter().enumerate() {
        let workload = &workload.config;
        validate::check_traces(device, workload)?;
        let layout = workload.layout(device);
        let (capacity, bounds) = (Capacity::new(&layout), Bounds::new(device));
        let resolved = Resolved { device, workload };
        if format == Format::Json {
            let value = json!({
                "device": device, "workload": workload, "capacity": capacity, "bounds": bounds,
            });
            text.push_str(&format!("{value}\n"));
            continue;
        }
        if let Some(name) = scenario_name(index, workloads.len()) {
            text.push_str(&format!("# {name}\n"));
        }
        text.push_str(&describe(&capacity, &bounds));
        text.push_str(&describe_flows(workload, &layout));
        text.push_str(&toml::to_string(&resolved).map_err(|error| {
            Error::Output(format!("resolved configuration cannot be written as TOML: {error}"))
        })?);
    }
    print_data(&text)
}

fn describe(capacity: &Capacity, bounds: &Bounds) -> String {
    let rate = |bytes_per_s: f64| {
        let iops = bytes_per_s / bounds.page_bytes as f64;
        format!("{:>10.1} MB/s {iops:>12.0} IOPS", bytes_per_s / 1e6)
    };
    format!(
        "# capacity: physical {}, logical {}, {} pages on {} planes\n\
        # over-provisioning: {:.2} % of the logical capacity ((physical - logical) / logical),\n\
        #   {:.2} % of the physical capacity (1 - logical / physical, as MQSim's files mean it)\n\
        # peak bounds, requests of one page ({}):\n\
        #   link, each direction {}\n\
        #   bus, read or write   {}\n\
        #   array, read          {}\n\
        #   array, write         {}\n",
        bytes(capacity.physical_bytes),
        bytes(capacity.logical_bytes),
        capacity.pages,
        capacity.planes,
        capacity.over_provisioning * 100.0,
        capacity.spare_share * 100.0,
        bytes(bounds.page_bytes),
        rate(bounds.link_bytes_per_s),
        rate(bounds.bus_bytes_per_s),
        rate(bounds.array_read_bytes_per_s),
        rate(bounds.array_write_bytes_per_s),
    )
}

fn describe_flows(workload: &WorkloadConfig, layout: &Layout) -> String {
    let flows = workload.flows.iter().zip(&layout.flows);
    flows
        .map(|(flow, space)| {
            format!(
                "# flow {}: {} on {} planes\n",
                flow.name,
                bytes(space.sectors * SECTOR_BYTES),
                space.plane_count()
            )
        })
        .collect()
}
