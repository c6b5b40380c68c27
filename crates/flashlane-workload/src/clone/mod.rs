//! Statistical clones of published traces: synthetic requests that match published and measured
//! statistics.
//!
//! A clone is not its trace. It has the read ratio, mean sizes and mean gaps of FLIN's Table 2. Its
//! shapes (bursts, runs, popularity) were measured on the few pieces of such traces that could be
//! had, or on a piece of a similar trace; [`CloneParams::summary`] says on which.
//!
//! * **Types**: a two-state Markov chain.
//! * **Gaps**: the mean of the arriving type times a renewal draw (or, inside a batch,
//!   microseconds) times a burst cascade. Table 2's inter-arrival time of reads is taken as the gap
//!   from the previous request of any type, averaged over reads: only then do its columns agree
//!   with each other.
//! * **Sizes**: a few modes, tilted to the published mean.
//! * **Addresses**: runs that continue one of the last 32 requests, and Zipf-popular extents, with
//!   separate sets for reads and writes.
//! * **Days**, where the parameters have one: the rates of reads and of writes follow the hour.
//!
//! Source: FLIN (ISCA 2018) Table 2; UPI's Table 2 for the clones with a day.

mod check;
mod day;
pub mod file;
mod fit;
mod gaps;
mod params;
mod popularity;
mod read;
mod shapes;
mod sizes;
mod space;
mod table;
mod table_upi;

use std::path::Path;

use flashlane_engine::{Rng, Time};

pub use self::check::check_sizes;
pub use self::check::validate_clone;
use self::day::Day;
pub use self::file::{CloneFile, CloneSide};
pub use self::fit::fit;
use self::gaps::{Cascade, Governor, Renewal};
pub use self::params::{CloneParams, Side};
pub use self::read::clone_file;
use self::sizes::SizeMix;
use self::space::{ALIGN_SECTORS, Addresses};
use super::footprint::Footprint;
use super::pace::{Clock, Gap, PassEnd};
use super::{Directive, Planned, RequestOp, RequestSource};
use crate::config::CloneConfig;
use flashlane_device::layout::FlowSpace;
use flashlane_reading::Error;

/// Shortest horizon for the correction of a type's mean gap. Unit: requests of the type.
const HORIZON_MIN: f64 = 2000.0;
/// Mean gap inside a batch; the pieces of MSR volumes have 4 to 7 us. Unit: picoseconds.
const BATCH_GAP_PS: f64 = 5e6;
/// Least squared variation of the renewal draws, if the cascade alone already has all of it.
const VARIATION_MIN: f64 = 0.05;

/// All parameter sets: those of FLIN's Table 2 in its order, then those of UPI's Table 2.
#[must_use]
pub fn list() -> &'static [CloneParams<'static>] {
    table::CLONES
}

/// The parameter set of a name. Case does not matter, and `-` equals `_`.
///
/// # Errors
///
/// Names that are not in the list.
pub fn find(name: &str) -> Result<&'static CloneParams<'static>, Error> {
    let plain = |text: &str| text.to_ascii_lowercase().replace('_', "-");
    let wanted = plain(name);
    if let Some(found) = list().iter().find(|params| params.name == wanted) {
        return Ok(found);
    }
    let nearest = list()
        .iter()
        .map(|params| (strsim::damerau_levenshtein(&wanted, params.name), params.name))
        .min()
        .filter(|&(distance, _)| distance <= 2)
        .map_or(String::new(), |(_, name)| format!("; did you mean \"{name}\"?"));
    let names: Vec<&str> = list().iter().map(|params| params.name).collect();
    let message = format!("no clone is called {name:?}{nearest} Known: {}", names.join(", "));
    Err(Error::config("clone.of", message))
}

/// True for the name of a parameter file, which ends in `.toml` or contains a folder. Other names
/// are those of built-in sets.
#[must_use]
pub fn is_file(of: &str) -> bool {
    of.to_ascii_lowercase().ends_with(".toml") || of.contains(['/', '\\'])
}

