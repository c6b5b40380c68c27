//! Placement of data by the host: bytes by handle, who pays for whose collection, and zones.

use flashlane::config::{HandleIsolation, PlacementMode, WorkloadConfig};
use flashlane::metrics::{FlowSummary, HandleSummary, PlacementSummary, Summary, ZonesSummary};
use flashlane_verdict::words::{number, percent, starred, time};
use serde::Serialize;

use crate::choices;
use crate::data::RunData;
use crate::side_by_side::{Figure, Row};

/// Most pairs of handles in the table of copies. The others share a row.
const PAIRS_MAX: usize = 20;
/// Most tenants that are named beside their handle.
const NAMES_MAX: usize = 3;

/// True if the host places data on the drive.
pub(crate) fn is_there(summary: &Summary) -> bool {
    summary.placement.is_some() || summary.zones.is_some()
}

/// The part of the page for a run.
#[derive(Debug, Default, Serialize)]
pub(crate) struct View {
    /// What the tables show, in a sentence or two.
    verdict: String,
    handle_heads: Vec<&'static str>,
    /// Empty if the drive has zones.
    handles: Vec<Row<String>>,
    /// About reclaim units.
    units: String,
    /// By whose data and whose writes: copies, and their share.
    copies: Vec<Row<String>>,
    /// Empty if the drive has none.
    zones: Vec<Row<String>>,
    /// Commands to zones by tenant.
    commands: Vec<Row<String>>,
}

/// The part of the page for a run; `None` if the host places nothing. `summary`: means, if the run
/// has several seeds.
pub(crate) fn view(run: &RunData, summary: &Summary) -> Option<View> {
    if let Some(zones) = &summary.zones {
        return Some(View {
            verdict: zones_verdict(zones, summary),
            zones: zone_rows(zones),
            commands: command_rows(summary),
            ..View::default()
        });
    }
    let placement = summary.placement.as_ref()?;
    let names = Names { placement, workload: choices::workload(run) };
    Some(View {
        verdict: names.verdict(),
        handle_heads: handle_heads(placement),
        handles: names.handle_rows(run),
        units: units(placement),
        copies: names.copy_rows(),
        ..View::default()
    })
}

fn mib(bytes: u64) -> String {
    number(bytes as f64 / f64::from(1 << 20))
}

/// Copies of the data of a handle.
fn copied(handle: &HandleSummary) -> u64 {
    handle.media_bytes.saturating_sub(handle.host_bytes)
}

fn has_groups(placement: &PlacementSummary) -> bool {
    placement.handles.iter().any(|handle| handle.group.is_some())
}

/// Columns of the table of handles after the name.
fn handle_heads(placement: &PlacementSummary) -> Vec<&'static str> {
    let group = has_groups(placement).then_some("group");
    let figures = [
        "host, MiB",
        "media, MiB",
        "amplification",
        "erased, MiB",
        "units filled",
        "left in open units, MiB",
    ];
    group.into_iter().chain(figures).collect()
}

/// Handles and their names.
struct Names<'a> {
    placement: &'a PlacementSummary,
    /// The tenants, if they are known.
    workload: Option<WorkloadConfig>,
}

