//! Units that trace files use for time and space.

use std::fmt;

/// Unit of the time column of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TimeUnit {
    /// `s`
    Seconds,
    /// `ms`
    Milliseconds,
    /// `us`
    Microseconds,
    /// `ns`
    Nanoseconds,
    /// `ps`
    Picoseconds,
    /// `filetime`: 100 ns, as Windows counts from 1601-01-01.
    Filetime,
}

impl TimeUnit {
    /// All units, longest first.
    pub const ALL: [TimeUnit; 6] = [
        TimeUnit::Seconds,
        TimeUnit::Milliseconds,
        TimeUnit::Microseconds,
        TimeUnit::Filetime,
        TimeUnit::Nanoseconds,
        TimeUnit::Picoseconds,
    ];

    /// The unit that `name` stands for: `s`, `ms`, `us`, `ns`, `ps` or `filetime`.
    #[must_use]
    pub fn by_name(name: &str) -> Option<TimeUnit> {
        TimeUnit::ALL.into_iter().find(|unit| unit.name() == name)
    }

    /// Name of the unit as [`TimeUnit::by_name`] takes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            TimeUnit::Seconds => "s",
            TimeUnit::Milliseconds => "ms",
            TimeUnit::Microseconds => "us",
            TimeUnit::Nanoseconds => "ns",
            TimeUnit::Picoseconds => "ps",
            TimeUnit::Filetime => "filetime",
        }
    }

    /// Length of one unit. Unit: picoseconds. Always a power of ten.
    #[must_use]
    pub fn picoseconds(self) -> u64 {
        match self {
            TimeUnit::Seconds => 1_000_000_000_000,
            TimeUnit::Milliseconds => 1_000_000_000,
            TimeUnit::Microseconds => 1_000_000,
            TimeUnit::Filetime => 100_000,
            TimeUnit::Nanoseconds => 1_000,
            TimeUnit::Picoseconds => 1,
        }
    }

    /// Number of decimal digits after the point that a clock of picoseconds can hold in this unit.
    pub(crate) fn fraction_digits(self) -> u32 {
        match self {
            TimeUnit::Seconds => 12,
            TimeUnit::Milliseconds => 9,
            TimeUnit::Microseconds => 6,
            TimeUnit::Filetime => 5,
            TimeUnit::Nanoseconds => 3,
            TimeUnit::Picoseconds => 0,
        }
    }
}

impl fmt::Display for TimeUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Unit of the offset or length column of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SpaceUnit {
    /// `B`
    Bytes,
    /// `KiB`: 1,024 bytes.
    Kibibytes,
    /// `sector`: 512 bytes.
    Sectors,
    /// `4KiB`: blocks of 4,096 bytes.
    Blocks,
}

impl SpaceUnit {
    /// All units.
    pub const ALL: [SpaceUnit; 4] =
        [SpaceUnit::Bytes, SpaceUnit::Kibibytes, SpaceUnit::Sectors, SpaceUnit::Blocks];

    /// The unit that `name` stands for: `B`, `KiB`, `sector` or `4KiB`.
    #[must_use]
    pub fn by_name(name: &str) -> Option<SpaceUnit> {
        SpaceUnit::ALL.into_iter().find(|unit| unit.name() == name)
    }

    /// Name of the unit as [`SpaceUnit::by_name`] takes it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            SpaceUnit::Bytes => "B",
            SpaceUnit::Kibibytes => "KiB",
            SpaceUnit::Sectors => "sector",
            SpaceUnit::Blocks => "4KiB",
        }
    }

    /// Length of one unit. Unit: bytes.
    #[must_use]
    pub fn bytes(self) -> u64 {
        match self {
            SpaceUnit::Bytes => 1,
            SpaceUnit::Kibibytes => 1024,
            SpaceUnit::Sectors => 512,
            SpaceUnit::Blocks => 4096,
        }
    }
}

impl fmt::Display for SpaceUnit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A time on the clock of a trace file. It is shown in the unit of the file, so that a user can
/// search for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamp {
    /// Time on the clock of the file, before rebasing. Unit: picoseconds.
    pub ps: u128,
    /// Unit that the file uses.
    pub unit: TimeUnit,
}

impl fmt::Display for Stamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let unit_ps = u128::from(self.unit.picoseconds());
        let (whole, rest) = (self.ps / unit_ps, self.ps % unit_ps);
        if rest == 0 {
            return write!(f, "{whole} {}", self.unit);
        }
        let width = self.unit.fraction_digits() as usize;
        let digits = format!("{rest:0width$}");
        write!(f, "{whole}.{} {}", digits.trim_end_matches('0'), self.unit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_to_their_unit() {
        for unit in TimeUnit::ALL {
            assert_eq!(TimeUnit::by_name(unit.name()), Some(unit));
        }
        for unit in SpaceUnit::ALL {
            assert_eq!(SpaceUnit::by_name(unit.name()), Some(unit));
        }
        assert_eq!(TimeUnit::by_name("minutes"), None);
        assert_eq!(SpaceUnit::by_name("b"), None);
    }

    #[test]
    fn stamps_show_the_unit_of_the_file() {
        let stamp = |ps, unit| Stamp { ps, unit }.to_string();
        assert_eq!(stamp(938_513_000_000, TimeUnit::Nanoseconds), "938513000 ns");
        assert_eq!(stamp(221_000_000, TimeUnit::Milliseconds), "0.221 ms");
        assert_eq!(stamp(100_000, TimeUnit::Filetime), "1 filetime");
        assert_eq!(stamp(7, TimeUnit::Picoseconds), "7 ps");
    }
}
