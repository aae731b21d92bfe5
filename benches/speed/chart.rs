//! The chart of the documentation: one bar for each kind of call, as an SVG file.

use std::fmt::Write as _;

use crate::stats::Summary;

const WIDTH: f64 = 760.0;
const LABELS: f64 = 250.0;
const BAR: f64 = 22.0;
const ROW: f64 = 34.0;
const TOP: f64 = 54.0;

/// Draws medians as bars, with the 95th percentile as a thin line beyond each.
pub(crate) fn svg(title: &str, rows: &[(&str, Summary)]) -> String {
    let longest = rows.iter().map(|(_, row)| row.p95_ms).fold(1.0, f64::max);
    let scale = (WIDTH - LABELS - 90.0) / longest;
    let bars: String = (0u32..).zip(rows).map(|(index, row)| bar(index, row, scale)).collect();
    let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    let height = TOP + ROW * f64::from(count) + 12.0;
    format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" \
         font-family=\"system-ui, sans-serif\" font-size=\"14\">\n\
         <title>{title}</title>\n\
         <rect width=\"{WIDTH}\" height=\"{height}\" rx=\"8\" fill=\"#ffffff\"/>\n\
         <text x=\"16\" y=\"26\" font-weight=\"600\" fill=\"#1f2328\">{title}</text>\n\
         <text x=\"16\" y=\"44\" font-size=\"11\" fill=\"#59636e\">median in milliseconds; the thin \
         line ends at the 95th percentile</text>\n{bars}</svg>\n"
    )
}

fn bar(index: u32, (label, summary): &(&str, Summary), scale: f64) -> String {
    let top = TOP + ROW * f64::from(index);
    let (middle, text) = (top + BAR / 2.0, top + BAR / 2.0 + 5.0);
    let (length, tail) = (summary.p50_ms * scale, LABELS + summary.p95_ms * scale);
    let colour = if label.starts_with("docker") { "#8c959f" } else { "#0969da" };
    let mut bar = String::new();
    write!(
        bar,
        "<text x=\"{x}\" y=\"{text}\" text-anchor=\"end\" fill=\"#1f2328\">{label}</text>\n\
         <rect x=\"{LABELS}\" y=\"{top}\" width=\"{length:.1}\" height=\"{BAR}\" rx=\"3\" \
         fill=\"{colour}\"/>\n\
         <line x1=\"{LABELS}\" x2=\"{tail:.1}\" y1=\"{middle}\" y2=\"{middle}\" \
         stroke=\"#1f2328\" stroke-opacity=\"0.55\"/>\n\
         <text x=\"{value:.1}\" y=\"{text}\" fill=\"#1f2328\">{median:.1}</text>\n",
        x = LABELS - 10.0,
        value = tail.max(LABELS + length) + 8.0,
        median = summary.p50_ms,
    )
    .expect("a string takes everything");
    bar
}