impl Names<'_> {
    /// The handle, with the tenants that name it.
    fn of(&self, handle: &HandleSummary) -> String {
        let noun = match self.placement.mode {
            PlacementMode::Streams => "stream",
            _ if handle.group.is_some() => "identifier",
            _ => "handle",
        };
        let number = handle.handle;
        let tenants = self.tenants(number);
        match tenants.len() {
            0 => format!("{noun} {number}"),
            1..=NAMES_MAX => format!("{noun} {number} ({})", tenants.join(", ")),
            more => {
                let first = tenants[..NAMES_MAX].join(", ");
                format!("{noun} {number} ({first}, {} more)", more - NAMES_MAX)
            }
        }
    }

    /// Tenants that name a handle for all their writes, or for a part of them.
    fn tenants(&self, handle: u32) -> Vec<&str> {
        let is = |found: u16| u32::from(found) == handle;
        let flows = self.workload.iter().flat_map(|workload| &workload.flows);
        let named = flows.filter(|flow| {
            let source = flow.synthetic.as_ref();
            let parts = source.into_iter().flat_map(|one| &one.parts);
            let mut ids = parts.filter_map(|part| part.placement).chain(flow.placement);
            let fio = source.and_then(|one| one.fio.as_ref()?.placement.as_ref());
            ids.any(is) || fio.is_some_and(|fio| fio.ids.iter().any(|&id| is(id)))
        });
        named.map(|flow| flow.name.as_str()).collect()
    }

    /// What became of the data of all handles.
    fn verdict(&self) -> String {
        let all = self.placement;
        let copies = all.media_bytes.saturating_sub(all.host_bytes);
        if all.host_bytes == 0 {
            return "Hosts wrote no data to flash in the window.".to_owned();
        }
        let host = mib(all.host_bytes);
        if copies == 0 {
            return format!("Collection copied none of the {host} MiB that hosts wrote.");
        }
        let most = |of: fn(&HandleSummary) -> u64| {
            // The first one of several that are equal.
            let handle = all.handles.iter().rev().max_by_key(|handle| of(handle));
            handle.map(|handle| (self.of(handle), of(handle) as f64 / copies as f64))
        };
        let (Some((data, part)), Some((cause, caused))) =
            (most(copied), most(|handle| handle.caused_bytes))
        else {
            return String::new();
        };
        let amplification = number(all.media_bytes as f64 / all.host_bytes as f64);
        format!(
            "Collection copied {} MiB for {host} MiB that hosts wrote: amplification \
             {amplification}. Data of {data} makes up {} of the copies. Writes of {cause} made {} \
             of the copies necessary.",
            mib(copies),
            percent(part),
            percent(caused)
        )
    }

    /// A row for each handle with data, one for units that handles share, and one for all.
    fn handle_rows(&self, run: &RunData) -> Vec<Row<String>> {
        let all = self.placement;
        let groups = has_groups(all);
        let row = |name: String, group: Option<u32>, cells: [String; 6]| {
            let group = groups.then(|| group.map_or("–".to_owned(), |group| group.to_string()));
            Row { name, cells: group.into_iter().chain(cells).collect() }
        };
        let handle = |(at, one): (usize, &HandleSummary)| {
            let path = format!("placement.handles[{at}].write_amplification");
            let amplification = Figure::of(run, &path, one.write_amplification);
            let cells = [
                mib(one.host_bytes),
                mib(one.media_bytes),
                amplification.map_or("–".to_owned(), |figure| figure.text(number)),
                mib(one.erased_bytes),
                one.filled_units.to_string(),
                mib(one.remaining_bytes),
            ];
            row(self.of(one), one.group, cells)
        };
        // Handles that nobody wrote by have open units, too, which say nothing.
        let used = |one: &HandleSummary| one.media_bytes + one.erased_bytes > 0;
        let there = |(_, one): &(usize, &HandleSummary)| used(one);
        let mut rows: Vec<_> = all.handles.iter().enumerate().filter(there).map(handle).collect();
        let none = || "–".to_owned();
        if all.shared_erased_bytes > 0 {
            let erased = mib(all.shared_erased_bytes);
            let cells = [none(), none(), none(), erased, none(), none()];
            rows.push(row("units of several handles".to_owned(), None, cells));
        }
        let sum = |of: fn(&HandleSummary) -> u64| {
            all.handles.iter().filter(|one| used(one)).map(of).sum::<u64>()
        };
        let amplification = all.media_bytes as f64 / all.host_bytes as f64;
        let cells = [
            mib(all.host_bytes),
            mib(all.media_bytes),
            if all.host_bytes > 0 { number(amplification) } else { none() },
            mib(all.erased_bytes),
            sum(|handle| handle.filled_units).to_string(),
            mib(sum(|handle| handle.remaining_bytes)),
        ];
        rows.push(row("all".to_owned(), None, cells));
        rows
    }

    /// Copies by the handle of the data and the handle whose writes made them necessary, most
    /// first.
    fn copy_rows(&self) -> Vec<Row<String>> {
        let handles = &self.placement.handles;
        let mut pairs: Vec<(u64, &HandleSummary, &HandleSummary)> = Vec::new();
        for data in handles {
            let caused = data.copied_for_bytes.iter().zip(handles);
            let there = caused.filter(|(bytes, _)| **bytes > 0);
            pairs.extend(there.map(|(&bytes, cause)| (bytes, data, cause)));
        }
        let all: u64 = pairs.iter().map(|pair| pair.0).sum();
        pairs.sort_by_key(|pair| std::cmp::Reverse(pair.0));
        let share = |bytes: u64| percent(bytes as f64 / all as f64);
        let row = |&(bytes, data, cause): &(u64, &HandleSummary, &HandleSummary)| Row {
            name: self.of(data),
            cells: vec![self.of(cause), mib(bytes), share(bytes)],
        };
        let mut rows: Vec<_> = pairs.iter().take(PAIRS_MAX).map(row).collect();
        if let Some(others) = pairs.get(PAIRS_MAX..).filter(|others| !others.is_empty()) {
            let bytes = others.iter().map(|pair| pair.0).sum();
            let name = format!("{} other pairs", others.len());
            rows.push(Row { name, cells: vec!["–".to_owned(), mib(bytes), share(bytes)] });
        }
        rows
    }
}

