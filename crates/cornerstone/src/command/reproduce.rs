//! `reproduce`: the papers' tables, recomputed.

use std::process::ExitCode;

use reproduction::{How, ReproductionError, Row, reproduce};

use crate::arguments::{Format, ReproduceArguments};
use crate::failure::Failure;
use crate::output::print;

/// Recomputes what is asked for, and shows each cell beside the published one.
pub(crate) fn execute(arguments: &ReproduceArguments) -> Result<ExitCode, Failure> {
    let mut printed = Ok(());
    let mut show = |text: &str| {
        if printed.is_ok() {
            printed = print(text);
        }
    };
    // Nothing is printed where there is no such table.
    let mut heading = heading(arguments.format);
    let rows = reproduce(arguments.table.as_deref(), &mut |row| {
        show(std::mem::take(&mut heading));
        match arguments.format {
            Format::Table => show(&table_line(row)),
            Format::Csv => show(&csv_line(row)),
            Format::Json => {}
        }
    })
    .map_err(|error| match error {
        ReproductionError::Unknown(..) => Failure::usage(error.to_string()),
        ReproductionError::Cell { .. } => Failure::failed(error.to_string()),
    })?;
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

const LEGEND: &str = "
fitted: the machine was fitted to this cell, among others; predicted: it knows nothing of it; formula: computed as
the paper does; measured: the same program on this machine, beside the published one. <=: the most that the paper
found. Cells without a published value were kept back, to check predictions against.
";

fn heading(format: Format) -> &'static str {
    match format {
        Format::Table => {
            "cell                                                            published         ours  unit    how        error\n"
        }
        Format::Csv => "id,unit,published,ours,how,error\n",
        Format::Json => "",
    }
}

fn table_line(row: &Row) -> String {
    let bound = if row.at_most { "<= " } else { "" };
    let published = row.published.map_or("-".into(), |value| format!("{bound}{value}"));
    let error = row.error.map_or("-".into(), |error| {
        let percent = format!("{:+.1}", 100.0 * error);
        format!("{} %", if percent == "-0.0" { "+0.0" } else { &percent })
    });
    let (id, unit, how) = (&row.id, &row.unit, how(row.how));
    format!("{id:62}{published:>11}{:>13}  {unit:7} {how:9}{error:>8}\n", rounded(row.ours))
}

fn csv_line(row: &Row) -> String {
    let optional = |value: Option<f64>| value.map(|value| value.to_string()).unwrap_or_default();
    let (published, error) = (optional(row.published), optional(row.error));
    format!("{},{},{published},{},{},{error}\n", row.id, row.unit, row.ours, how(row.how))
}

/// Four digits, as the papers have at most.
fn rounded(value: f64) -> String {
    match value.abs() {
        size if size >= 1000.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.2}"),
        // Today's processors do in microseconds what took the paper's seconds.
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
        How::Measured => "measured",
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
        assert!(table_line(&row).ends_with("predicted       -\n"), "{}", table_line(&row));
    }
}
