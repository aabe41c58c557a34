//! `list`: what can be measured, and what each number means.

use std::fmt::Write;
use std::process::ExitCode;

use benchmark::{Benchmark, catalogue, select};

use crate::arguments::ListArguments;
use crate::failure::Failure;
use crate::output::print;

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
        indented(benchmark.explains)
    )
}

/// Lines of running text are as long as this; longer ones tire the eye.
const LINE: usize = 88;

/// `text` in lines of [`LINE`] characters, indented; its own line breaks stay.
fn indented(text: &str) -> String {
    let mut lines = vec![];
    for paragraph in text.trim().lines() {
        let mut line = String::from(" ");
        for word in paragraph.split_whitespace() {
            if line.chars().count() + 1 + word.chars().count() > LINE && line != " " {
                lines.push(std::mem::replace(&mut line, " ".into()));
            }
            line.push(' ');
            line.push_str(word);
        }
        lines.push(line.trim_end().to_string());
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn running_text_is_broken_between_words() {
        let words = "word ".repeat(40);
        let text = indented(&format!("{words}\n\nnext"));
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.iter().all(|line| line.len() <= LINE));
        assert_eq!(lines.len(), 5, "{text}");
        assert_eq!(&lines[3..], ["", "  next"]);
        assert_eq!(text.split_whitespace().count(), 41);
        // A word that is longer than a line stands alone, and is not lost.
        assert_eq!(indented(&"x".repeat(100)), format!("  {}", "x".repeat(100)));
    }
}