/// What reclaim units are, and what the drive told of them.
fn units(placement: &PlacementSummary) -> String {
    let apart = match (placement.mode, placement.isolation) {
        (PlacementMode::Fdp, HandleIsolation::Persistently) => "each handle has units of its own",
        (PlacementMode::Streams, _) => "all streams share units",
        _ => "all handles share units",
    };
    let events = &placement.events;
    let size = mib(placement.reclaim_unit_bytes);
    format!(
        "A reclaim unit holds {size} MiB; for copies, {apart}. Events in the window: {} units were \
         full, {} were left because their time was over, and data was put elsewhere {} times.",
        events.moved, events.time_limit, events.reallocated
    )
}

fn zones_verdict(zones: &ZonesSummary, summary: &Summary) -> String {
    let left = match zones.left_bytes {
        0 => String::new(),
        bytes => format!(" Zones that were finished had {} MiB left.", mib(bytes)),
    };
    format!(
        "At most {} of {} zones were active at a time, and {} were reset: write amplification {}.\
         {left}",
        zones.active_max,
        zones.zones,
        zones.resets,
        number(summary.flash.write_amplification)
    )
}

fn zone_rows(zones: &ZonesSummary) -> Vec<Row<String>> {
    let rows = [
        ("zones", zones.zones.to_string()),
        ("data in a zone, MiB", mib(zones.capacity_bytes)),
        ("from zone to zone, MiB", mib(zones.size_bytes)),
        ("active zones, most", zones.active_max.to_string()),
        ("appends", zones.appends.to_string()),
        ("resets of zones with data", zones.resets.to_string()),
        ("finishes", zones.finishes.to_string()),
        ("left by finishes, MiB", mib(zones.left_bytes)),
    ];
    let row = |(name, cell): (&str, String)| Row { name: name.to_owned(), cells: vec![cell] };
    rows.into_iter().map(row).collect()
}

/// Commands that manage zones, for each tenant that has some.
fn command_rows(summary: &Summary) -> Vec<Row<String>> {
    let row = |flow: &FlowSummary| {
        let times = flow.zone_response_time_us.as_ref().filter(|times| times.count > 0)?;
        let shown = |us: f64| starred(time(us), flow.depends_on_length());
        let cells = vec![times.count.to_string(), shown(times.mean), shown(times.p99)];
        Some(Row { name: flow.name.clone(), cells })
    };
    summary.flows.iter().filter_map(row).collect()
}
