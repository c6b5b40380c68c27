//! The public figures of the drives that presets stand for.

use flashlane::Error;

use crate::curves::{Figure, table};

/// The presets of real drives.
pub const DRIVES: &[&str] =
    &["zn540", "p4800x", "970-pro", "980-pro", "p4510", "p3700", "micron-9100"];

/// The figures of a drive, in the order of its table. The tables are in `figures/`.
///
/// # Errors
/// If there is no table of that name.
pub fn figures(drive: &str) -> Result<Vec<Figure>, Error> {
    let text = match drive {
        "zn540" => include_str!("../figures/zn540.csv"),
        "p4800x" => include_str!("../figures/p4800x.csv"),
        "970-pro" => include_str!("../figures/970-pro.csv"),
        "980-pro" => include_str!("../figures/980-pro.csv"),
        "p4510" => include_str!("../figures/p4510.csv"),
        "p3700" => include_str!("../figures/p3700.csv"),
        "micron-9100" => include_str!("../figures/micron-9100.csv"),
        _ => return Err(Error::config("drive", format!("there are no figures of `{drive}`"))),
    };
    table::parse(text, drive)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_drive_has_figures_with_sources() {
        for drive in DRIVES {
            let figures = figures(drive).expect("they are right");
            assert!(figures.len() >= 2 && figures.iter().all(|figure| !figure.source.is_empty()));
        }
        assert!(figures("fast18").is_err());
    }
}
