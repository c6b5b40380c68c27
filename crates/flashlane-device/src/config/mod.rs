//! The configuration of a drive: link, host interface, cache, translation layer, scheduler, flash.

mod division;
mod energy;
#[cfg(test)]
pub(crate) mod sample;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::cache::config::{
    Admission, CacheConfig, CacheMechanism, CacheMode, DramConfig, PauseConfig,
};
pub use crate::compat::CompatConfig;
pub use crate::flash::config::{
    ChannelClass, CommandBus, FlashConfig, SmallReadConfig, SuspendConfig, Technology,
};
pub use crate::flash::page_types::{PageOrder, Programming};
use crate::ftl::config::FtlSettings;
pub use crate::ftl::config::{
    FtlConfig, GcConfig, MappingConfig, MappingKind, Pacing, Placement, PreconditionConfig,
    ScrubbingConfig, UnwrittenOrder, UnwrittenRead, WearConfig,
};
use crate::ftl::errors::ErrorSettings;
pub use crate::ftl::errors::config::{AgeConfig, Coefficients, ErrorModel, ErrorsConfig};
pub use crate::ftl::placement::{HandleIsolation, PlacementConfig, PlacementMode};
use crate::ftl::slc_cache::SlcSettings;
pub use crate::ftl::slc_cache::config::SlcCacheConfig;
pub use crate::ftl::superblocks::Superblock;
pub use crate::interface::config::{
    CostModel, InterfaceConfig, InterfaceKind, Priority, SataConfig,
};
pub use crate::interface::processors::ProcessorsConfig;
pub use crate::interface::zones::{FinishKind, ZonesConfig};
use crate::isolation::Isolation;
use crate::layout::Geometry;
pub use crate::link::config::LinkConfig;
use crate::scheduler::Scheduling;
pub use division::TenantShape;
pub use energy::{EnduranceConfig, EnergyConfig};
use flashlane_units::ByteSize;
pub use flashlane_units::{PolicyDoc, PolicyInfo, Sharing};

/// A simulated drive.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct DeviceConfig {
    /// Name in reports.
    pub name: String,
    /// Source of the figures, for people.
    #[serde(default)]
    pub source: String,
    /// True if the controller's memory survives a loss of power: the data cache, and mapping units
    /// that wait for others of their page or word line. A flush then has no effect and is complete
    /// at once. Writes past the data cache still end on flash. Source: NVMe, Flush command, which
    /// asks that a volatile write cache be made non-volatile.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub power_loss_protection: bool,
    /// The link between host and device.
    #[serde(default)]
    pub link: LinkConfig,
    /// The NVMe front end.
    #[serde(default)]
    pub interface: InterfaceConfig,
    /// The DRAM data cache.
    #[serde(default)]
    pub cache: CacheConfig,
    /// The flash translation layer.
    #[serde(default)]
    pub ftl: FtlConfig,
    /// Policy that chooses the transaction that the flash serves next.
    #[serde(default = "default_scheduler")]
    pub scheduler: Scheduling,
    /// Policy that decides which flow may write to which chips.
    #[serde(default = "default_isolation")]
    pub isolation: Isolation,
    /// The flash memory.
    pub flash: FlashConfig,
    /// Blocks in SLC mode that take the host's writes first. Without this section there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slc_cache: Option<SlcCacheConfig>,
    /// Placement of data by the host: flexible data placement (FDP) or streams.
    #[serde(default, skip_serializing_if = "PlacementConfig::is_default")]
    pub placement: PlacementConfig,
    /// Bit errors of the flash and their correction. Without this section there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<ErrorsConfig>,
    /// Power of the parts of the drive, for `--energy`.
    #[serde(default)]
    pub energy: EnergyConfig,
    /// Rated life of the flash, for `--energy`.
    #[serde(default)]
    pub endurance: EnduranceConfig,
    /// Switches to the released MQSim's arithmetic. All off by default.
    #[serde(default)]
    pub compat: CompatConfig,
}

impl DeviceConfig {
    /// The geometry of the drive, in mapping units.
    #[must_use]
    pub fn geometry(&self) -> Geometry {
        Geometry::new(&self.flash).in_units(self.unit())
    }

    /// The mapping unit: the page of the flash, unless `ftl.mapping.unit` names another size.
    #[must_use]
    pub fn unit(&self) -> ByteSize {
        self.ftl.mapping.unit.unwrap_or(self.flash.page_size)
    }

    /// Pages of a block in SLC mode: one for each word line.
    #[must_use]
    pub fn slc_pages(&self) -> u32 {
        self.flash.pages_per_block / self.flash.technology.page_types() as u32
    }

    /// The parts of the configuration that the translation layer is built from.
    pub fn ftl_settings(&self) -> FtlSettings<'_> {
        FtlSettings {
            config: &self.ftl,
            compat: &self.compat,
            in_place: self.flash.technology == Technology::InPlace,
            sets_move: self.isolation.moves(),
            errors: self.errors.as_ref().map(|errors| ErrorSettings { errors, flash: &self.flash }),
            slc_cache: self
                .slc_cache
                .as_ref()
                .map(|cache| SlcSettings::new(cache, self.geometry(), self.slc_pages())),
            placement: &self.placement,
        }
    }
}

/// The scheduling policy of a drive whose file names none.
#[must_use]
pub fn default_scheduler() -> Scheduling {
    Scheduling::by_name("out-of-order").expect("registered")
}

fn default_isolation() -> Isolation {
    Isolation::by_name("unified").expect("registered")
}
