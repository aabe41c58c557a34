//! The common parts of the functions over antennas. Their rows are snapshots, one after the other: the signals of all
//! antennas from one range.

use kernels::Complex64;

use super::{Function, Parameter};

pub(super) const ANTENNAS: &str = "antennas";
pub(super) const BEAM: &str = "beam";

pub(super) const ANTENNAS_PARAMETER: Parameter = Parameter {
    name: ANTENNAS,
    default: None,
    least: 1,
    meaning: "the elements of a snapshot, of which a row has a whole number",
};

pub(super) const BEAM_PARAMETER: Parameter = Parameter {
    name: BEAM,
    default: Some(0),
    least: 0,
    meaning: "the beam that is looked along, of as many as antennas",
};

/// Returns the number of snapshots in a row of `columns` elements.
pub(super) fn snapshots(function: &Function, columns: usize) -> Result<usize, String> {
    let antennas = function.number(ANTENNAS);
    match columns.is_multiple_of(antennas) {
        true => Ok(columns / antennas),
        false => Err(format!(
            "needs snapshots of {antennas} antennas, of which a row of {columns} elements is no whole number"
        )),
    }
}

/// Checks that there is a beam of this number.
pub(super) fn check_beam(function: &Function, last: usize) -> Result<(), String> {
    let antennas = function.number(ANTENNAS);
    match last < antennas {
        true => Ok(()),
        false => Err(format!(
            "looks along beam {last}; with {antennas} antennas there are 0 to {}",
            antennas - 1
        )),
    }
}

/// Returns the signals of `antennas` antennas half a wavelength apart for a wave along a beam: antenna a turns by a
/// `beam` / `antennas` of a circle.
pub(crate) fn steering(antennas: usize, beam: f64) -> Vec<Complex64> {
    let turn = std::f64::consts::TAU * beam / antennas as f64;
    (0..antennas).map(|antenna| Complex64::cis(turn * antenna as f64)).collect()
}
