//! What was measured, against what is promised.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::chart;
use crate::stats::{Series, Summary};

/// The bare `docker run` that every ratio is taken against.
pub(crate) const BARE: &str = "docker run";

/// Everything that was measured.
#[derive(Debug)]
pub(crate) struct Report {
    image: String,
    /// In the order of their measurement.
    series: Vec<(String, Series)>,
    targets: Vec<Target>,
    /// Values of one measurement each.
    values: BTreeMap<String, f64>,
    /// Containers that should not be there.
    pub(crate) left: Vec<String>,
}

/// One promise and what came of it.
#[derive(Debug, Clone)]
struct Target {
    what: String,
    value: f64,
    at_most: f64,
    unit: &'static str,
}

impl Report {
    pub(crate) fn new(image: &str) -> Self {
        Self {
            image: image.to_owned(),
            series: Vec::new(),
            targets: Vec::new(),
            values: BTreeMap::new(),
            left: Vec::new(),
        }
    }

    /// Notes the times of one kind.
    pub(crate) fn add(&mut self, name: &str, series: &Series) {
        self.series.push((name.to_owned(), series.clone()));
    }

    /// Notes a value that is promised nothing.
    pub(crate) fn note(&mut self, name: &str, value: f64) {
        self.values.insert(name.to_owned(), value);
    }

    /// Holds the ratio of two medians against a promise.
    pub(crate) fn ratio(&mut self, what: &str, of: &Series, to: &Series, at_most: f64) {
        self.target(what, of.median() / to.median(), at_most, "x");
    }

    /// Holds a value against a promise.
    pub(crate) fn target(&mut self, what: &str, value: f64, at_most: f64, unit: &'static str) {
        self.targets.push(Target { what: what.to_owned(), value, at_most, unit });
    }

    /// The image that all was measured with.
    pub(crate) fn image(&self) -> &str {
        &self.image
    }

    /// For people.
    pub(crate) fn to_text(&self) -> String {
        format!("image: {}\n\n{}\n{}\n{}", self.image, self.times(), self.promises(), self.rest())
    }

    /// A table of all times.
    pub(crate) fn times(&self) -> String {
        let mut text = String::new();
        text += "| ms | n | p50 | p95 | p99 |\n|---|---|---|---|---|\n";
        for (name, series) in &self.series {
            let Summary { n, p50_ms, p95_ms, p99_ms, .. } = series.summary();
            let name = name.replace('|', "\\|");
            line(&mut text, &format!("| {name} | {n} | {p50_ms:.1} | {p95_ms:.1} | {p99_ms:.1} |"));
        }
        text
    }

    /// A table of what was promised.
    pub(crate) fn promises(&self) -> String {
        let mut text = "| promise | measured | at most | |\n|---|---|---|---|\n".to_owned();
        for Target { what, value, at_most, unit } in &self.targets {
            let met = if value <= at_most { "met" } else { "NOT MET" };
            line(&mut text, &format!("| {what} | {value:.3} {unit} | {at_most} {unit} | {met} |"));
        }
        text
    }

    /// Everything that no table has.
    pub(crate) fn rest(&self) -> String {
        let mut text = String::new();
        for (name, value) in &self.values {
            line(&mut text, &format!("{name}: {value:.3}"));
        }
        line(&mut text, &format!("containers left: {}", self.left.len()));
        self.left.iter().for_each(|name| line(&mut text, &format!("  {name}")));
        text
    }

    /// For programs.
    pub(crate) fn to_json(&self) -> Value {
        let series = self.series.iter().map(|(name, series)| (name, series.summary()));
        let targets = self.targets.iter().map(|target| {
            json!({"what": target.what, "measured": target.value, "at_most": target.at_most,
                "unit": target.unit, "met": target.value <= target.at_most})
        });
        json!({
            "image": self.image,
            "series": series.collect::<BTreeMap<_, _>>(),
            "targets": targets.collect::<Vec<_>>(),
            "values": self.values,
            "containers_left": self.left,
        })
    }

    /// The chart of the calls, if they were measured.
    pub(crate) fn chart(&self) -> Option<String> {
        let shown = |name: &str| !name.contains("1 in flight") && !name.starts_with("output");
        let rows: Vec<(&str, Summary)> = self
            .series
            .iter()
            .filter(|(name, _)| CHARTED.contains(&name.as_str()) && shown(name))
            .map(|(name, series)| (name.as_str(), series.summary()))
            .collect();
        (!rows.is_empty()).then(|| chart::svg("Time to run print(1) in a fresh container", &rows))
    }
}

/// What the chart shows.
const CHARTED: [&str; 7] = [
    BARE,
    "das run",
    "das mcp, cold",
    "das mcp, warm, back-to-back",
    "das mcp, warm, burst of 8",
    "das mcp, warm, idle gap",
    "das, warm, first byte",
];

fn line(text: &mut String, line: &str) {
    writeln!(text, "{line}").expect("a string takes everything");
}
