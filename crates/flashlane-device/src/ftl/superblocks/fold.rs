//! The folded drive: each set of dies whose blocks form superblocks looks like one plane.

use std::borrow::Cow;
use std::collections::BTreeMap;

use flashlane_engine::Array;
use flashlane_units::{DieId, FlowId, PlaneId};

use super::Superblock;
use crate::ftl::config::FtlSettings;
use crate::layout::{FlowSpace, Geometry, Layout};

/// A drive of superblocks.
pub(in crate::ftl) struct Folded {
    /// The layout that the translation layer works with: a plane is a set of dies, a block is a
    /// superblock, and its pages are those that hold data.
    pub(in crate::ftl) layout: Layout,
    /// Planes of a set.
    pub(super) width: u32,
    /// Pages of a block of the flash.
    pub(super) pages_per_block: u32,
    /// Planes of a die.
    pub(super) planes_per_die: u32,
    /// The planes of each set in the order of its stripes, set by set.
    pub(super) planes: Vec<PlaneId>,
    /// The set of each plane.
    pub(super) set_of: Array<PlaneId, PlaneId>,
    /// True if each stripe has a page of parity.
    pub(super) parity: bool,
}

/// The folded drive; `None` in block mode. The error says why the planes form no sets of equal
/// size, and which values are allowed.
pub(in crate::ftl) fn fold(
    settings: FtlSettings<'_>,
    layout: &Layout,
) -> Result<Option<Folded>, String> {
    let config = settings.config;
    if config.superblock == Superblock::Block || settings.in_place || layout.flows.is_empty() {
        return Ok(None);
    }
    let geometry = layout.geometry;
    let sets = sets(config.superblock, &config.allocation, layout)?;
    let width = sets[0].len() as u32;
    check_sizes(config.superblock, &sets)?;
    if config.parity && width < 2 {
        return Err(format!(
            "found {} of one plane with ftl.parity, allowed: two planes or more, or no parity",
            config.superblock
        ));
    }
    let pages = u64::from(width) * u64::from(geometry.pages_per_block);
    let mut set_of: Array<PlaneId, PlaneId> =
        Array::of(PlaneId::new(0), geometry.planes() as usize);
    for (set, planes) in (0..).map(PlaneId::new).zip(&sets) {
        planes.iter().for_each(|&plane| set_of[plane] = set);
    }
    assert!(width > 0, "a set has planes");
    let all: usize = sets.iter().map(Vec::len).sum();
    assert!(all <= geometry.planes() as usize, "a plane belongs to one set");
    let data_width = width - u32::from(config.parity);
    let of_flow = |flow: &FlowSpace| {
        let mut own: Vec<u32> = flow.planes(geometry).map(|plane| set_of[plane].get()).collect();
        own.sort_unstable();
        own.dedup();
        FlowSpace { lists: [own, vec![0], vec![0], vec![0]], chips: None, ..flow.clone() }
    };
    let flows = layout.flows.iter().map(of_flow).collect();
    let folded = Geometry {
        channels: sets.len() as u32,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        pages_per_block: data_width * geometry.pages_per_block,
        ..geometry
    };
    assert!(pages <= u64::from(u32::MAX), "the pages of a drive have 32-bit numbers");
    Ok(Some(Folded {
        layout: Layout { geometry: folded, flows, ..layout.clone() },
        width,
        pages_per_block: geometry.pages_per_block,
        planes_per_die: geometry.planes_per_die,
        planes: sets.concat(),
        set_of,
        parity: config.parity,
    }))
}

/// The planes of each set, in the order of the stripes. Planes that different flows write to are in
/// different sets.
fn sets(
    superblock: Superblock,
    allocation: &crate::ftl::allocation::Allocation,
    layout: &Layout,
) -> Result<Vec<Vec<PlaneId>>, String> {
    let geometry = layout.geometry;
    let mut flows_of: Array<PlaneId, Vec<FlowId>> =
        Array::of(Vec::new(), geometry.planes() as usize);
    for (flow, space) in (0..).map(FlowId::new).zip(&layout.flows) {
        space.planes(geometry).for_each(|plane| flows_of[plane].push(flow));
    }
    // The planes of each group of flows, in the order of the first of these flows.
    let mut groups: BTreeMap<Vec<FlowId>, Vec<PlaneId>> = BTreeMap::new();
    for (flow, space) in (0..).map(FlowId::new).zip(&layout.flows) {
        for plane in allocation.order(geometry, space) {
            let group = groups.entry(flows_of[plane].clone()).or_default();
            // An order may visit a plane several times.
            if flows_of[plane].first() == Some(&flow) && !group.contains(&plane) {
                group.push(plane);
            }
        }
    }
    let mut sets = Vec::new();
    for planes in groups.into_values() {
        let Superblock::Dies(dies) = superblock else {
            sets.push(planes);
            continue;
        };
        let mut order: Vec<DieId> = Vec::new();
        for &plane in &planes {
            let die = geometry.die_of(plane);
            if !order.contains(&die) {
                order.push(die);
            }
        }
        if !(order.len() as u32).is_multiple_of(dies) {
            return Err(format!(
                "found {superblock}, and flows that write to {} dies, allowed: a divisor of that \
                 number",
                order.len()
            ));
        }
        sets.extend(order.chunks(dies as usize).map(|set| -> Vec<PlaneId> {
            planes.iter().copied().filter(|&plane| set.contains(&geometry.die_of(plane))).collect()
        }));
    }
    Ok(sets)
}

/// Refuses sets that differ in size.
fn check_sizes(superblock: Superblock, sets: &[Vec<PlaneId>]) -> Result<(), String> {
    let mut sizes: Vec<usize> = sets.iter().map(Vec::len).collect();
    sizes.sort_unstable();
    sizes.dedup();
    if sizes.len() == 1 {
        return Ok(());
    }
    let found: Vec<String> = sizes.iter().map(usize::to_string).collect();
    Err(format!(
        "found {superblock}, and flows whose sets have {} planes, allowed: sets of one size (a \
         number of dies that divides the share of each flow, as \"1 die\", or equal shares)",
        found.join(" or ")
    ))
}

/// The layout that the translation layer works with. In block mode it is the layout of the drive.
///
/// # Panics
/// If [`problem`] finds one.
pub fn folded<'a>(settings: FtlSettings<'_>, layout: &'a Layout) -> Cow<'a, Layout> {
    match fold(settings, layout) {
        Ok(None) => Cow::Borrowed(layout),
        Ok(Some(folded)) => Cow::Owned(folded.layout),
        Err(problem) => panic!("validation refuses superblocks that do not fit: {problem}"),
    }
}

/// Pages of a superblock that hold data; `None` in block mode, and where the planes of the drive
/// form no superblocks.
#[must_use]
pub fn data_pages(settings: FtlSettings<'_>, layout: &Layout) -> Option<u32> {
    fold(settings, layout).ok()?.map(|folded| folded.layout.geometry.pages_per_block)
}

/// Why the planes of the drive form no superblocks, if so.
#[must_use]
pub fn problem(settings: FtlSettings<'_>, layout: &Layout) -> Option<String> {
    fold(settings, layout).err()
}
