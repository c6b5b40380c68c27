//! The parts of the device and their owners: geometry, and planes and logical space of each flow.

use flashlane_units::{ChannelId, ChipId, DieId, Handle, Lpa, PlaneId};

pub use flashlane_units::SECTOR_BYTES;

use crate::grain::Grain;

/// Sizes of the flash array, resolved to plain integers. A *page* is what the translation layer
/// maps: a page of the flash, or a smaller or larger mapping unit (`ftl.mapping.unit`). A page of
/// the flash is `units_per_page` smaller units in a row, and a larger unit is `pages_per_unit`
/// pages of the flash in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Geometry {
    /// Channels.
    pub channels: u32,
    /// Number of chips on each channel.
    pub chips_per_channel: u32,
    /// Number of dies in each chip.
    pub dies_per_chip: u32,
    /// Number of planes in each die.
    pub planes_per_die: u32,
    /// Number of blocks in each plane.
    pub blocks_per_plane: u32,
    /// Number of pages in each block.
    pub pages_per_block: u32,
    /// Sectors per page. Range: 1..=128.
    pub sectors_per_page: u32,
    /// Mapping units in a page of the flash. 1: the unit is the page, or is larger.
    pub units_per_page: u32,
    /// Pages of the flash that a plane programs at once: those of a word line with one-shot
    /// programming (`flash.programming`), otherwise 1.
    pub pages_per_program: u32,
    /// Pages of the flash in a mapping unit. 1: the unit is the page, or is smaller.
    pub pages_per_unit: u32,
}

impl Geometry {
    /// Mapping units that a plane programs at once. 1: every page, as it is mapped, by itself.
    #[must_use]
    pub fn units_per_program(&self) -> u32 {
        (self.units_per_page * self.pages_per_program / self.pages_per_unit).max(1)
    }

    /// Programs of the flash that write a mapping unit, where units are programmed by themselves:
    /// more than 1 for a unit of several pages that are programmed one by one.
    #[must_use]
    pub fn programs_per_unit(&self) -> u32 {
        (self.pages_per_unit / self.pages_per_program).max(1)
    }

    /// Pages of the flash whose data crosses the channel for a program of the translation layer:
    /// those of a unit or of a word line, whichever is larger.
    #[must_use]
    pub fn pages_moved_by_program(&self) -> u32 {
        self.pages_per_program.max(self.pages_per_unit)
    }

    /// What a bit of a mask of sectors stands for.
    #[must_use]
    pub fn grain(&self) -> Grain {
        Grain::of(self.sectors_per_page)
    }

    /// Chips of the device.
    #[must_use]
    pub fn chips(&self) -> u32 {
        self.channels * self.chips_per_channel
    }

    /// Dies of the device.
    #[must_use]
    pub fn dies(&self) -> u32 {
        self.chips() * self.dies_per_chip
    }

    /// Planes of the device.
    #[must_use]
    pub fn planes(&self) -> u32 {
        self.dies() * self.planes_per_die
    }

    /// Pages of a plane.
    #[must_use]
    pub fn pages_per_plane(&self) -> u64 {
        u64::from(self.blocks_per_plane) * u64::from(self.pages_per_block)
    }

    /// Pages of the device.
    #[must_use]
    pub fn pages(&self) -> u64 {
        u64::from(self.planes()) * self.pages_per_plane()
    }

    /// User bytes of a page.
    #[must_use]
    pub fn page_bytes(&self) -> u64 {
        u64::from(self.sectors_per_page) * SECTOR_BYTES
    }

    /// A chip of a channel, among all chips.
    #[must_use]
    pub fn chip(&self, channel: u32, chip: u32) -> ChipId {
        assert!(channel < self.channels, "channel {channel} is one of {}", self.channels);
        assert!(chip < self.chips_per_channel, "chip {chip} is one of its channel");
        ChipId::new(channel * self.chips_per_channel + chip)
    }

    /// The first plane of a chip.
    #[must_use]
    pub fn first_plane(&self, chip: ChipId) -> PlaneId {
        PlaneId::new(chip.get() * self.dies_per_chip * self.planes_per_die)
    }

