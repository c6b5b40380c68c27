//! Which data pages share a write frontier: the separation of hot and cold data.
//!
//! Pages that are written together become invalid together if they are written at similar rates.
//! A policy says how many frontiers the data of a plane has, and which of them a page of the host
//! goes to:
//!
//! - *One* ([`Frontiers::One`]): the host's writes and the pages that collection copies share a
//!   frontier, so that hot and cold pages are mixed again by every collection.
//! - *Two* ([`Frontiers::Two`]): copies have a frontier of their own. Copied pages are colder than
//!   those that the host writes, so this separates without any knowledge of pages.
//! - *Three* ([`Frontiers::Three`]): a [`SeparationPolicy`] tells hot pages of the host from cold
//!   ones, and each kind has its frontier. Copies have the third.
//!
//! Each way is a set of [`Stream`]s, and a block keeps the stream that it was opened for. Copies
//! find their frontier by [`Stream::moved`], so they need no policy.
//!
//! Invariants: blocks hold only the streams of the policy. The host takes a page of the shared
//! frontier only if that leaves collection the free blocks of its reserve
//! ([`Blocks::shared_has_room`](super::blocks::Blocks::shared_has_room)).
//!
//! Source: Van Houdt, "On the necessity of hot and cold data identification to reduce the write
//! amplification in flash-based SSDs", Performance Evaluation 82, 2014: SWF is one frontier, DWF
//! two. Its HCWF tells hot pages from cold ones as three frontiers do, but has no frontier for
//! copies: they go to those of hot and of cold pages.

mod conformance;
mod counts;
mod none;
#[cfg(test)]
mod tests;
mod two_frontiers;

use std::ops::Range;

use flashlane_units::{FlowId, Lpa, PlaneId, Ppa};

use super::Ftl;
use super::blocks::Stream;
use crate::layout::Layout;

pub use conformance::RULES;
pub use counts::{CountsConfig, HALVE_AFTER, HOT};
pub use none::NoSeparationConfig;
pub use two_frontiers::TwoFrontiersConfig;

flashlane_units::policies! {
    /// Which data pages share a write frontier.
    pub enum Separation at "ftl.separation" open to SeparationConfig {
        "none" => None(NoSeparationConfig),
        "two-frontiers" => TwoFrontiers(TwoFrontiersConfig),
        "counts" => Counts(CountsConfig),
    }
}

/// The write frontiers for data that a flow has on each plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Frontiers {
    /// One for everything.
    One,
    /// One for the host's writes, and one for copies of collection.
    Two,
    /// One for hot and one for cold writes of the host, and one for copies of collection.
    Three,
}

impl Frontiers {
    /// The streams of the frontiers.
    #[must_use]
    pub fn streams(self) -> &'static [Stream] {
        match self {
            Self::One => &[Stream::SHARED],
            Self::Two => &[Stream::HOST, Stream::GC],
            Self::Three => &[Stream::HOST, Stream::GC, Stream::HOT],
        }
    }

    /// Number of frontiers.
    #[must_use]
    pub fn count(self) -> u32 {
        self.streams().len() as u32
    }

    /// The stream of pages of the host of which nothing is known.
    #[must_use]
    pub fn host(self) -> Stream {
        self.streams()[0]
    }
}

/// Configuration of a separation policy from outside.
pub trait SeparationConfig: Send + Sync {
    /// The frontiers of each flow and plane.
    fn frontiers(&self) -> Frontiers;

    /// The policy that tells hot pages from cold ones. Called only with three frontiers. `spaces`:
    /// the logical pages that share frontiers: those of each flow, or with superblocks those of
    /// all flows.
    fn build(&self, spaces: &[Range<u32>]) -> Option<Box<dyn SeparationPolicy>> {
        let _ = spaces;
        None
    }
}

/// A policy that tells hot pages of the host from cold ones.
pub trait SeparationPolicy: Send + dyn_clone::DynClone {
    /// True if the page, which the host is about to write, goes to the hot frontier. A write that
    /// finds no room asks again later.
    fn is_hot(&self, lpa: Lpa) -> bool;

    /// The host wrote the page: it has its place.
    fn written(&mut self, lpa: Lpa);

    /// Checks the policy's own state, with `--check`.
    fn audit(&self) {}
}

dyn_clone::clone_trait_object!(SeparationPolicy);

impl Separation {
    /// The frontiers of each flow and plane.
    #[must_use]
    pub fn frontiers(&self) -> Frontiers {
        match self {
            Self::None(_) => Frontiers::One,
            Self::TwoFrontiers(_) => Frontiers::Two,
            Self::Counts(_) => Frontiers::Three,
            Self::Outside(policy) => policy.config().frontiers(),
        }
    }

