//! Samples and what is said of them.

use std::time::Duration;

use serde::Serialize;

/// The times of one kind, in milliseconds.
#[derive(Debug, Clone, Default)]
pub(crate) struct Series(Vec<f64>);

/// What is said of a series.
#[derive(Debug, Clone, Copy, Serialize)]
pub(crate) struct Summary {
    pub(crate) n: usize,
    pub(crate) p50_ms: f64,
    pub(crate) p95_ms: f64,
    pub(crate) p99_ms: f64,
    pub(crate) min_ms: f64,
    pub(crate) max_ms: f64,
}

impl Series {
    pub(crate) fn add(&mut self, time: Duration) {
        self.0.push(time.as_secs_f64() * 1000.0);
    }

    pub(crate) fn extend(&mut self, times: Vec<Duration>) {
        for time in times {
            self.add(time);
        }
    }

    /// The smallest sample that at least so many percent of all do not exceed.
    fn percentile(&self, percent: usize) -> f64 {
        let mut sorted = self.0.clone();
        sorted.sort_by(f64::total_cmp);
        let rank = (sorted.len() * percent).div_ceil(100).max(1);
        sorted.get(rank - 1).copied().unwrap_or(f64::NAN)
    }

    pub(crate) fn median(&self) -> f64 {
        self.percentile(50)
    }

    pub(crate) fn summary(&self) -> Summary {
        Summary {
            n: self.0.len(),
            p50_ms: self.median(),
            p95_ms: self.percentile(95),
            p99_ms: self.percentile(99),
            min_ms: self.percentile(0),
            max_ms: self.percentile(100),
        }
    }
}