    /// The planes of a chip.
    pub fn planes_of_chip(&self, chip: ChipId) -> impl Iterator<Item = PlaneId> + Clone + use<> {
        let (first, planes) = (self.first_plane(chip), self.dies_per_chip * self.planes_per_die);
        (0..planes).map(move |at| first.plus(at))
    }

    /// The dies of a chip.
    pub fn dies_of_chip(&self, chip: ChipId) -> impl Iterator<Item = DieId> + Clone + use<> {
        let dies = self.dies_per_chip;
        (chip.get() * dies..(chip.get() + 1) * dies).map(DieId::new)
    }

    /// The die of a plane.
    #[must_use]
    pub fn die_of(&self, plane: PlaneId) -> DieId {
        DieId::new(plane.get() / self.planes_per_die)
    }

    /// The chip of a die.
    #[must_use]
    pub fn chip_of_die(&self, die: DieId) -> ChipId {
        ChipId::new(die.get() / self.dies_per_chip)
    }

    /// The chip of a plane.
    #[must_use]
    pub fn chip_of(&self, plane: PlaneId) -> ChipId {
        self.chip_of_die(self.die_of(plane))
    }

    /// The channel of a chip.
    #[must_use]
    pub fn channel_of(&self, chip: ChipId) -> ChannelId {
        ChannelId::at((chip.get() / self.chips_per_channel) as usize)
    }

    /// The number of a chip on its channel.
    #[must_use]
    pub fn way_of(&self, chip: ChipId) -> u32 {
        chip.get() % self.chips_per_channel
    }

    /// Flat plane number, channel-major: channel, chip, die, plane.
    #[must_use]
    pub fn plane(&self, channel: u32, chip: u32, die: u32, plane: u32) -> PlaneId {
        assert!(die < self.dies_per_chip, "die {die} is one of its chip");
        assert!(plane < self.planes_per_die, "plane {plane} is one of its die");
        let number = ((channel * self.chips_per_channel + chip) * self.dies_per_chip + die)
            * self.planes_per_die
            + plane;
        PlaneId::new(number)
    }
}

/// The share of the device that one flow owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FlowSpace {
    /// Sorted resource lists: channels, chips, dies, planes.
    pub lists: [Vec<u32>; 4],
    /// The chips that hold the flow's data at the start, sorted: some of those that the lists name.
    /// `None` for all of them. The isolation policy decides.
    pub chips: Option<Vec<ChipId>>,
    /// First sector in the device-wide sector space, flows laid out one after the other.
    pub start_sector: u64,
    /// Size of the flow's logical space. Unit: sectors.
    pub sectors: u64,
    /// Size of the flow's logical space, rounded up. Unit: pages.
    pub pages: u64,
    /// First logical page in the device-wide logical page numbers.
    pub first_lpa: u64,
    /// Where the flow begins in the one stream of a SATA drive, with `compat.sata_one_stream`.
    pub in_stream: Option<StreamStart>,
    /// Sectors from the last page boundary of the device-wide space before the flow to the flow's
    /// first sector, with `compat.device_page_cuts`. Otherwise 0: requests are cut at the
    /// boundaries of the flow's own pages.
    pub page_phase: u32,
    /// With `compat.wrapped_requests`: the last sector that the flow uses. The rest of a request
    /// that reaches beyond it goes elsewhere in the flow. At least 1.
    pub wraps_after: Option<u64>,
    /// The placement handle of writes of the flow that name none.
    pub handle: Handle,
    /// Placement identifiers that a write may name: all numbers below this. 0 for a drive on which
    /// they have no effect, which takes any.
    pub identifiers: u32,
    /// The zones of the flow's space; `None` where it has none.
    pub zones: Option<ZoneGeometry>,
}

/// The zones of a drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZoneGeometry {
    /// From the start of a zone to that of the next. Unit: sectors.
    pub size: u64,
    /// Sectors of a zone that can be written.
    pub capacity: u64,
    /// Pages of a zone that can be written.
    pub pages: u32,
    /// From the start of a zone to that of the next. Unit: pages.
    pub size_pages: u32,
    /// Zones that each flow may write at a time: its equal share of those that may be open and
    /// active (`placement.zones`). Range: 1 and above.
    pub share: u32,
}

