//! `reproduce`: recomputes the tables of the papers.

use std::process::ExitCode;

use reproduction::{
    How, PublishedAndHere, ReproductionError, Row, is_of_processors, measure_processors, reproduce,
    tables,
};

use crate::arguments::{Format, ReproduceArguments};
use crate::failure::Failure;
use crate::output::print;

/// Recomputes tables, and prints each cell with the published one.
pub(crate) fn execute(arguments: &ReproduceArguments) -> Result<ExitCode, Failure> {
    if let Some(table) = arguments.table.as_deref().filter(|table| is_of_processors(table)) {
        return processors(table, arguments.format);
    }
    let mut printed = Ok(());
    let mut show = |text: &str| {
        if printed.is_ok() {
            printed = print(text);
        }
    };
    // The heading is printed with the first row, so that nothing is printed if the table does not exist.
    let mut heading = heading(arguments.format);
    let mut group = String::new();
    let rows = reproduce(arguments.table.as_deref(), &mut |row| {
        show(std::mem::take(&mut heading));
        match arguments.format {
            Format::Table => {
                let (table, cell) = parted(&row.id);
                if group != table {
                    group = table.into();
                    show(&format!("\n{table}\n"));
                }
                show(&table_line(row, cell));
            }
            Format::Csv => show(&csv_line(row)),
            Format::Json => {}
        }
    })
    .map_err(failure)?;
    match arguments.format {
        Format::Json => {
            let list = serde_json::to_string_pretty(&rows).expect("rows are plain data");
            show(&format!("{list}\n"));
        }
        Format::Table => show(LEGEND),
        Format::Csv => {}
    }
    printed.map(|()| ExitCode::SUCCESS)
}

fn failure(error: ReproductionError) -> Failure {
    match error {
        ReproductionError::Unknown { .. } => Failure::usage(error.to_string()).hint(available()),
        ReproductionError::Cell { .. } => Failure::failed(error.to_string()),
    }
}

/// Returns the papers with their tables, a line for each.
fn available() -> String {
    let tables = tables();
    let paper = |table: &&String| table.split('/').next().unwrap_or_default().to_string();
    let of_paper = |all: &[&String]| {
        let numbers = all.iter().filter_map(|table| table.split_once('/'));
        let numbers: Vec<&str> = numbers.map(|(_, number)| number).collect();
        format!("\n    {}/{}", paper(&all[0]), numbers.join(", "))
    };
    let mut all: Vec<&String> = tables.iter().collect();
    all.sort_by_key(paper);
    let lines: String = all.chunk_by(|a, b| paper(a) == paper(b)).map(of_paper).collect();
    format!("name a paper, or one of its tables as PAPER/TABLE:{lines}")
}

/// Measures this machine's processor and prints it with those of a table.
fn processors(table: &str, format: Format) -> Result<ExitCode, Failure> {
    if format != Format::Table {
        return Err(Failure::usage(format!(
            "{table} sets this machine's processor beside published ones and recomputes nothing, so it has no list of \
             fitted, predicted and formula cells; leave --format out, or measure with `cornerstone run processor`"
        )));
    }
    let mut printed = print(PROCESSORS_HEADING);
    measure_processors(table, &mut |line| {
        if printed.is_ok() {
            printed = print(&processor_line(line));
        }
    })
    .map_err(failure)?;
    printed.and_then(|()| print(PROCESSORS_LEGEND)).map(|()| ExitCode::SUCCESS)
}

const PROCESSORS_HEADING: &str =
    "program on an old machine                         published        here  unit\n";
const PROCESSORS_LEGEND: &str = "
here: the same program on this machine, which is no reproduction: neither is in error.
";

fn processor_line(line: &PublishedAndHere) -> String {
    format!("{:47}{:>12}{:>12}  {}\n", line.id, line.published, rounded(line.here), line.unit)
}

const LEGEND: &str = "
fitted: the machine was fitted to this cell, among others; predicted: it knows
nothing of it; formula: computed as the paper does. <=: the most that the paper
found. Cells without a published value were kept back, to check predictions.
`cornerstone reproduce hypercube-1986/3` sets this processor beside old ones.
";

fn heading(format: Format) -> &'static str {
    match format {
        Format::Table => {
            "paper/table, and each row/column  published      ours  unit    how         error\n"
        }
        Format::Csv => "id,unit,published,ours,how,error\n",
        Format::Json => "",
    }
}

/// Returns the paper and table of a cell, and its row and column.
fn parted(id: &str) -> (&str, &str) {
    let table = id.match_indices('/').nth(1).map_or(id.len(), |(at, _)| at);
    (&id[..table], id[table..].trim_start_matches('/'))
}

/// Returns a line of less than 80 characters, or two if the name of the cell is long.
fn table_line(row: &Row, cell: &str) -> String {
    const NAME: usize = 30;

    let bound = if row.at_most { "<= " } else { "" };
    let published = row.published.map_or("-".into(), |value| format!("{bound}{value}"));
    let error = row.error.map_or("-".into(), |error| {
        let percent = format!("{:+.1}", 100.0 * error);
        format!("{} %", if percent == "-0.0" { "+0.0" } else { &percent })
    });
    let (unit, how) = (&row.unit, how(row.how));
    let name = match cell.len() <= NAME {
        true => format!("  {cell:NAME$}"),
        false => format!("  {cell}\n  {:NAME$}", ""),
    };
    format!("{name}{published:>11}{:>10}  {unit:7} {how:9}{error:>8}\n", rounded(row.ours))
}

fn csv_line(row: &Row) -> String {
    let optional = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let (published, error) = (optional(row.published), optional(row.error));
    format!("{},{},{published},{},{},{error}\n", row.id, row.unit, row.ours, how(row.how))
}

/// Rounds to four digits, because the papers have at most four.
fn rounded(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.2}"),
        // Today's processors take microseconds for work that took seconds in the paper.
        size if size > 0.0 && size < 0.001 => format!("{value:.3e}"),
        size if size > 0.0 && size < 0.1 => format!("{value:.5}"),
        _ => format!("{value:.4}"),
    }
}

fn how(how: How) -> &'static str {
    match how {
        How::Fitted => "fitted",
        How::Predicted => "predicted",
        How::Formula => "formula",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_numbers_keep_their_digits() {
        let words = [0.0, 0.000127, 0.0227, 0.5, 72.09, 8923297123.0].map(rounded);
        assert_eq!(words, ["0.0000", "1.270e-4", "0.02270", "0.5000", "72.09", "8923297123"]);
    }

    #[test]
    fn a_cell_kept_back_has_no_error() {
        let row = Row {
            id: "mitre-1995/4.5/7-8/rate-mb-per-s".into(),
            unit: "MB/s".into(),
            published: None,
            ours: 72.09,
            how: How::Predicted,
            error: None,
            at_most: false,
        };
        assert_eq!(csv_line(&row), "mitre-1995/4.5/7-8/rate-mb-per-s,MB/s,,72.09,predicted,\n");
        let (table, cell) = parted(&row.id);
        assert_eq!((table, cell), ("mitre-1995/4.5", "7-8/rate-mb-per-s"));
        let line = table_line(&row, cell);
        assert!(line.ends_with("predicted       -\n") && line.trim_end().len() <= 80, "{line}");
    }
}
