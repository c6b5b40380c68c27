//! The configuration of placement.

use flashlane_units::Span;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::interface::zones::{ZONE_HANDLES, ZonesConfig};

/// Placement of data by the host: writes name a placement handle, and the data of each handle goes
/// to reclaim units of its own. A reclaim unit is a superblock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct PlacementConfig {
    /// What the drive offers to hosts.
    pub mode: PlacementMode,
    /// Handles of the drive. Each has an open reclaim unit in each set of dies. With `streams`: the
    /// number of streams that may be open. Range: 1..=64. Default: 8.
    pub handles: u32,
    /// What collection does with the data of different handles, with `fdp`. Default: initially.
    pub isolation: HandleIsolation,
    /// Reclaim groups, with `fdp`: the sets of dies of `ftl.superblock` in this many groups of
    /// equal size. A placement identifier is then `group * handles + handle`, and the data of a
    /// group lies on its dies. `handles` times `groups` is 64 at most. Range: 1..=64. Default: 1.
    #[serde(skip_serializing_if = "is_one")]
    pub groups: u32,
    /// With `fdp`: each handle holds an open reclaim unit in each of its sets of dies at all times,
    /// also before its first write. Otherwise it takes one with the next write. Default: false.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub always_open: bool,
    /// With `fdp`: how long a reclaim unit may be open. With the next write of its handle after
    /// that time, the handle moves to another reclaim unit. Not with `--waf-only`. Default: no
    /// limit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unit_time: Option<Span>,
    /// The zones, with `zones`.
    #[serde(skip_serializing_if = "ZonesConfig::is_default")]
    pub zones: ZonesConfig,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_one(groups: &u32) -> bool {
    *groups == 1
}

impl Default for PlacementConfig {
    fn default() -> Self {
        Self {
            mode: PlacementMode::None,
            handles: 8,
            isolation: HandleIsolation::Initially,
            groups: 1,
            always_open: false,
            unit_time: None,
            zones: ZonesConfig::default(),
        }
    }
}

/// What a drive offers to hosts that know which of their data belongs together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum PlacementMode {
    /// Nothing: the key `placement` of a flow has no effect.
    #[default]
    None,
    /// Flexible data placement. A write without a handle goes to handle 0. Source: NVMe 2.1,
    /// TP4146.
    Fdp,
    /// The streams directive. A write names one of the streams 1 to `handles`; all writes without a
    /// stream share reclaim units as stream 0. Copies of all streams share reclaim units. Source:
    /// NVMe 1.3, directives.
    Streams,
    /// Zones: the space of each flow is cut into zones, which are written in order and emptied as a
    /// whole. The mapping has to be `ideal`: the table of a drive of zones is small. Source: NVMe
    /// Zoned Namespace Command Set 1.1.
    Zones,
}

/// Type of a reclaim unit handle. Source: NVMe 2.1, FDP configuration descriptor.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum HandleIsolation {
    /// Writes of different handles are apart. Collection puts the data of all handles together into
    /// reclaim units of its own.
    #[default]
    Initially,
    /// Copies stay apart as well: collection has a reclaim unit for each handle.
    Persistently,
}

impl PlacementConfig {
    /// True if hosts can place nothing.
    #[must_use]
    pub fn is_off(&self) -> bool {
        self.mode == PlacementMode::None
    }

    /// True with flexible data placement.
    #[must_use]
    pub fn is_fdp(&self) -> bool {
        self.mode == PlacementMode::Fdp
    }

    /// True for the default, of which configurations that are kept with results say nothing.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Identifiers that a write may name: all numbers below this.
    #[must_use]
    pub fn identifiers(&self) -> u32 {
        match self.mode {
            PlacementMode::None | PlacementMode::Zones => 0,
            PlacementMode::Fdp => self.handles * self.groups,
            PlacementMode::Streams => self.handles + 1,
        }
    }

    /// Handles by which the drive tells data apart: the identifiers, or those of zones.
    #[must_use]
    pub fn handles_of_drive(&self) -> u32 {
        match self.mode {
            PlacementMode::Zones => ZONE_HANDLES,
            _ => self.identifiers(),
        }
    }

    /// True if copies of different handles stay apart.
    #[must_use]
    pub fn is_persistent(&self) -> bool {
        self.is_fdp() && self.isolation == HandleIsolation::Persistently
    }

    /// Open reclaim units for data, of hosts and of collection, in each set of dies.
    #[must_use]
    pub fn frontiers(&self) -> u32 {
        // A reclaim unit that was open for too long, until no program of it is under way. Groups
        // always have room for one: a drive is used without time first, and must not fill more.
        let left = u32::from(self.unit_time.is_some() || self.groups > 1);
        let of_group = self.identifiers() / self.groups.max(1);
        match (self.mode, self.is_persistent()) {
            // A zone has its superblock whether it is open or not.
            (PlacementMode::Zones, _) => 1,
            (_, true) => 2 * of_group + left,
            (_, false) => of_group + 1 + left,
        }
    }
}
