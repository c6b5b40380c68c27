//! Measured figures of drives, with their sources. The tables are in `facts/`.

use flashlane::Error;
use flashlane_fit::curves::{Figure, Lasted, table};
use serde::{Deserialize, Serialize};

/// What a figure is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// Write amplification by the drive's own counter.
    Waf,
    /// Sustained rate of the host's writes by pattern.
    WriteRate,
    /// Latency of reads and writes beside a rate of writes.
    Latency,
    /// Reads by number of outstanding requests.
    Depth,
    /// Reads by size.
    Size,
    /// The phases of a fill of a drive as new.
    Cliff,
    /// Reads beside other jobs of the same host.
    Neighbour,
}

impl Kind {
    /// All kinds, in the order of tables.
    pub const ALL: [Self; 7] = [
        Self::Waf,
        Self::WriteRate,
        Self::Latency,
        Self::Depth,
        Self::Size,
        Self::Cliff,
        Self::Neighbour,
    ];

    /// The name in tables and on the command line.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Waf => "waf",
            Self::WriteRate => "write-rate",
            Self::Latency => "latency",
            Self::Depth => "depth",
            Self::Size => "size",
            Self::Cliff => "cliff",
            Self::Neighbour => "neighbour",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn by_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }
}

/// A measured figure of a drive.
#[derive(Clone, Debug)]
pub struct Fact {
    /// The preset that stands for the drive.
    pub drive: String,
    /// What it is about.
    pub kind: Kind,
    /// The figure.
    pub figure: Figure,
}

/// The shipped tables: a drive, and figures of it.
const TABLES: &[(&str, &str)] = &[
    ("micron-7450-max", include_str!("../../facts/micron-7450-max.csv")),
    ("solidigm-p5520", include_str!("../../facts/solidigm-p5520.csv")),
    ("samsung-pm9a3", include_str!("../../facts/samsung-pm9a3.csv")),
    ("kioxia-cm7-r", include_str!("../../facts/kioxia-cm7-r.csv")),
    ("980-pro-filled", include_str!("../../facts/980-pro-filled.csv")),
    ("980-pro-filled", include_str!("../../facts/980-pro-filled-neighbours.csv")),
    ("msi-m480-play", include_str!("../../facts/msi-m480-play.csv")),
    ("adata-atom-50", include_str!("../../facts/adata-atom-50.csv")),
    ("team-mp44s", include_str!("../../facts/team-mp44s.csv")),
    ("hp-fx700", include_str!("../../facts/hp-fx700.csv")),
];

/// What drives do beside their figures.
const DRIVES: &str = include_str!("../../facts/drives.csv");

/// The drives whose figures ship, in the order of the report.
#[must_use]
pub fn drives() -> Vec<&'static str> {
    let mut names: Vec<_> = TABLES.iter().map(|(name, _)| *name).collect();
    names.dedup();
    names
}

/// The shipped figures of a drive; `None` if there are none.
#[must_use]
pub fn shipped(drive: &str) -> Option<Vec<Fact>> {
    let tables = TABLES.iter().filter(|(name, _)| *name == drive);
    let facts: Vec<_> = tables
        .flat_map(|(name, text)| {
            parse(text, &format!("facts/{name}.csv")).expect("the shipped tables are tested")
        })
        .collect();
    (!facts.is_empty()).then_some(facts)
}

/// Reads a table of figures: the columns of `fit`, and `drive` and `kind`.
///
/// # Errors
/// Those of [`table::parse`], and kinds that do not exist.
pub fn parse(text: &str, file: &str) -> Result<Vec<Fact>, Error> {
    let named = table::parse_named(text, file, &["drive", "kind"])?;
    let fact = |(figure, cells): (Figure, Vec<String>)| {
        let [drive, kind] = &cells[..] else { unreachable!("two columns were asked for") };
        let kind = Kind::by_name(kind).ok_or_else(|| {
            let allowed: Vec<_> = Kind::ALL.iter().map(|kind| kind.name()).collect();
            Error::config(file, format!("kind: found {kind}, allowed: {}", allowed.join(", ")))
        })?;
        let copy = traits(drive).map_or(1.0, |traits| traits.copy);
        let lasted = figure.lasted.map(|lasted| Lasted { copy, ..lasted });
        Ok(Fact { drive: drive.clone(), kind, figure: Figure { lasted, ..figure } })
    };
    named.into_iter().map(fact).collect()
}

/// What a drive does beside its figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Traits {
    /// Rate of sequential writes. Unit: megabytes per second.
    pub sequential: f64,
    /// Amplification of sequential writes by the drive's counter: its parity and its tables.
    pub overhead: f64,
    /// How many writes of the host a copy costs.
    pub copy: f64,
}

/// The traits of a drive; `None` for drives that are not in the table.
#[must_use]
pub fn traits(drive: &str) -> Option<Traits> {
    let line = DRIVES.lines().find_map(|line| line.strip_prefix(drive)?.strip_prefix(','))?;
    let mut numbers = line.split(',').map_while(|cell| cell.parse().ok());
    let (sequential, overhead) = (numbers.next()?, numbers.next()?);
    Some(Traits { sequential, overhead, copy: numbers.next()? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use flashlane::config::preset::Preset;
    use flashlane_fit::curves::Role;

    #[test]
    fn every_drive_is_a_preset_and_has_sources() {
        for drive in drives() {
            assert!(Preset::by_name(drive).is_some(), "{drive}");
            let facts = shipped(drive).expect("it ships");
            assert!(facts.iter().all(|fact| fact.drive == drive), "{drive}");
            assert!(facts.iter().all(|fact| !fact.figure.source.is_empty()), "{drive}");
            let predicted = facts.iter().filter(|fact| fact.figure.role == Role::Predicted);
            // The phases of a fill are fitted, and its average is held back.
            let phases = facts.iter().filter(|fact| fact.figure.phase.is_some()).count();
            let least = if phases > 0 { 1 } else { facts.len() / 2 + 1 };
            assert!(predicted.count() >= least, "{drive}: some are held back");
        }
        assert!(shipped("tiny").is_none());
    }

    #[test]
    fn traits_are_those_of_the_table() {
        let known = Traits { sequential: 1456.0, overhead: 1.022, copy: 1.45 };
        assert_eq!((traits("micron-7450-max"), traits("tiny")), (Some(known), None));
        let rates = drives().into_iter().filter(|drive| {
            let facts = shipped(drive).expect("it ships");
            facts.iter().any(|fact| fact.kind == Kind::WriteRate)
        });
        rates.for_each(|drive| assert!(traits(drive).is_some(), "{drive}"));
    }

    #[test]
    fn unknown_kinds_are_refused() {
        let text = "drive,kind,op,pattern,size,metric,value\ntiny,speed,write,random,4KiB,waf,2\n";
        let error = parse(text, "x.csv").expect_err("no kind").to_string();
        assert!(error.contains("found speed, allowed: waf, write-rate"), "{error}");
    }
}
