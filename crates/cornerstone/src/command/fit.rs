//! `fit`: prints models of the times of a run.

mod loggp;

use std::fmt::Write;
use std::process::ExitCode;

use analysis::model::hockney::{self, Hockney};
use analysis::model::{Estimate, Series, StraightLine, time_series};

use crate::arguments::FitArguments;
use crate::failure::Failure;
use crate::output::{print, table, wrapped};
use crate::results;
use crate::wording::{between, percent, quantity, ranks, significant, size};

/// Prints Hockney's model for each series of times over message size, or LogGP's for each call.
pub(crate) fn execute(arguments: FitArguments) -> Result<ExitCode, Failure> {
    let run = results::read_noting_gaps(&arguments.run)?;
    let series = time_series(&run);
    if arguments.loggp {
        return print(&loggp::models(&series, arguments.packet.get())?).map(|()| ExitCode::SUCCESS);
    }
    let (sized, others): (Vec<_>, Vec<_>) =
        series.iter().partition(|series| series.points.len() >= 3);
    if sized.is_empty() {
        return Err(Failure::failed(format!(
            "'{}' has no times at three message sizes or more, so there is no line to fit",
            arguments.run.display()
        ))
        .hint("measure more sizes: cornerstone run ping-pong --sizes 0..1MiB"));
    }
    let mut text = String::from(
        "Hockney's model, t = t_l + N t_c: the time t of a message of N bytes.\n\
         The rate is 1 / t_c; half of it is reached at N = t_l / t_c bytes.\n\n",
    );
    text += &models(&sized, run.header().confidence);
    let left_out = others.len();
    if left_out > 0 {
        let _ = writeln!(text, "\n{left_out} series with fewer than three sizes were omitted.");
    }
    print(&text).map(|()| ExitCode::SUCCESS)
}

fn models(series: &[&Series], confidence: f64) -> String {
    let mut rows = Vec::new();
    let mut remarks = String::new();
    for series in series {
        match hockney::fit(&series.points, confidence) {
            Ok(model) => {
                rows.push(row(&name(series), &model.line, percent(model.r_squared)));
                remarks += &remark(series, &model);
                rows.extend(model.segments.iter().map(|segment| {
                    let sizes =
                        format!("  {} to {}", size(segment.from_bytes), size(segment.to_bytes));
                    row(&sizes, &segment.line, String::new())
                }));
            }
            Err(why) => {
                let _ = writeln!(remarks, "  {}: not fitted: {why}", name(series));
            }
        }
    }
    let header = ["series", "t_l", "rate", "half-performance size", "explained"];
    let table = table(&header.map(String::from), 1, rows);
    let confidence = percent(confidence);
    let intervals = format!(
        "\nIntervals are at {confidence}. Indented lines: the same series in parts, if several lines\nfit much better than one.\n"
    );
    if remarks.is_empty() {
        table + &intervals
    } else {
        table + &intervals + "\nSizes at which the straight line does not fit:\n" + &remarks
    }
}

fn row(name: &str, line: &StraightLine, explained: String) -> Vec<String> {
    vec![
        name.into(),
        cell(Some(line.latency_us), |us| quantity(us, "us")),
        cell(line.rate_mb_per_s, |rate| quantity(rate, "MB/s")),
        cell(line.half_performance_bytes, bytes),
        explained,
    ]
}

/// Returns a value and its interval, as `355 ns (271 .. 438 ns)`.
fn cell(estimate: Option<Estimate>, show: impl Fn(f64) -> String) -> String {
    let Some(Estimate { value, low, high }) = estimate else { return "-".into() };
    let high = if high.is_finite() { show(high) } else { "no bound".into() };
    format!("{} ({})", show(value), between(show(low), high))
}

/// Returns a fitted size in words. It is seldom a whole number of a unit.
fn bytes(bytes: f64) -> String {
    const UNITS: [(f64, &str); 2] = [((1 << 20) as f64, "MiB"), (1024.0, "KiB")];
    match UNITS.iter().find(|(unit, _)| bytes >= *unit) {
        Some((unit, name)) => format!("{} {name}", significant(bytes / unit)),
        None => format!("{} B", significant(bytes)),
    }
}

fn remark(series: &Series, model: &Hockney) -> String {
    let failing: Vec<String> = model
        .residuals
        .iter()
        .filter(|residual| residual.fails)
        .map(|residual| {
            let direction = if residual.relative > 0.0 { "slower" } else { "faster" };
            format!(
                "{} ({} {direction})",
                size(residual.size_bytes),
                percent(residual.relative.abs())
            )
        })
        .collect();
    if failing.is_empty() {
        return String::new();
    }
    format!("  {}:\n{}\n", name(series), wrapped(&failing.join(", "), "    "))
}

fn name(series: &Series) -> String {
    let mut name = format!("{}, {}", series.benchmark, ranks(series.ranks));
    for (parameter, value) in &series.parameters {
        let _ = write!(name, ", {} {value}", parameter.replace('_', " "));
    }
    if series.metric != "time" {
        let _ = write!(name, ", {}", series.metric);
    }
    name
}