/// Changes parameters as the flow's configuration asks.
fn change<'a>(params: &mut CloneParams<'a>, config: &'a CloneConfig) -> Result<(), Error> {
    for side in [&mut params.read, &mut params.write] {
        if let Some(footprint) = config.footprint {
            let mib = (f64::from(side.footprint_mib) * footprint).round();
            side.footprint_mib = (mib as u32).max(1);
        }
        side.theta = config.theta.unwrap_or(side.theta);
    }
    let Some(sizes) = &config.read_sizes else { return Ok(()) };
    let largest = sizes.iter().fold(0.0_f64, |max, size| max.max(size.0));
    let smallest = sizes.iter().fold(largest, |min, size| min.min(size.0));
    let mean = params.read.mean_kib;
    if !(smallest..=largest).contains(&mean) {
        let message = format!(
            "found {smallest} to {largest} KiB, allowed: sizes around the mean of the clone, {mean} KiB"
        );
        return Err(Error::config("clone.read_sizes", message));
    }
    params.read.sizes = sizes;
    Ok(())
}

/// A different stream of random numbers, determined by the first.
fn diverged(rng: &mut Rng) -> Rng {
    Rng::stream(rng.next_u64(), "workload.past", 0)
}

/// The requests of a clone. Open loop.
#[derive(Clone, Debug)]
pub struct CloneSource {
    types: Types,
    gaps: Gaps,
    day: Option<Day>,
    /// Index by `is_read`.
    sizes: [SizeMix; 2],
    addresses: Addresses,
    end: PassEnd,
}

impl CloneSource {
    /// The clone that `config` names, in `space`. `seed` is the root seed of the run and `flow` the
    /// flow's index.
    ///
    /// # Errors
    /// An unknown name; a time scale that is not above 0; a time of the day for a clone that has
    /// none.
    pub fn new(
        config: &CloneConfig,
        space: &FlowSpace,
        seed: u64,
        flow: u64,
    ) -> Result<Self, Error> {
        let file;
        let mut params = if is_file(&config.of) {
            file = clone_file(Path::new(&config.of))?;
            file.params()
        } else {
            *find(&config.of)?
        };
        change(&mut params, config)?;
        if !(config.time_scale > 0.0 && config.time_scale.is_finite()) {
            let message = format!("{} is not a number above 0", config.time_scale);
            return Err(Error::config("clone.time_scale", message));
        }
        let end = PassEnd::new(config.requests, config.duration.map(|span| span.0));
        let stream = |part: &str| Rng::stream(seed, part, flow);
        let mut source = Self::of(&params, config.time_scale, end, space, &stream);
        match &mut source.day {
            Some(day) => {
                config.start.inspect(|&start| day.start_at(start));
                config.day.inspect(|&length| day.squeeze(length));
            }
            None if config.start.is_some() || config.day.is_some() => {
                let message =
                    "found a time of the day, but the rates of this clone do not follow the hour";
                return Err(Error::config("clone.start", message));
            }
            None => {}
        }
        Ok(source)
    }

    /// `requests` requests of a parameter set in a space that is large enough for all of its sets,
    /// for a trace file.
    #[must_use]
    pub fn alone(params: &CloneParams<'_>, requests: u64, time_scale: f64, seed: u64) -> Self {
        let mib = u64::from(params.read.footprint_mib) + u64::from(params.write.footprint_mib);
        // Room for the largest request, and for runs.
        let sectors = mib.max(64).next_multiple_of(1024) * 2048;
        let space = FlowSpace {
            sectors,
            pages: sectors.div_ceil(ALIGN_SECTORS),
            ..FlowSpace::empty(<[Vec<u32>; 4]>::default())
        };
        let stream = |part: &str| Rng::stream(seed, part, 0);
        Self::of(params, time_scale, PassEnd::new(Some(requests), None), &space, &stream)
    }

