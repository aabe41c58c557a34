//! Tables for the terminal: a header, a rule and rows, without a frame.

use comfy_table::{CellAlignment, LineStyle, Table, TableStyle};

/// Returns a table. Its first `texts` columns are words, aligned to the left. The others are numbers, aligned to the
/// right.
pub(crate) fn table(header: &[String], texts: usize, rows: Vec<Vec<String>>) -> String {
    let mut table = Table::new();
    table
        .load_style(TableStyle::new().header_separator(LineStyle::none().fill('─').junction('─')))
        .set_header(header)
        .add_rows(rows);
    for column in table.column_iter_mut().skip(texts) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table.trim_fmt() + "\n"
}
