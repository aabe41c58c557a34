//! The cells of a table, recomputed beside the published ones.

use serde::Serialize;

use crate::cell::{How, cells, processor_cells};
use crate::error::ReproductionError;
use crate::simulated::Simulator;

/// A published cell and the recomputed one.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// `paper/table/row/column`.
    pub id: String,
    /// Unit of all values here.
    pub unit: String,
    /// The published value; `None` if it was withheld.
    pub published: Option<f64>,
    /// The recomputed value.
    pub ours: f64,
    /// Kind of the recomputed value.
    pub how: How,
    /// `ours / published - 1`; `None` if nothing was published, if zero was published and ours is not zero, or if a
    /// bound was published.
    pub error: Option<f64>,
    /// True if the published value is the largest that the paper found, which ours must not exceed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub at_most: bool,
}

/// Recomputes the cells of a paper or a table (`mitre-1995`, `mitre-1995/4.4`), or all if none is named. Calls `each`
/// with every row as it is made.
///
/// # Errors
/// A name that is neither a paper nor a table, and errors of a cell.
pub fn reproduce(
    table: Option<&str>,
    each: &mut dyn FnMut(&Row),
) -> Result<Vec<Row>, ReproductionError> {
    let wanted: Vec<_> = cells().into_iter().filter(|cell| cell.belongs_to(table)).collect();
    if let (true, Some(table)) = (wanted.is_empty(), table) {
        return Err(unknown(table));
    }
    let mut simulator = Simulator::default();
    let mut rows = Vec::with_capacity(wanted.len());
    for cell in wanted {
        let ours = cell
            .compute(&mut simulator)
            .map_err(|reason| ReproductionError::Cell { id: cell.id.clone(), reason })?;
        let at_most = cell.is_bound();
        let comparable = cell.published.filter(|_| !at_most);
        let error = comparable.and_then(|published| relative_error(ours, published));
        let row = Row {
            id: cell.id,
            unit: cell.unit,
            published: cell.published,
            ours,
            how: cell.how,
            error,
            at_most,
        };
        each(&row);
        rows.push(row);
    }
    Ok(rows)
}

/// Inverse of the precision of relative errors.
const PRECISION: f64 = 1e12;

fn relative_error(ours: f64, published: f64) -> Option<f64> {
    match (ours, published) {
        (0.0, 0.0) => Some(0.0),
        (_, 0.0) => None,
        // Beyond this precision there is only rounding.
        _ => Some(((ours / published - 1.0) * PRECISION).round() / PRECISION + 0.0),
    }
}

/// Returns the names of all tables, as `paper/table`, each once. A paper's table and section with one number share a
/// name.
pub fn tables() -> Vec<String> {
    let mut tables: Vec<String> = Vec::new();
    let ids = cells().into_iter().map(|cell| cell.id);
    for table in
        ids.chain(processor_cells().into_iter().map(|cell| cell.id)).map(|id| table_of(&id))
    {
        if !tables.contains(&table) {
            tables.push(table);
        }
    }
    tables
}

/// Least similarity of a suggested table.
const SIMILAR: f64 = 0.7;

/// Returns the error for a name that is no table, with the most similar table or paper.
pub(crate) fn unknown(name: &str) -> ReproductionError {
    let tables = tables();
    let papers = tables.iter().filter_map(|table| table.split('/').next());
    let names = papers.chain(tables.iter().map(String::as_str));
    let nearest = benchmark::most_similar(name, names, SIMILAR).map(String::from);
    ReproductionError::Unknown { name: name.into(), nearest }
}

