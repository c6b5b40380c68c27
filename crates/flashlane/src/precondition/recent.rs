//! The pages that a flow wrote last, drawn from its footprint.

use flashlane_engine::Rng;

use flashlane_workload::footprint::Footprint;

/// Draws pages that a flow touched last: hot ones first.
pub(super) struct Recent<'a> {
    footprint: &'a Footprint,
    pages: u64,
    sectors_per_page: u64,
    /// The touched pages, if they are known one by one.
    touched: Vec<u32>,
}

impl<'a> Recent<'a> {
    pub(super) fn new(footprint: &'a Footprint, pages: u64, sectors_per_page: u64) -> Self {
        let touched = match footprint {
            Footprint::Pages(set) => set.iter().map(|page| page as u32).collect(),
            _ => Vec::new(),
        };
        Self { footprint, pages, sectors_per_page, touched }
    }

    pub(super) fn draw(&self, rng: &mut Rng) -> u64 {
        let pages = self.pages;
        let within = |sectors: u64| sectors.div_ceil(self.sectors_per_page).clamp(1, pages);
        match self.footprint {
            Footprint::Whole => rng.below(pages),
            Footprint::Prefix { sectors } | Footprint::Streaming { sectors } => {
                rng.below(within(*sectors))
            }
            Footprint::HotCold { hot_sectors, total_sectors, hot_traffic } => {
                let hot = within(*hot_sectors);
                if rng.unit() < *hot_traffic {
                    rng.below(hot)
                } else {
                    (hot + rng.below(within(*total_sectors))).min(pages - 1)
                }
            }
            Footprint::Pages(_) if self.touched.is_empty() => rng.below(pages),
            Footprint::Pages(_) => {
                u64::from(self.touched[rng.below(self.touched.len() as u64) as usize])
            }
        }
    }
}
