//! Measurements in the format of the OSU micro-benchmarks, for scripts that read it.
//!
//! The lines are those of release 7.4: an empty line, the name of the test, the datatype, the names of the columns, and
//! a line for each size. The numbers are medians, while the OSU tests print means. The time of a collective is that of
//! the slowest rank, while the OSU tests print the mean over the ranks.

use benchmark::{OsuColumns, OsuTest};
use record::{Measurement, Parameters};

/// Prints measurements in this format. It stores the test of the last line, because each test has one header.
#[derive(Default)]
pub(crate) struct Osu {
    last: Option<(String, usize, Parameters)>,
    /// Benchmarks without an OSU test.
    left_out: Vec<String>,
}

/// Widths and digits of the columns.
const SIZE_WIDTH: usize = 10;
const VALUE_WIDTH: usize = 18;
const DIGITS: usize = 2;

/// Returns the names of the columns, and the metric that they show.
fn columns(test: &OsuTest) -> (&'static str, &'static str) {
    match test.columns {
        OsuColumns::Latency => ("# Size       Avg Latency(us)", "time"),
        OsuColumns::Bandwidth => ("# Size      Bandwidth (MB/s)", "rate"),
        OsuColumns::LatencyAlone => ("# Avg Latency(us)", "time"),
    }
}

impl Osu {
    /// Returns the lines for a measurement. Empty for a metric that the OSU test does not print.
    pub(crate) fn lines(&mut self, measurement: &Measurement) -> String {
        let declared = benchmark::find(&measurement.benchmark).and_then(|benchmark| benchmark.osu);
        let Some(test) = declared else {
            if !self.left_out.contains(&measurement.benchmark) {
                self.left_out.push(measurement.benchmark.clone());
            }
            return String::new();
        };
        // An empty message has no rate, and the OSU tests of rates begin at 1 byte.
        if measurement.metric != columns(&test).1 {
            return String::new();
        }
        let Measurement { benchmark, ranks, parameters, summary, .. } = measurement;
        let this = (benchmark.clone(), *ranks, parameters.clone());
        let mut lines = String::new();
        if self.last.as_ref() != Some(&this) {
            lines = header(&test, measurement);
            self.last = Some(this);
        }
        let median = summary.median;
        lines
            + &match test.columns {
                OsuColumns::LatencyAlone => format!("{median:>17.DIGITS$}\n"),
                _ => format!(
                    "{:<SIZE_WIDTH$}{median:>VALUE_WIDTH$.DIGITS$}\n",
                    measurement.size_bytes
                ),
            }
    }

    /// Returns a note on the measurements that were not printed, if there were any.
    pub(crate) fn left_out(&self) -> Option<String> {
        let names = self.left_out.join(", ");
        (!names.is_empty())
            .then(|| format!("note: no OSU test corresponds to {names}; see the results file"))
    }
}

fn header(test: &OsuTest, measurement: &Measurement) -> String {
    let datatype = test.datatype.map(|name| format!("# Datatype: {name}.\n")).unwrap_or_default();
    let Measurement { ranks, fabric, .. } = measurement;
    format!(
        "\n# OSU MPI {} Test v7.4\n# by Cornerstone {} on {fabric}, {ranks} ranks, medians\n{datatype}{}\n",
        test.title,
        env!("CARGO_PKG_VERSION"),
        columns(test).0
    )
}

#[cfg(test)]
mod tests {
    use record::{Better, Summary};

    use super::*;

    fn measurement(benchmark: &str, size_bytes: u64, metric: &str, median: f64) -> Measurement {
        // The mean differs from the median. Only the median is printed.
        let alike = Summary::of_interval((median, median, median), 100, 0.95);
        let summary = Summary { mean: 99.0, ..alike };
        Measurement {
            benchmark: benchmark.into(),
            group: "sharc".into(),
            fabric: "mpi".into(),
            ranks: 2,
            size_bytes,
            ..Measurement::new(metric, "us", Better::Lower, summary)
        }
    }

    /// The columns are those of osu_latency and osu_bw 7.4: 10 for the size, and 18 for the number, which is
    /// right-aligned.
    #[test]
    fn a_test_has_one_header_and_a_line_for_each_size() {
        let mut osu = Osu::default();
        let first = osu.lines(&measurement("ping-pong", 1, "time", 4.951));
        assert!(first.starts_with("\n# OSU MPI Latency Test v7.4\n"), "{first}");
        assert!(first.ends_with(
            "# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n1                       4.95\n"
        ));
        assert_eq!(osu.lines(&measurement("ping-pong", 1, "rate", 1.0)), "");
        let second = osu.lines(&measurement("ping-pong", 1 << 20, "time", 66.0));
        assert_eq!(second, "1048576                66.00\n");
        assert!(
            osu.lines(&measurement("bandwidth", 1, "rate", 21.0)).contains("Bandwidth (MB/s)\n")
        );
        assert_eq!(osu.left_out(), None);
    }

    #[test]
    fn a_barrier_has_one_number_and_no_size() {
        let lines = Osu::default().lines(&measurement("barrier", 0, "time", 0.26));
        assert!(lines.ends_with("# Avg Latency(us)\n             0.26\n"), "{lines}");
    }

    #[test]
    fn what_is_no_osu_test_is_named_once() {
        let mut osu = Osu::default();
        for _ in 0..2 {
            assert_eq!(osu.lines(&measurement("hand-over", 0, "time", 1.0)), "");
        }
        let note = osu.left_out().unwrap();
        assert_eq!(note.matches("hand-over").count(), 1, "{note}");
    }
}
