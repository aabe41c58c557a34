//! `list`: lists the benchmarks, and explains them.

use std::fmt::Write;
use std::process::ExitCode;

use benchmark::{Benchmark, Paper, catalogue, select};

use crate::arguments::ListArguments;
use crate::failure::Failure;
use crate::output::{labelled, print, wrapped};

/// Lists all benchmarks by group, or explains the named benchmark, group or paper.
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

fn overview(benchmarks: &'static [Benchmark]) -> String {
    let width = benchmarks.iter().map(|benchmark| benchmark.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    let mut group = None;
    let mut papers: Vec<&'static Paper> = Vec::new();
    for Benchmark { name, group: its, summary, source, .. } in benchmarks {
        if group != Some(*its) {
            let gap = if group.is_none() { "" } else { "\n" };
            group = Some(*its);
            let _ = writeln!(text, "{gap}{}", its.name());
        }
        let from = source.map(|source| format!(" [{}]", number(&mut papers, source.paper)));
        let _ = writeln!(text, "  {name:width$}  {summary}{}", from.unwrap_or_default());
    }
    text.push_str("\nfrom\n");
    for (index, paper) in papers.iter().enumerate() {
        let selects =
            paper.selects.map(|name| format!("; `{name}` selects its benchmarks of messages"));
        let entry = format!("{}{}", paper.citation, selects.unwrap_or_default());
        let _ = writeln!(text, "{}", labelled(&format!("  [{}]", index + 1), 6, &entry));
    }
    text.push_str(
        "\n`cornerstone list NAME` explains a benchmark or a group; `cornerstone run NAME` measures it.\n",
    );
    text
}

/// Returns the number of `paper` among those that were named before, counted from 1.
fn number(papers: &mut Vec<&'static Paper>, paper: &'static Paper) -> usize {
    let index = papers.iter().position(|other| *other == paper).unwrap_or_else(|| {
        papers.push(paper);
        papers.len() - 1
    });
    index + 1
}

fn explanation(benchmark: &Benchmark) -> String {
    let algorithms: Vec<&str> = benchmark.algorithms.iter().map(|one| one.name()).collect();
    let by = match algorithms.is_empty() {
        true => String::new(),
        false => {
            let names = format!("By messages with --algorithm {}, or all.", algorithms.join(", "));
            format!("\n{}\n", wrapped(&names, "  "))
        }
    };
    format!(
        "{} ({}, {})\n{}\n\n{}\n{by}",
        benchmark.name,
        benchmark.group.name(),
        benchmark.ranks,
        benchmark.summary,
        wrapped(&benchmark.explanation(), "  ")
    )
}