/// Returns the table of a cell, as `paper/table`.
fn table_of(id: &str) -> String {
    id.splitn(3, '/').take(2).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn error_limit(row: &Row) -> f64 {
        match row.how {
            How::Fitted => 0.05,
            How::Predicted => 0.15,
            How::Formula => 0.03,
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

    /// Tests cells that others refer to by id. The eight-node cells and table 11 have no published value here.
    #[test]
    fn cells_that_are_kept_back_have_rows_and_no_published_value() {
        let mut wanted = vec![
            ("mitre-1995/4.4/8/sum-mb-per-s".to_string(), true),
            ("mitre-1995/4.5/3-12/rate-mb-per-s".into(), false),
            ("mitre-1995/4.6/7-15/rate-mb-per-s".into(), false),
            ("mpi-sharc-2002/3/eight-node-sharc/latency-us".into(), false),
            ("mpi-sharc-2002/3/eight-node-sharc/bandwidth-mb-per-s".into(), false),
            ("fem-1983/6/perfect-shuffle/time-us".into(), true),
        ];
        for row in ["4/sharc", "5/sharc", "5/sharc-in-place"] {
            for quantity in ["latency-us", "bandwidth-mb-per-s"] {
                for (nodes, is_measured) in [("four", true), ("eight", false)] {
                    wanted.push((
                        format!("mpi-sharc-2002/{row}/{nodes}-node-{quantity}"),
                        is_measured,
                    ));
                }
            }
        }
        for operation in ["unicast", "broadcast", "allgather", "in-place-allgather"] {
            for size in ["small", "large"] {
                for system in ["enhanced-clock", "enhanced-data-rate", "tigersharc"] {
                    let id = format!("mpi-sharc-2002/11/{operation}-{size}/{system}-percent");
                    wanted.push((id, false));
                }
            }
        }
        let cells = cells();
        for (id, is_known) in wanted {
            let cell = cells.iter().find(|cell| cell.id == id);
            let cell = cell.unwrap_or_else(|| panic!("{id} has no row"));
            assert_eq!(cell.published.is_some(), is_known, "{id}");
            assert!(matches!(cell.how, How::Fitted | How::Predicted | How::Formula), "{id}");
        }
    }

    /// The page that explains missed cells, each by its id.
    const EXPLANATIONS: &str = include_str!("../../../docs/simulation/papers.md");

    fn misses(row: &Row) -> bool {
        match (row.at_most, row.published) {
            (true, Some(most)) => row.ours > most,
            (false, Some(_)) => row.error.is_none_or(|error| error.abs() > error_limit(row)),
            (_, None) => false,
        }
    }

    /// Tables of long simulations.
    const LONG: [&str; 3] = ["mitre-1995/4.4", "mitre-1995/4.9", "mitre-1995/6.1"];

    fn is_met_or_explained(table: &str) {
        for row in &reproduce(Some(table), &mut |_| {}).unwrap() {
            let explained = EXPLANATIONS.contains(&format!("`{}`", row.id));
            assert_eq!(misses(row), explained, "{row:?}");
        }
    }

    #[test]
    fn every_published_cell_is_met_within_its_limit_or_its_miss_explained() {
        let simulated: BTreeSet<String> = cells().iter().map(|cell| table_of(&cell.id)).collect();
        let short = simulated.iter().filter(|table| !LONG.contains(&table.as_str()));
        short.for_each(|table| is_met_or_explained(table));
    }

    #[test]
    #[ignore = "long"]
    fn every_published_cell_of_long_simulations_is_met_or_its_miss_explained() {
        LONG.iter().for_each(|table| is_met_or_explained(table));
    }

    /// Tests MITRE table 4.4 by two of its rows: p pairs that do not send a share u of all messages, with a sum S, have
    /// a fastest pair of S / (p (1 - u)).
    #[test]
    fn unsent_shares_are_counted_over_all_processors() {
        let published = |processors: usize, column: &str| {
            let id = format!("mitre-1995/4.4/{processors}/{column}");
            cells().into_iter().find(|cell| cell.id == id).unwrap().published.unwrap()
        };
        let fastest = |processors: usize, senders_share: f64| {
            let unsent = published(processors, "unsent-percent") / 100.0 / senders_share;
            published(processors, "sum-mb-per-s") / ((processors / 2) as f64 * (1.0 - unsent))
        };
        let alone = published(2, "sum-mb-per-s");
        for processors in [6, 8, 10, 12, 14, 16] {
            // Half of all processors send: the fastest pair is nearly as fast as one pair alone.
            let found = fastest(processors, 0.5);
            assert!((0.9..1.0).contains(&(found / alone)), "{processors}: {found}");
        }
        // If the share were that of the senders alone, the fastest pair would be slowed down by pairs that share no
        // link with it but the last.
        assert!(fastest(6, 1.0) > 59.0 && fastest(16, 1.0) < 31.0);
    }

    #[test]
    fn an_unknown_table_gets_the_nearest_one_and_each_is_listed_once() {
        let error = |name| reproduce(Some(name), &mut |_| {}).unwrap_err().to_string();
        let nearest = "there is no paper or table `mitre-1995/44`; did you mean `mitre-1995/4.4`?";
        assert_eq!(error("mitre-1995/44"), nearest);
        assert_eq!(error("foo"), "there is no paper or table `foo`");
        let mut tables = tables();
        let all = tables.len();
        tables.sort_unstable();
        tables.dedup();
        assert_eq!(tables.len(), all);
    }
}
