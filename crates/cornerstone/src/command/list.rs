//! `list`: what can be measured, and what each number means.

use std::fmt::Write;
use std::process::ExitCode;

use benchmark::{Benchmark, catalogue, select};

use crate::arguments::ListArguments;
use crate::failure::Failure;
use crate::output::{print, wrapped};

/// Lists all benchmarks by group, or explains the one that is named, or all of a group.
pub(crate) fn execute(arguments: ListArguments) -> Result<ExitCode, Failure> {
    let text = match arguments.name {
        None => overview(catalogue()),
        Some(name) => select(&[name])
            .map_err(|unknown| Failure::unknown_benchmark(&unknown))?
            .into_iter()
            .map(explanation)
            .collect::<Vec<_>>()
            .join("\n"),
    };
    print(&text).map(|()| ExitCode::SUCCESS)
}

fn overview(benchmarks: &[Benchmark]) -> String {
    let width = benchmarks.iter().map(|benchmark| benchmark.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut group = "";
    for benchmark in benchmarks {
        if benchmark.group != group {
            let gap = if group.is_empty() { "" } else { "\n" };
            group = benchmark.group;
            let _ = writeln!(text, "{gap}{group}");
        }
        let _ = writeln!(text, "  {:width$}  {}", benchmark.name, benchmark.summary);
    }
    text.push_str(
        "\n`cornerstone list NAME` explains a benchmark or a group; `cornerstone run NAME` measures it.\n",
    );
    text
}

fn explanation(benchmark: &Benchmark) -> String {
    format!(
        "{} ({}, {})\n{}\n\n{}\n",
        benchmark.name,
        benchmark.group,
        benchmark.ranks,
        benchmark.summary,
        wrapped(benchmark.explains, "  ")
    )
}