    fn of(
        params: &CloneParams<'_>,
        time_scale: f64,
        end: PassEnd,
        space: &FlowSpace,
        stream: &dyn Fn(&str) -> Rng,
    ) -> Self {
        let mix = |side: &Side<'_>, part| SizeMix::new(side.sizes, side.mean_kib, stream(part));
        Self {
            types: Types::new(params, stream("workload.clone.type")),
            gaps: Gaps::new(params, time_scale, stream("workload.clone.gap")),
            day: Day::new(params, time_scale),
            sizes: [
                mix(&params.write, "workload.clone.write_size"),
                mix(&params.read, "workload.clone.read_size"),
            ],
            addresses: Addresses::new(params, space, stream("workload.clone.address")),
            end,
        }
    }

    /// The next request, for a trace that is written to a file; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Config`] where it comes after the end of simulated time.
    pub fn generate(&mut self) -> Result<Option<Planned>, Error> {
        let planned = self.next(Time::ZERO)?;
        if planned.is_some_and(|planned| planned.arrival >= Time::END) {
            let message = format!(
                "request {} comes after the end of simulated time; allowed: a trace of up to 213 days \
                 (2^64 ps), so fewer requests or a smaller time scale",
                self.end.count_so_far()
            );
            return Err(Error::config("clone", message));
        }
        Ok(planned)
    }

    /// The part of the space that the requests touch; runs may leave it by a few requests.
    #[must_use]
    pub fn footprint(&self, sectors_per_page: u64) -> Footprint {
        self.addresses.footprint(sectors_per_page)
    }
}

/// Reads and writes as a two-state Markov chain.
#[derive(Clone, Debug)]
struct Types {
    rng: Rng,
    is_read: bool,
    /// Correlation of successive types.
    kappa: f64,
    /// Probability of a read after a write, and after a read.
    read_after: [f64; 2],
}

impl Types {
    fn new(params: &CloneParams<'_>, mut rng: Rng) -> Self {
        let is_read = rng.unit() < params.read_ratio;
        let mut types = Self { rng, is_read, kappa: params.kappa, read_after: [0.0; 2] };
        types.set(params.read_ratio);
        types
    }

    /// Changes the share of reads.
    fn set(&mut self, read_ratio: f64) {
        let (r, kappa) = (read_ratio, self.kappa);
        self.read_after = [r * (1.0 - kappa), r + kappa * (1.0 - r)];
    }

    fn next(&mut self) -> bool {
        self.is_read = self.rng.unit() < self.read_after[usize::from(self.is_read)];
        self.is_read
    }
}

/// Arrival times.
#[derive(Clone, Debug)]
struct Gaps {
    rng: Rng,
    clock: Clock,
    /// Share of gaps inside batches.
    batch: f64,
    /// Mean gap inside a batch, and mean of the other gaps. Unit: mean gaps of the type.
    batch_gap: [f64; 2],
    rest_gap: [f64; 2],
    renewal: Renewal,
    cascade: Cascade,
    /// Mean gap before a write, and before a read. Unit: picoseconds, scaled.
    mean_ps: [f64; 2],
    /// Present mean gap before a write, and before a read; it changes with the hour. Unit:
    /// picoseconds, scaled.
    now_ps: [f64; 2],
    governors: [Governor; 2],
}

