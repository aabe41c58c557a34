//! `calibrate`: makes a machine file, the twin of the measured machine, from a run.

mod tails;
mod validation;

use std::path::Path;
use std::process::ExitCode;

use calibration::{Calibration, CalibrationError, Residual, TwinPauses, TwinState};
use record::Run;

use crate::arguments::{CalibrateArguments, RankCounts};
use crate::failure::Failure;
use crate::output::{print, table};
use crate::output_file;
use crate::results;

/// Command that measures everything that a twin is made from.
const MEASURE: &str = "cornerstone run clock-cost copy ping-pong bandwidth two-way-bandwidth reduce broadcast --ranks 2 --turns 5";

/// Writes the machine file and shows the errors of the twin for the times that it was made from. With `--validate` it
/// also holds part of the run back and shows the prediction errors of a twin of the rest.
pub(crate) fn execute(arguments: &CalibrateArguments) -> Result<ExitCode, Failure> {
    let run = results::read_noting_gaps(&arguments.run)?;
    if let Some(path) = &arguments.output {
        write_twin(path, &run)?;
    }
    if arguments.validate {
        print(&validation::report(&run)?)?;
    }
    if arguments.tails {
        let ranks = arguments.ranks.as_ref().map(|RankCounts(ranks)| &ranks[..]);
        print(&tails::report(&run, ranks)?)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write_twin(path: &Path, run: &Run) -> Result<(), Failure> {
    if path.extension().is_none_or(|extension| extension != "toml") {
        return Err(Failure::usage(format!("'{}' does not end in .toml", path.display()))
            .hint("`--fabric sim:FILE` knows machine files by that ending"));
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let states = TwinState::of(run);
    let made = twin(&name, run, &states)?;
    let is_twin = |path: &Path| output_file::is_marked(path, calibration::MARK);
    output_file::replace(path, &"the twin", is_twin, &made.text)?;
    print(&residuals(&made.residuals))?;
    print(&format!("\n{states}\n"))?;
    print(&pauses(&made.pauses))?;
    print(&format!("\n{0}; run on it with --fabric sim:{0}\n", path.display()))
}

/// Returns the twin of the machine that `run` measured.
///
/// # Errors
/// If the run lacks measurements. The error names them and the command that makes them.
fn twin(name: &str, run: &Run, states: &TwinState) -> Result<Calibration, Failure> {
    calibration::calibrate(name, run, states).map_err(|error| {
        Failure::usage(match error {
            CalibrationError::TooFewSizes { .. } => format!("{error} (measure with `{MEASURE}`)"),
            CalibrationError::PlansInWords | CalibrationError::Machine(_) => error.to_string(),
        })
    })
}

fn residuals(residuals: &[Residual]) -> String {
    let header = ["ping-pong, bytes", "measured, us", "twin, us", "error"].map(String::from);
    let row = |residual: &Residual| {
        let Residual { size_bytes, measured_us, twin_us } = *residual;
        compared(vec![size_bytes.to_string()], measured_us, twin_us)
    };
    table(&header, 0, residuals.iter().map(row).collect())
}

/// Returns the pauses that are in the file, and those that could not be.
fn pauses(found: &TwinPauses) -> String {
    if !found.looked {
        return "\nno pauses: the run contains no `clock`; measure it in the same run to give the twin the pauses of the machine\n"
            .into();
    }
    let line = |text: String| format!("  {text}\n");
    let written: String = found.written.iter().map(|pause| line(pause.to_string())).collect();
    let left_out: String = found.left_out.iter().cloned().map(line).collect();
    let irregular = found.written.iter().any(|pause| !pause.kind.regular);
    let mut text = match written.is_empty() {
        true => "\nno pauses: `clock` saw none\n".into(),
        false => format!("\npauses\n{written}"),
    };
    if irregular {
        text += "  (irregular ones fit no period: they come once in each mean distance, at a random moment of it)\n";
    }
    match left_out.is_empty() {
        true => text,
        false => format!("{text}pauses that are not in the file\n{left_out}"),
    }
}

/// Appends the measured time, the twin's and the twin's error to a row.
fn compared(mut row: Vec<String>, measured_us: f64, twin_us: f64) -> Vec<String> {
    // Rounded first: an error of nothing has no sign.
    let error = (1000.0 * (twin_us / measured_us - 1.0)).round() / 10.0 + 0.0;
    row.extend([format!("{measured_us:.3}"), format!("{twin_us:.3}"), format!("{error:+.1} %")]);
    row
}
