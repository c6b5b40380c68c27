//! Blame as a flow diagram: bands from the tenants that cause waits to those that wait.

use flashlane::observe::Blame;
use flashlane::observe::blame::DEVICE;
use serde::Serialize;

use flashlane_verdict::words::{percent, time};

/// Size of the picture, and of the margins for names.
const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 300.0;
const NAMES: f64 = 150.0;
/// Space between two bars, and the width of a bar.
const GAP: f64 = 10.0;
const BAR: f64 = 12.0;
/// Most tenants that a picture can show.
const TENANTS_MAX: usize = 12;

/// A picture.
#[derive(Debug, Serialize)]
pub(crate) struct Diagram {
    width: f64,
    height: f64,
    bars: Vec<Bar>,
    bands: Vec<Band>,
    description: String,
}

/// A tenant: on the left as a culprit, on the right as a victim.
#[derive(Debug, Serialize)]
struct Bar {
    name: String,
    colour: Option<usize>,
    x: f64,
    y: f64,
    width: f64,
    height: f64,
    /// Position and alignment of its name.
    label_x: f64,
    anchor: &'static str,
}

/// Waits of one tenant because of another.
#[derive(Debug, Serialize)]
struct Band {
    path: String,
    colour: Option<usize>,
    title: String,
}

/// The diagram; `None` if no tenant waits or too many do. The width of a band is its share of the
/// victim's wait per request, so that a tenant with many requests hides no other.
pub(crate) fn of(blame: &Blame) -> Option<Diagram> {
    let flows = blame.flows.len();
    if !(2..=TENANTS_MAX).contains(&flows) {
        return None;
    }
    let colour = |name: &str| blame.flows.iter().position(|flow| flow == name).map(|i| i % 8);
    let names: Vec<&str> = blame.flows.iter().map(String::as_str).chain([DEVICE]).collect();
    // Waiting per request: victims by culprits. Unit: microseconds.
    let waits = |victim: usize, culprit: &str| {
        let row = &blame.victims[victim];
        let cells = row.cells.iter().filter(|cell| cell.culprit == culprit);
        cells.map(|cell| cell.ps as f64).sum::<f64>() / 1e6 / (row.requests as f64).max(1.0)
    };
    let all: f64 =
        (0..flows).flat_map(|v| names.iter().map(move |&n| (v, n))).map(|(v, n)| waits(v, n)).sum();
    if all <= 0.0 {
        return None;
    }
    let room = HEIGHT - GAP * names.len() as f64;
    let scale = room / all;
    let heights =
        names.iter().map(|&name| (0..flows).map(|victim| waits(victim, name)).sum::<f64>() * scale);
    let (mut bars, mut left) = culprits(&names, heights, colour);
    let mut bands = Vec::new();
    let mut y = GAP / 2.0;
    for (victim, flow) in blame.flows.iter().enumerate() {
        let begun = y;
        for (culprit, &name) in names.iter().enumerate() {
            let us = waits(victim, name);
            let height = us * scale;
            if height > 0.05 {
                bands.push(Band {
                    path: ribbon(Heights { left: left[culprit], right: y }, height),
                    colour: colour(name),
                    title: format!(
                        "{flow} waits {} a request for {}: {} of all waiting",
                        time(us),
                        if name == flow { "itself" } else { name },
                        percent(us / all)
                    ),
                });
            }
            left[culprit] += height;
            y += height;
        }
        if y > begun {
            let x = WIDTH - NAMES - BAR;
            bars.push(Bar::new(flow, colour(flow), (x, begun, y - begun), "start"));
        }
        y += GAP;
    }
    let description = bands.iter().map(|band| band.title.as_str()).collect::<Vec<_>>().join("; ");
    Some(Diagram { width: WIDTH, height: HEIGHT, bars, bands, description })
}

/// The bars on the left, with the positions where the bands of each begin.
fn culprits(
    names: &[&str],
    heights: impl Iterator<Item = f64>,
    colour: impl Fn(&str) -> Option<usize>,
) -> (Vec<Bar>, Vec<f64>) {
    let (mut bars, mut left, mut y) = (Vec::new(), Vec::new(), GAP / 2.0);
    for (&name, height) in names.iter().zip(heights) {
        left.push(y);
        if height > 0.05 {
            let shown = if name == DEVICE { "the drive" } else { name };
            bars.push(Bar::new(shown, colour(name), (NAMES, y, height), "end"));
        }
        y += height + GAP;
    }
    (bars, left)
}

impl Bar {
    fn new(
        name: &str,
        colour: Option<usize>,
        place: (f64, f64, f64),
        anchor: &'static str,
    ) -> Self {
        let (x, y, height) = place;
        let label_x = if anchor == "end" { x - 6.0 } else { x + BAR + 6.0 };
        let [x, y, height] = [x, y, height].map(rounded);
        Self { name: name.to_owned(), colour, x, y, width: BAR, height, label_x, anchor }
    }
}

fn rounded(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// The heights at which a band starts at the left bars and ends at the right bars.
#[derive(Clone, Copy)]
struct Heights {
    left: f64,
    right: f64,
}

/// The outline of a band from the bars on the left to those on the right. `height`: its width.
fn ribbon(heights: Heights, height: f64) -> String {
    let Heights { left: from, right: to } = heights;
    let (x, end) = (NAMES + BAR, WIDTH - NAMES - BAR);
    let middle = f64::midpoint(x, end);
    let [from, to, under, below] = [from, to, to + height, from + height].map(rounded);
    format!(
        "M{x} {from}C{middle} {from} {middle} {to} {end} {to}V{under}C{middle} {under} {middle} {below} {x} {below}Z"
    )
}

#[cfg(test)]
mod tests {
    use flashlane::observe::{BlameCell, BlameVictim};

    use super::*;

    fn blame(cells: &[(&str, &str, u128)]) -> Blame {
        let flows: Vec<String> = vec!["a".to_owned(), "b".to_owned()];
        let victim = |flow: &String| BlameVictim {
            flow: flow.clone(),
            requests: 10,
            cells: cells
                .iter()
                .filter(|cell| cell.0 == flow)
                .map(|&(_, culprit, ps)| BlameCell {
                    culprit: culprit.to_owned(),
                    cause: "read".to_owned(),
                    ps,
                })
                .collect(),
            ..BlameVictim::default()
        };
        let victims = flows.iter().map(victim).collect();
        Blame { flows, victims, ..Blame::default() }
    }

    #[test]
    fn bands_are_as_wide_as_the_waiting() {
        let found = of(&blame(&[("a", "b", 30_000_000), ("a", DEVICE, 10_000_000)]));
        let found = found.expect("somebody waits");
        assert_eq!(found.bands.len(), 2);
        let height = |name: &str, x: f64| {
            let bar =
                found.bars.iter().find(|bar| bar.name == name && (bar.x < 300.0) == (x < 300.0));
            bar.expect("a bar").height
        };
        assert!((height("b", 0.0) / height("the drive", 0.0) - 3.0).abs() < 0.01);
        assert!((height("a", 600.0) - 270.0).abs() < 0.2, "all of it, less the gaps");
        assert!(found.description.starts_with("a waits 3.00 µs a request for b"));
    }

    #[test]
    fn nobody_waits() {
        assert!(of(&blame(&[])).is_none());
    }
}