impl Gaps {
    fn new(params: &CloneParams<'_>, time_scale: f64, mut rng: Rng) -> Self {
        let cascade = Cascade::new(params.bias, params.levels, params.leaf_log2, rng.next_u64());
        // The means of the types, the cascade and the renewal draws are independent factors, so
        // their mean squares multiply. The rest of the target goes to the renewal draws, which
        // share it with the nearly empty gaps inside batches.
        let square = (params.gap_cv * params.gap_cv + 1.0)
            / params.type_mean_square()
            / Cascade::mean_square(params.bias, params.levels)
            * (1.0 - params.batch);
        let horizon =
            |share: f64| Governor::new((8.0 * cascade.period() as f64 * share).max(HORIZON_MIN));
        let gap_ps = [params.write.gap_ms, params.read.gap_ms].map(|ms| ms * 1e9);
        let batch_gap = gap_ps.map(|mean| (BATCH_GAP_PS / mean).min(1.0));
        let governors = [horizon(1.0 - params.read_ratio), horizon(params.read_ratio)];
        Self {
            rng,
            clock: Clock::at(Time::ZERO),
            batch: params.batch,
            batch_gap,
            rest_gap: batch_gap.map(|gap| (1.0 - params.batch * gap) / (1.0 - params.batch)),
            renewal: Renewal::new((square - 1.0).max(VARIATION_MIN)),
            cascade,
            mean_ps: gap_ps.map(|ps| ps * time_scale),
            now_ps: gap_ps.map(|ps| ps * time_scale),
            governors,
        }
    }

    /// The next arrival; [`Time::MAX`] beyond the end of simulated time.
    fn next(&mut self, is_read: bool) -> Time {
        let side = usize::from(is_read);
        let gap = if self.rng.unit() < self.batch {
            self.batch_gap[side] * self.rng.exponential()
        } else {
            self.rest_gap[side] * self.renewal.draw(&mut self.rng)
        };
        let gap = self.cascade.next() * gap;
        let gap = self.governors[side].correct(gap);
        self.clock.advance(Gap::from_ps(gap * self.now_ps[side]))
    }

    /// Changes all mean gaps by a factor.
    fn set(&mut self, factor: f64) {
        self.now_ps = self.mean_ps.map(|ps| ps * factor);
    }
}

impl RequestSource for CloneSource {
    fn next(&mut self, _now: Time) -> Result<Option<Planned>, Error> {
        if self.end.is_exhausted() {
            return Ok(None);
        }
        if let Some(day) = &mut self.day
            && let Some(rates) = day.turn(self.gaps.clock.now())
        {
            self.types.set(rates.read_ratio);
            self.gaps.set(rates.gap);
        }
        let is_read = self.types.next();
        let arrival = self.gaps.next(is_read);
        if self.end.is_late(arrival) {
            return Ok(None);
        }
        self.end.count();
        let sectors = self.sizes[usize::from(is_read)].draw();
        let (sector, sectors) = self.addresses.draw(is_read, sectors);
        let op = if is_read { RequestOp::Read } else { RequestOp::Write };
        Ok(Some(Planned { arrival, op, sector, sectors, queue: 0, directive: Directive::NONE }))
    }

    fn restart(&mut self, now: Time) -> Result<(), Error> {
        self.end.restart(now);
        self.gaps.clock = Clock::at(now);
        if let Some(day) = &mut self.day {
            day.restart(now);
        }
        Ok(())
    }

    fn endless(&self) -> bool {
        self.end.never()
    }

    fn progress(&self, now: Time) -> f64 {
        self.end.share(now)
    }

    /// Gaps keep their draws, which do not affect addresses.
    fn diverge(&mut self, _back: u64) -> Result<(), Error> {
        self.types.rng = diverged(&mut self.types.rng);
        self.addresses.diverge();
        Ok(())
    }

    fn closed_loop(&self) -> Option<u32> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_that_is_nearly_right_is_suggested() {
        assert_eq!(find("PRXY_0").unwrap().name, "prxy-0");
        let message = find("wsrhc").unwrap_err().to_string();
        assert!(message.contains("did you mean \"wsrch\"?"), "{message}");
        assert!(message.contains("msncfs, msnfs"), "{message}");
        assert!(!find("nothing-like-it").unwrap_err().to_string().contains("did you mean"));
    }

    #[test]
    fn every_row_of_the_tables_is_there_once_and_says_that_it_is_synthetic() {
        assert_eq!(list().len(), 20 + 3);
        for (params, others) in list().iter().zip(1..).map(|(p, i)| (p, &list()[i..])) {
            assert!(others.iter().all(|other| other.name != params.name));
            assert!(params.summary.starts_with("synthetic"), "{}", params.name);
        }
    }
}
