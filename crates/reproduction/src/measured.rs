//! The programs by which the papers compared processors, on this machine, in the units of the papers' tables.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use kernels::classic::Classic;
use kernels::{dhrystone, whetstone};

use crate::cell::{cells, is_of, processor_cells};
use crate::error::ReproductionError;

/// Result of a program on an old processor, and on this one.
#[derive(Clone, Debug, PartialEq)]
pub struct PublishedAndHere {
    /// `paper/table/machine/program`.
    pub id: String,
    /// Unit of both.
    pub unit: String,
    /// The published value.
    pub published: f64,
    /// The value measured here.
    pub here: f64,
}

/// Returns whether this is a table of processors, or of one of them. Such tables are measured and not reproduced.
pub fn is_of_processors(table: &str) -> bool {
    let (mut others, all) = (cells().into_iter(), processor_cells());
    all.iter().any(|cell| is_of(&cell.id, table)) && !others.any(|cell| is_of(&cell.id, table))
}

/// Runs the programs of a table of processors. Calls `each` with every line as it is made.
///
/// # Errors
/// A program with a wrong result.
pub fn measure_processors(
    table: &str,
    each: &mut dyn FnMut(&PublishedAndHere),
) -> Result<(), ReproductionError> {
    for cell in processor_cells().into_iter().filter(|cell| is_of(&cell.id, table)) {
        let here = value(&cell.program)
            .map_err(|reason| ReproductionError::Cell { id: cell.id.clone(), reason })?;
        each(&PublishedAndHere { id: cell.id, unit: cell.unit, published: cell.published, here });
    }
    Ok(())
}

/// Several cells need the same number: the published ones of different machines. It is measured once.
static MEASURED: Mutex<BTreeMap<String, f64>> = Mutex::new(BTreeMap::new());

/// Returns the seconds for all repetitions of a simple program, or the operations of a synthetic one in a second.
///
/// # Errors
/// A program of another name, or one with a wrong result.
pub(crate) fn value(program: &str) -> Result<f64, String> {
    let mut measured = MEASURED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(&value) = measured.get(program) {
        return Ok(value);
    }
    let value = measure(program)?;
    measured.insert(program.into(), value);
    Ok(value)
}

const WHETSTONE_UNITS: u32 = 100;
const DHRYSTONES: u32 = 100_000;

fn measure(program: &str) -> Result<f64, String> {
    if let Some(classic) = Classic::ALL.into_iter().find(|classic| classic.name() == program) {
        return median_s(|| classic.run(classic.repetitions()));
    }
    match program {
        "whetstone" => {
            let instructions = f64::from(WHETSTONE_UNITS) * whetstone::INSTRUCTIONS_PER_UNIT as f64;
            Ok(instructions / median_s(|| whetstone::run(WHETSTONE_UNITS))?)
        }
        "dhrystone" => Ok(f64::from(DHRYSTONES) / median_s(|| dhrystone::run(DHRYSTONES))?),
        other => Err(format!("there is no program `{other}`")),
    }
}

const RUNS: usize = 5;

fn median_s<T>(program: impl Fn() -> kernels::Result<T>) -> Result<f64, String> {
    let mut times_s = [0.0; RUNS];
    for time_s in &mut times_s {
        let start = Instant::now();
        program().map_err(|error| error.to_string())?;
        *time_s = start.elapsed().as_secs_f64();
    }
    times_s.sort_by(f64::total_cmp);
    Ok(times_s[RUNS / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_measured_once_and_an_unknown_one_refused() {
        let first = value("hanoi").unwrap();
        assert!(first > 0.0);
        assert_eq!(value("hanoi").unwrap(), first);
        assert_eq!(value("ackermann").unwrap_err(), "there is no program `ackermann`");
    }

    #[test]
    fn processors_have_a_table_of_their_own() {
        assert!(is_of_processors("hypercube-1986/3") && is_of_processors("hypercube-1986/3/ipsc"));
        assert!(!is_of_processors("hypercube-1986") && !is_of_processors("hypercube-1986/5"));
        let mut lines = Vec::new();
        measure_processors("hypercube-1986/3/ipsc", &mut |line| lines.push(line.clone())).unwrap();
        // Table 3 has a line for each of seven simple programs, and three synthetic ones.
        assert_eq!(lines.len(), 10);
        assert!(lines.iter().all(|line| line.here > 0.0), "{lines:?}");
    }

    #[test]
    fn synthetic_programs_are_counted_by_the_second() {
        // No machine that runs this test is slower than the hypercubes were.
        assert!(value("whetstone").unwrap() > 684_463.0);
        assert!(value("dhrystone").unwrap() > 3_472.0);
    }
}
