//! The page of a search: the answer, the objectives against each other, the best settings, and what
//! could not run.

use flashlane::{Error, visible_json};
use serde::{Deserialize, Serialize};

use crate::page;

const TEMPLATE: &str = include_str!("search.html");
const CHART: &str = concat!(include_str!("chart_tools.js"), include_str!("search.js"));

/// What the page of a search shows. Numbers in tables are text already.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SearchPage {
    /// The answer.
    pub said: String,
    /// How many configurations ran, and how fast.
    pub ran: String,
    /// The constraints; empty where there are none.
    pub constraints: String,
    /// The best settings.
    pub best: SearchTable,
    /// Configurations that could not run, with the reasons.
    pub refused: SearchTable,
    /// The objectives.
    pub chart: SearchChart,
}

/// A table.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SearchTable {
    /// The heads of the columns.
    pub heads: Vec<String>,
    /// The rows, each with a cell for each head.
    pub rows: Vec<Vec<String>>,
}

/// Two objectives against each other, or one objective over the evaluations.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SearchChart {
    /// What goes from left to right.
    pub x: String,
    /// What goes upwards.
    pub y: String,
    /// True if a line joins the best points.
    pub joined: bool,
    /// The configurations that ran and keep the constraints.
    pub points: Vec<SearchPoint>,
}

/// A configuration in the chart.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SearchPoint {
    /// The place from left to right, in the unit of that objective.
    pub x: f64,
    /// The place upwards, in the unit of that objective.
    pub y: f64,
    /// True if no other configuration is better in all objectives.
    pub best: bool,
    /// The settings, for the reader.
    pub what: String,
}

/// The page.
///
/// # Errors
/// [`Error::Output`] for numbers that JSON cannot represent.
pub fn render_search(view: &SearchPage) -> Result<String, Error> {
    let failed = |error: &dyn std::fmt::Display| Error::Output(format!("search: {error}"));
    let mut chart = view.chart.clone();
    chart.points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let data = serde_json::to_string(&chart).map_err(|error| failed(&error))?;
    // The text cannot end the element that contains it.
    let data = visible_json(&data.replace('<', "\\u003c")).into_owned();
    page::fill(TEMPLATE, CHART, view, &data).map_err(|error| failed(&error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_in_order_and_text_of_users_stays_text() {
        let point = |x: f64, best: bool| SearchPoint { x, y: 2.0, best, what: "</script>".into() };
        let table = |cell: &str| SearchTable {
            heads: vec!["scheduler".into()],
            rows: vec![vec![cell.into()]],
        };
        let view = SearchPage {
            said: "p99 of 3 <us>".into(),
            ran: "two ran".into(),
            constraints: String::new(),
            best: table("flin"),
            refused: SearchTable { heads: Vec::new(), rows: Vec::new() },
            chart: SearchChart {
                x: "p99".into(),
                y: "waf".into(),
                joined: true,
                points: vec![point(7.0, false), point(3.0, true)],
            },
        };
        let page = render_search(&view).expect("a page");
        assert!(page.contains("3 &lt;us&gt;") && page.contains("uPlot") && page.contains(">flin<"));
        assert!(page.find(r#""x":3.0"#) < page.find(r#""x":7.0"#), "from left to right");
        assert!(!page.contains("\"</script>"), "settings cannot end the element");
        assert!(!page.contains("What could not run"));
        let refused = SearchPage { refused: table("found 0"), ..view };
        let page = render_search(&refused).expect("a page");
        assert!(page.contains("What could not run") && page.contains("found 0"));
    }
}
