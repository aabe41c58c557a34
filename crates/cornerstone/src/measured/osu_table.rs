//! Reads the tables of the OSU micro-benchmarks, and of programs that print tables of the same form.

use analysis::statistics::{Sample, summarise};
use contract::FabricDescription;
use record::{Better, Measurement, Run, RunHeader, StopReason, Timing};

use crate::{environment, utc};

/// Confidence of the intervals over launches, which a table does not contain.
const CONFIDENCE: f64 = 0.95;

/// Reads the lines of the table that `command` printed, as a run.
pub(super) fn read(command: &str, stdout: &str) -> Result<Run, String> {
    let mut table = Table::default();
    let mut measurements = Vec::new();
    for line in stdout.lines().map(str::trim).filter(|line| !line.is_empty()) {
        match line.strip_prefix('#') {
            Some(comment) => table.comment(comment.trim()),
            None => measurements.extend(table.row(line)?),
        }
    }
    match (measurements.is_empty(), stdout.trim().is_empty()) {
        (true, true) => Err("it ended well and printed nothing".into()),
        (true, false) => Err("it printed no table as the OSU micro-benchmarks do".into()),
        (false, _) => Ok(Run::of("", vec![header(command)], measurements)),
    }
}

/// Information from the comments about the rows below them.
#[derive(Default)]
struct Table {
    benchmark: Option<String>,
    columns: String,
}

impl Table {
    /// Reads a comment, which names the benchmark ("OSU MPI Latency Test v7.4") or the columns ("Size  Avg
    /// Latency(us)").
    fn comment(&mut self, text: &str) {
        match text.strip_prefix("OSU ").and_then(|title| title.split(" Test").next()) {
            Some(title) => self.benchmark = Some(title.trim_start_matches("MPI").trim().into()),
            None if text.contains('(') => self.columns = text.into(),
            None => {}
        }
    }

    /// Reads a row: the first number behind the size, or the only one.
    fn row(&self, line: &str) -> Result<Option<Measurement>, String> {
        let numbers: Option<Vec<f64>> =
            line.split_whitespace().map(|word| word.parse().ok()).collect();
        let (Some(benchmark), Some(numbers)) = (&self.benchmark, numbers) else { return Ok(None) };
        let (size_bytes, value) = match numbers[..] {
            [value] => (0, value),
            [size, value, ..] => (size as u64, value),
            [] => return Ok(None),
        };
        let sample = Sample::new([value])
            .map_err(|_| format!("it printed '{line}', which has no number to compare"))?;
        let unit = self.columns.split(['(', ')']).nth(1).unwrap_or("us");
        let (metric, better) = match unit.contains("/s") {
            true => ("rate", Better::Higher),
            false => ("time", Better::Lower),
        };
        Ok(Some(Measurement {
            benchmark: benchmark.clone(),
            group: "osu".into(),
            fabric: "program".into(),
            ranks: 0,
            size_bytes,
            stop_reason: StopReason::SampleLimit,
            timing: Timing::of_single_events("unknown", 0.0),
            samples: vec![value],
            ..Measurement::new(metric, unit, better, summarise(&sample, CONFIDENCE))
        }))
    }
}

fn header(command: &str) -> RunHeader {
    RunHeader {
        cornerstone_version: env!("CARGO_PKG_VERSION").into(),
        command: vec![command.into()],
        started: utc::now(),
        confidence: CONFIDENCE,
        time_limit_s: 0.0,
        fabric: FabricDescription { name: "program".into(), ..FabricDescription::default() },
        environment: environment::capture(),
        ..RunHeader::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_latencies_rates_and_barriers_are_read() {
        let latency = "\n# OSU MPI Latency Test v7.4\n# Datatype: MPI_CHAR.\n# Size       Avg Latency(us)\n\
                       1                       0.21\n8        0.22\n";
        let run = read("x", latency).unwrap();
        let found: Vec<_> = run
            .measurements
            .iter()
            .map(|m| (m.benchmark.as_str(), m.size_bytes, m.summary.median))
            .collect();
        assert_eq!(found, [("Latency", 1, 0.21), ("Latency", 8, 0.22)]);
        assert_eq!(
            (run.measurements[0].unit.as_str(), run.measurements[0].better),
            ("us", Better::Lower)
        );
        let rate = "# OSU MPI Bandwidth Test v7.4\n# Size      Bandwidth (MB/s)\n1   4.5\n";
        let run = read("x", rate).unwrap();
        assert_eq!(
            (run.measurements[0].unit.as_str(), run.measurements[0].better),
            ("MB/s", Better::Higher)
        );
        let barrier = "# OSU MPI Barrier Latency Test v7.4\n# Avg Latency(us)\n    1.25\n";
        let run = read("x", barrier).unwrap();
        assert_eq!((run.measurements[0].size_bytes, run.measurements[0].summary.median), (0, 1.25));
    }

    #[test]
    fn nothing_and_other_text_are_told_apart() {
        assert!(read("x", " \n").unwrap_err().contains("printed nothing"));
        assert!(read("x", "hello\n1 2\n").unwrap_err().contains("no table"));
        let infinite = "# OSU MPI Latency Test v7\n# Size  Latency (us)\n8 inf\n";
        assert!(read("x", infinite).unwrap_err().contains("'8 inf'"));
    }
}
