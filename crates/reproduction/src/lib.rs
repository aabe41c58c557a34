//! The tables of the papers, recomputed: by running the benchmarks on the simulated machines, or by formula where the
//! paper gives one, each cell beside the published one. The programs that the papers compared processors by run on this
//! machine, beside the old ones.
//!
//! The cells stand in `papers/*.toml` with how each is to be computed. A cell without a published value is one that was
//! kept back to check predictions against.
#![forbid(unsafe_code)]

mod cell;
mod formula;
mod measured;
mod simulated;

use serde::Serialize;

pub use cell::{How, cells};
pub use simulated::Simulator;

/// A published cell and ours.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// `paper/table/row/column`.
    pub id: String,
    /// The unit of all values here.
    pub unit: String,
    /// What was published; `None` where it was kept back.
    pub published: Option<f64>,
    /// What we compute.
    pub ours: f64,
    /// Whether the machine was fitted to this cell.
    pub how: How,
    /// `ours / published - 1`; `None` where nothing was published, where zero was and ours is not, and where ours is of
    /// another machine.
    pub error: Option<f64>,
}

/// Why a table cannot be reproduced.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReproductionError {
    /// No cell's id begins so.
    #[error("there is no table `{0}`; there are: {1}")]
    Unknown(String, String),
    /// A cell's own program failed.
    #[error("{id}: {reason}")]
    Cell {
        /// The cell.
        id: String,
        /// What went wrong.
        reason: String,
    },
}

/// Recomputes the cells of a paper or a table (`mitre-1995`, `mitre-1995/4.4`), or all if none is named. `each` gets
/// every row as it is made.
///
/// # Errors
/// A name that is no paper and no table, and whatever goes wrong with a cell.
pub fn reproduce(
    table: Option<&str>,
    each: &mut dyn FnMut(&Row),
) -> Result<Vec<Row>, ReproductionError> {
    let wanted: Vec<_> = cells().into_iter().filter(|cell| cell.belongs_to(table)).collect();
    if let (true, Some(table)) = (wanted.is_empty(), table) {
        return Err(ReproductionError::Unknown(table.into(), tables().join(", ")));
    }
    let mut simulator = Simulator::default();
    let mut rows = Vec::with_capacity(wanted.len());
    for cell in wanted {
        let ours = cell
            .compute(&mut simulator)
            .map_err(|reason| ReproductionError::Cell { id: cell.id.clone(), reason })?;
        let comparable = cell.published.filter(|_| cell.how != How::Measured);
        let error = comparable.and_then(|published| relative_error(ours, published));
        let row = Row {
            id: cell.id,
            unit: cell.unit,
            published: cell.published,
            ours,
            how: cell.how,
            error,
        };
        each(&row);
        rows.push(row);
    }
    Ok(rows)
}

fn relative_error(ours: f64, published: f64) -> Option<f64> {
    match (ours, published) {
        (0.0, 0.0) => Some(0.0),
        (_, 0.0) => None,
        _ => Some(ours / published - 1.0),
    }
}

/// The tables that there are, as `paper/table`.
pub fn tables() -> Vec<String> {
    let table = |id: &str| id.splitn(3, '/').take(2).collect::<Vec<_>>().join("/");
    let mut tables: Vec<String> = cells().iter().map(|cell| table(&cell.id)).collect();
    tables.dedup();
    tables
}

#[cfg(test)]
mod tests {
    use super::*;

    fn error_limit(row: &Row) -> f64 {
        match row.how {
            How::Fitted => 0.05,
            How::Predicted => 0.15,
            How::Formula => 0.03,
            How::Measured => unreachable!("another machine is no error"),
        }
    }

    #[test]
    fn ids_are_unique_and_lower_case() {
        let mut ids: Vec<String> = cells().into_iter().map(|cell| cell.id).collect();
        assert!(ids.iter().all(|id| !id.contains(|c: char| c.is_whitespace() || c.is_uppercase())));
        let count = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }

    #[test]
    fn every_published_cell_is_met_within_its_limit() {
        let rows = reproduce(None, &mut |_| {}).unwrap();
        let missed: Vec<&str> = rows
            .iter()
            .filter(|row| row.published.is_some() && row.how != How::Measured)
            .filter(|row| row.error.is_none_or(|error| error.abs() > error_limit(row)))
            .map(|row| row.id.as_str())
            .collect();
        assert!(missed.is_empty(), "{missed:?}");
        let measured = rows.iter().filter(|row| row.how == How::Measured);
        assert!(measured.clone().all(|row| row.ours > 0.0 && row.error.is_none()));
        assert!(measured.count() > 0);
    }

    #[test]
    fn an_unknown_table_gets_the_list() {
        let error = reproduce(Some("mitre-1995/9.9"), &mut |_| {}).unwrap_err();
        assert!(error.to_string().contains("mitre-1995/4.4"), "{error}");
    }
}
