//! Builds the page.

use flashlane::{Error, visible};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::Serde;
use minijinja::{AutoEscape, Environment, Value, context, escape_formatter};

use crate::data::{RunData, island};
use crate::view;

const TEMPLATE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const CHARTS: &str = concat!(include_str!("chart_tools.js"), include_str!("charts.js"));
const WHAT_IF: &str = concat!(include_str!("simulator.js"), include_str!("what_if.js"));
const CHART_LIBRARY: &str = include_str!("../vendor/uPlot/uPlot.iife.min.js");
const CHART_STYLE: &str = include_str!("../vendor/uPlot/uPlot.min.css");

/// The page of one run, or of several side by side. `module`: the simulator for browsers, packed
/// with gzip and written in base64; the page then runs the scenario again with other settings.
///
/// # Errors
/// [`Error::Output`] for numbers that JSON cannot represent, and for statistics over seeds that do
/// not fit their summary.
///
/// # Panics
/// Without a run.
pub fn render(runs: &[RunData], module: Option<&str>) -> Result<String, Error> {
    assert!(!runs.is_empty(), "a page is about a run");
    let failed = |error: &dyn std::fmt::Display| Error::Output(format!("report: {error}"));
    let module = module.filter(|_| runs.iter().all(RunData::runs_again));
    let view = view::page(runs, module.is_some()).map_err(|error| failed(&error))?;
    let page = context! {
        module,
        what_if => module.map(|_| slim(WHAT_IF)),
        style => STYLE,
        chart_style => CHART_STYLE,
        chart_library => CHART_LIBRARY,
        charts => slim(CHARTS),
        data => island(runs).map_err(|error| failed(&error))?,
        view => Value::from(Serde(view)),
    };
    filled(TEMPLATE, page).map_err(|error| failed(&error))
}

/// A script of ours without indentation and lines of comment, which would make every page larger.
fn slim(script: &str) -> String {
    let lines = script.lines().map(str::trim_start);
    let kept: Vec<&str> =
        lines.filter(|line| !line.is_empty() && !line.starts_with("//")).collect();
    kept.join("\n")
}

/// A page with charts. `data`: the numbers of the charts as JSON.
pub(crate) fn fill(
    template: &str,
    charts: &str,
    view: impl serde::Serialize,
    data: &str,
) -> Result<String, minijinja::Error> {
    let page = context! {
        style => STYLE,
        chart_style => CHART_STYLE,
        chart_library => CHART_LIBRARY,
        charts,
        data,
        view => Value::from(Serde(view)),
    };
    filled(template, page)
}

/// Fills a template.
fn filled(template: &str, page: Value) -> Result<String, minijinja::Error> {
    let mut environment = Environment::new();
    environment.set_auto_escape_callback(|_| AutoEscape::Html);
    // Names of users may contain HTML, which is shown as text, and control characters, which are
    // written out.
    environment.set_formatter(|out, state, value| match value.as_str() {
        Some(text) if !value.is_safe() => escape_formatter(out, state, &Value::from(visible(text))),
        _ => escape_formatter(out, state, value),
    });
    let syntax = SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build();
    environment.set_syntax(syntax.expect("the delimiters are the usual ones"));
    environment.add_template("page", template).expect("the template is constant and tested");
    environment.get_template("page").expect("it was added above").render(page)
}