/// The start of a flow in the stream of a SATA drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamStart {
    /// The page of the drive that holds the flow's first sector.
    pub page: u32,
    /// The sectors of this page before the flow's.
    pub sectors: u32,
}

impl FlowSpace {
    /// A flow on the planes that these lists name, without pages so far.
    #[must_use]
    pub fn empty(lists: [Vec<u32>; 4]) -> Self {
        Self {
            lists,
            chips: None,
            start_sector: 0,
            sectors: 0,
            pages: 0,
            first_lpa: 0,
            in_stream: None,
            page_phase: 0,
            wraps_after: None,
            handle: Handle::default(),
            identifiers: 0,
            zones: None,
        }
    }

    /// Number of planes that the flow's pages are striped over.
    #[must_use]
    pub fn plane_count(&self) -> u32 {
        let [channels, chips, dies, planes] = self.lists.each_ref().map(|list| list.len() as u32);
        let chips = self.chips.as_ref().map_or(channels * chips, |set| set.len() as u32);
        chips * dies * planes
    }

    /// Sectors of the space that can hold data: those behind the capacity of a zone cannot. Unit:
    /// sectors.
    #[must_use]
    pub fn data_sectors(&self) -> u64 {
        self.zones.map_or(self.sectors, |zone| self.zone_count() * zone.capacity)
    }

    /// Zones of the space; 0 where it has none.
    #[must_use]
    pub fn zone_count(&self) -> u64 {
        self.zones.map_or(0, |zone| self.sectors / zone.size)
    }

    /// A page of the flow among all logical pages.
    #[inline]
    #[must_use]
    pub fn lpa(&self, page: u64) -> Lpa {
        let page = if self.zones.is_some() { self.without_holes(page) } else { page };
        debug_assert!(page <= self.pages, "page {page} is one of the flow's {}", self.pages);
        Lpa::new((self.first_lpa + page) as u32)
    }

    /// The number of a page among those that hold data, by its number in the flow's space. Pages
    /// behind the capacity of their zone hold none.
    #[cold]
    fn without_holes(&self, page: u64) -> u64 {
        self.zones.map_or(page, |zone| {
            let hole = u64::from(zone.size_pages - zone.pages);
            page - page / u64::from(zone.size_pages) * hole
        })
    }

    /// True if the flow's data lies on the chip at the start, where its lists name it.
    pub(crate) fn holds_chip(&self, chip: ChipId) -> bool {
        self.chips.as_ref().is_none_or(|set| set.binary_search(&chip).is_ok())
    }

    /// The flow's planes in channel-major order.
    pub fn planes(&self, geometry: Geometry) -> impl Iterator<Item = PlaneId> + '_ {
        let [channels, chips, dies, planes] = &self.lists;
        channels.iter().flat_map(move |&c| {
            let chips = chips.iter().filter(move |&&w| self.holds_chip(geometry.chip(c, w)));
            chips.flat_map(move |&w| {
                dies.iter()
                    .flat_map(move |&d| planes.iter().map(move |&p| geometry.plane(c, w, d, p)))
            })
        })
    }
}

/// Geometry and the division of the logical space among flows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The flash array.
    pub geometry: Geometry,
    /// One entry per flow.
    pub flows: Vec<FlowSpace>,
    /// Logical pages of all flows.
    pub logical_pages: u64,
    /// The zones of the drive; `None` where it has none.
    pub zones: Option<ZoneGeometry>,
}

impl Layout {
    /// True if the drive sees the commands of all flows as one stream: a SATA drive with
    /// `compat.sata_one_stream`.
    #[must_use]
    pub fn is_one_stream(&self) -> bool {
        self.flows.iter().any(|flow| flow.in_stream.is_some())
    }

    /// The zones of the drive, and their number in all spaces; `None` where it has none.
    #[must_use]
    pub fn zones_of_all(&self) -> Option<(ZoneGeometry, u64)> {
        self.zones.map(|zone| (zone, self.flows.iter().map(FlowSpace::zone_count).sum()))
    }
}
