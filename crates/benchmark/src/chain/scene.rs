//! Scenes instead of random numbers in the matrices of a source: echoes of targets at known places, in noise.

use serde::{Deserialize, Serialize};

/// Noise of power 1 in each element, and targets.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Scene {
    /// Synthetic-aperture radar: a target is a chirp along the row from its place on, and along the column.
    Sar {
        /// Number of points of the chirp along a column.
        row_taps: usize,
        /// Number of points of the chirp along a row.
        column_taps: usize,
        /// The targets.
        #[serde(default)]
        target: Vec<SceneTarget>,
    },
    /// Antennas that observe ranges repeatedly: row `range * antennas + antenna`, column `pulse`. A target is a wave
    /// along its beam that turns from pulse to pulse.
    Stap {
        /// The number of antennas.
        antennas: usize,
        /// Power of the ground's echo in each antenna beside the noise; `None` without an echo. The ground turns as
        /// fast as its beam is off the axis, as it does under an aeroplane.
        clutter_db: Option<f64>,
        /// The targets.
        #[serde(default)]
        target: Vec<SceneTarget>,
        /// The jammers.
        #[serde(default)]
        jammer: Vec<Jammer>,
    },
}

/// A target of a scene.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SceneTarget {
    /// SAR: the row in which its echo begins. STAP: its range.
    pub(crate) row: usize,
    /// SAR: the column in which its echo begins. STAP: the turns that it makes in all pulses.
    pub(crate) column: usize,
    /// STAP: its beam.
    #[serde(default)]
    pub(crate) beam: f64,
    /// Power in each element beside the noise.
    pub(crate) db: f64,
}

/// A jammer: noise from one direction.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Jammer {
    /// Its beam.
    pub(crate) beam: f64,
    /// Power in each antenna beside the noise.
    pub(crate) db: f64,
}

/// A target that the sink must find.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SoughtTarget {
    /// Row in the result.
    pub(crate) row: usize,
    /// Column in the result.
    pub(crate) column: usize,
    /// The required signal-to-noise ratio.
    pub(crate) at_least_db: f64,
}

impl Scene {
    /// Returns why a matrix of `rows` x `columns` cannot show the scene, if it cannot.
    pub(crate) fn mistake(&self, rows: usize, columns: usize) -> Option<String> {
        match *self {
            Scene::Sar { row_taps, column_taps, ref target } => {
                if !(1..=rows).contains(&row_taps) || !(1..=columns).contains(&column_taps) {
                    return Some(format!(
                        "has chirps of {row_taps} x {column_taps} points, which do not fit a matrix of {rows} x {columns}"
                    ));
                }
                let (row_max, column_max) = (rows - row_taps, columns - column_taps);
                let outside =
                    target.iter().find(|one| one.row > row_max || one.column > column_max);
                outside.map(|SceneTarget { row, column, .. }| {
                    format!(
                        "has a target whose echo begins at row {row}, column {column}; it fits up to row {row_max}, \
                         column {column_max}"
                    )
                })
            }
            Scene::Stap { antennas, ref target, .. } => {
                if antennas == 0 || !rows.is_multiple_of(antennas) {
                    return Some(format!(
                        "has {antennas} antennas, which do not divide its {rows} rows"
                    ));
                }
                let ranges = rows / antennas;
                let outside = target.iter().find(|one| one.row >= ranges || one.column >= columns);
                outside.map(|SceneTarget { row, column, .. }| {
                    format!("has a target in range {row} of {ranges} that turns {column} times in {columns} pulses")
                })
            }
        }
    }

    /// Returns the scene in words.
    pub(crate) fn describe(&self) -> String {
        match self {
            Scene::Sar { row_taps, column_taps, target } => {
                let targets = target.len();
                format!(
                    "{targets} targets in noise, as chirps of {row_taps} x {column_taps} points"
                )
            }
            Scene::Stap { antennas, clutter_db, target, jammer } => {
                let (targets, jammers) = (target.len(), jammer.len());
                let clutter =
                    clutter_db.map_or("no clutter".into(), |db| format!("clutter of {db} dB"));
                format!(
                    "{targets} targets in noise before {antennas} antennas, {jammers} jammers and {clutter}"
                )
            }
        }
    }
}
