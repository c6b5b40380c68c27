//! What reads beside neighbours wait for.

use flashlane_fit::curves::Fault;
use serde::Serialize;

use super::Point;

/// What a read of a run waits for, in the mean.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wait {
    /// The drive.
    pub drive: String,
    /// The neighbours.
    pub beside: String,
    /// The waits.
    pub waited_us: Fault,
}

impl Wait {
    /// Heads of the columns of [`Wait::times`].
    pub const HEADS: [&str; 3] = ["neighbours in the drive", "neighbours on the link", "the drive"];

    /// The cells of a table. Unit: microseconds.
    #[must_use]
    pub fn times(&self) -> [f64; 3] {
        let Fault { neighbours, link, drive } = self.waited_us;
        [neighbours, link, drive]
    }
}

/// The waits of all runs with neighbours, once each.
#[must_use]
pub fn waits(points: &[Point]) -> Vec<Wait> {
    let mut waits: Vec<Wait> = Vec::new();
    for point in points {
        let neighbours = point.figure.neighbours.filter(|neighbours| neighbours.jobs > 0);
        let Some((neighbours, waited_us)) = neighbours.zip(point.waited_us) else { continue };
        let wait = Wait { drive: point.drive.clone(), beside: neighbours.name(), waited_us };
        if !waits.contains(&wait) {
            waits.push(wait);
        }
    }
    waits
}
