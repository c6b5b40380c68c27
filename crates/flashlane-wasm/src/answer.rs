//! What a page hears.

use flashlane::Details;
use flashlane::metrics::Summary;
use flashlane::observe::{Blame, Slice, Timeline, Track};
use serde::Serialize;

/// The results of a scenario, or why there are none.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Answer {
    /// Why there are no results.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// summary.json. Wall times and memory, which differ from machine to machine, are 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub summary: Option<Summary>,
    /// What it shows, in sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<Sentences>,
    /// By flow: points of the distribution of response times. Units: microseconds, and the share of
    /// requests at or below.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub distributions: Vec<Vec<(f64, f64)>>,
    /// blame.json.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blame: Option<Blame>,
    /// What hosts, channels and dies did, from the start on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeline: Option<Lanes>,
}

/// What a run shows: the sentences at the top of its report.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Sentences {
    /// The flow that suffers; `None` if no flow does.
    pub sufferer: Option<String>,
    /// What happened.
    pub headline: String,
    /// Who caused it.
    pub cause: String,
    /// What would help.
    pub remedy: String,
}

impl Sentences {
    fn of(summary: &Summary, blame: Option<&Blame>) -> Self {
        let verdict = flashlane_verdict::of(summary, blame);
        let remedy = flashlane_verdict::remedy(summary, blame, verdict.sufferer.as_deref());
        let (headline, cause) = (verdict.headline, verdict.cause);
        Self { sufferer: verdict.sufferer, headline, cause, remedy }
    }
}

/// Lines of the timeline, and what lies on them.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Lanes {
    /// Name of each line, with those that it belongs to in front: `channel 0 / chip 1`.
    pub tracks: Vec<String>,
    /// Line, start, end, kind and flow. Unit of times: picoseconds.
    pub slices: Vec<(u32, u64, u64, &'static str, u16)>,
}

impl Lanes {
    fn of(timeline: &Timeline) -> Self {
        let name = |track: &Track| {
            let above = |track: &Track| Some(&timeline.tracks[track.parent? as usize]);
            let mut names = vec![track.name.as_str()];
            let mut at = above(track);
            while let Some(track) = at {
                names.push(&track.name);
                at = above(track);
            }
            names.reverse();
            names.join(" / ")
        };
        let slice = |s: &Slice| (s.track, s.start, s.end, s.name, s.flow);
        Self {
            tracks: timeline.tracks.iter().map(name).collect(),
            slices: timeline.slices.iter().map(slice).collect(),
        }
    }
}

impl Answer {
    pub(crate) fn failed(why: &str) -> Self {
        Self { error: Some(why.to_owned()), ..Self::default() }
    }

    pub(crate) fn of(summary: &Summary, details: Details) -> Self {
        Self {
            error: None,
            summary: Some(summary.without_clocks()),
            verdict: Some(Sentences::of(summary, details.blame.as_ref())),
            distributions: details.distributions,
            timeline: details.timeline.as_ref().map(Lanes::of),
            blame: details.blame,
        }
    }

    /// As JSON.
    #[must_use]
    pub fn json(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }
}
