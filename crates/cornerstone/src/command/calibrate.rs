//! `calibrate`: from a measured run to a machine file, the twin of the machine that was measured.

use std::fmt::Write;
use std::process::ExitCode;

use fabric_sim::calibration::{Residual, calibrate};

use crate::arguments::CalibrateArguments;
use crate::failure::Failure;
use crate::output::print;
use crate::results;

/// Makes the machine file, and shows how well the machine meets what it was made from.
pub(crate) fn execute(arguments: &CalibrateArguments) -> Result<ExitCode, Failure> {
    let run = results::read_noting_gaps(&arguments.run)?;
    let path = &arguments.output;
    if path.extension().is_none_or(|extension| extension != "toml") {
        return Err(Failure::usage(format!("'{}' does not end in .toml", path.display()))
            .hint("`--fabric sim:FILE` knows machine files by that ending"));
    }
    let name = path.file_stem().unwrap_or_default().to_string_lossy();
    let made = calibrate(&name, &run).map_err(|error| Failure::usage(error.to_string()))?;
    std::fs::write(path, &made.text)
        .map_err(|error| Failure::failed(format!("cannot write '{}': {error}", path.display())))?;
    print(&table(&made.residuals))?;
    print(&format!("\n{0}; run on it with --fabric sim:{0}\n", path.display()))?;
    Ok(ExitCode::SUCCESS)
}

fn table(residuals: &[Residual]) -> String {
    let mut text = String::from("ping-pong, bytes   measured, us       twin, us     error\n");
    for Residual { size_bytes, measured_us, twin_us } in residuals {
        let error = 100.0 * (twin_us / measured_us - 1.0);
        let _ = writeln!(text, "{size_bytes:>16}{measured_us:>15.3}{twin_us:>15.3}{error:>+8.1} %");
    }
    text
}