    /// True for the default, of which configurations that are kept with results say nothing.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// The policy of three frontiers.
    pub(crate) fn build(&self, spaces: &[Range<u32>]) -> Option<Box<dyn SeparationPolicy>> {
        match self {
            Self::None(_) | Self::TwoFrontiers(_) => None,
            Self::Counts(config) => Some(Box::new(counts::Counts::new(config, spaces))),
            Self::Outside(policy) => policy.config().build(spaces),
        }
    }
}

impl Default for Separation {
    fn default() -> Self {
        Self::TwoFrontiers(TwoFrontiersConfig::default())
    }
}

/// Pages of the host by the frontier that they went to, since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SeparationCounts {
    /// Pages that went to hot frontiers.
    pub hot: u64,
    /// Pages that went to others.
    pub cold: u64,
}

impl SeparationCounts {
    /// The pages since an earlier reading of the same drive.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self { hot: self.hot - before.hot, cold: self.cold - before.cold }
    }
}

/// Separation in a run, where it is not the default.
#[derive(Clone)]
pub(super) struct Separator {
    frontiers: Frontiers,
    /// With three frontiers.
    policy: Option<Box<dyn SeparationPolicy>>,
    counts: SeparationCounts,
}

impl Separator {
    /// `None` for two frontiers: the stage then does what it does without a policy.
    /// `shared_frontiers`: all flows share them, as with superblocks.
    pub(super) fn new(
        config: &Separation,
        layout: &Layout,
        shared_frontiers: bool,
    ) -> Option<Self> {
        let frontiers = config.frontiers();
        if frontiers == Frontiers::Two {
            return None;
        }
        let space = |first: u64, pages: u64| first as u32..(first + pages) as u32;
        let of_flows = || layout.flows.iter().map(|flow| space(flow.first_lpa, flow.pages));
        let spaces: Vec<Range<u32>> = match shared_frontiers {
            true => vec![space(0, layout.logical_pages)],
            false => of_flows().collect(),
        };
        let policy = (frontiers == Frontiers::Three)
            .then(|| config.build(&spaces).expect("three frontiers have a policy"));
        Some(Self { frontiers, policy, counts: SeparationCounts::default() })
    }

    /// The stream of a page that the host is about to write.
    fn stream_of(&self, lpa: Lpa) -> Stream {
        let hot = self.policy.as_ref().is_some_and(|policy| policy.is_hot(lpa));
        if hot { Stream::HOT } else { self.frontiers.host() }
    }

    /// A page of the host has its place.
    fn placed(&mut self, lpa: Lpa, stream: Stream) {
        match stream {
            Stream::HOT => self.counts.hot += 1,
            _ => self.counts.cold += 1,
        }
        if let Some(policy) = &mut self.policy {
            policy.written(lpa);
        }
    }
}

impl Ftl {
    /// Allocates a page for a write, where the frontiers are not the usual two. `None` where the
    /// write has to wait for a free block.
    #[cold]
    #[inline(never)]
    pub(super) fn allocate_apart(
        &mut self,
        plane: PlaneId,
        flow: FlowId,
        (lpa, stream): (Lpa, Stream),
    ) -> Option<Ppa> {
        if stream != Stream::HOST {
            // A translation page.
            return self.blocks.allocate(plane, flow, stream, false);
        }
        let separator = self.separation.as_mut().expect("asked only where it is on");
        let stream = separator.stream_of(lpa);
        if stream == Stream::SHARED && !self.blocks.shared_has_room(plane, flow) {
            return None;
        }
        let ppa = self.blocks.allocate(plane, flow, stream, false)?;
        separator.placed(lpa, stream);
        Some(ppa)
    }

    /// Pages of the host by frontier; `None` where no policy tells hot pages from cold ones.
    pub(super) fn separation_counts(&self) -> Option<SeparationCounts> {
        let separator = self.separation.as_ref()?;
        separator.policy.as_ref().map(|_| separator.counts)
    }

    /// Checks that blocks hold only the streams of the policy, and the policy's own state.
    pub(super) fn audit_separation(&self) {
        let Some(separator) = &self.separation else {
            let others = |stream| matches!(stream, Stream::HOT | Stream::SHARED);
            let found = self.blocks.numbers().find(|&b| others(self.blocks.block(b).stream));
            assert_eq!(found, None, "a block of two frontiers is of the host or of collection");
            return;
        };
        let allowed = separator.frontiers.streams();
        for block in self.blocks.numbers().filter(|&block| self.blocks.is_used(block)) {
            let stream = self.blocks.block(block).stream;
            let fits = !stream.is_data() || allowed.contains(&stream);
            assert!(fits, "block {block} is of a frontier of the policy, not of {stream:?}");
        }
        if let Some(policy) = &separator.policy {
            policy.audit();
        }
    }
}
