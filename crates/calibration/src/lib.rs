//! From a measured run to a simulated machine: the twin of the machine that was measured.
//!
//! * [`LineStates`] distinguishes the states of the machine, if the run was made in turns;
//! * `evidence` takes the times of the benchmarks between two ranks from the run;
//! * `costs` derives from them what a message, a copy and a collective cost;
//! * `machine_file` writes the costs as a machine file, each with its source.
#![forbid(unsafe_code)]

mod boards;
mod copies;
mod costs;
mod curve;
mod evidence;
mod knee;
mod machine_file;
mod pauses;
mod states;
mod times;
mod windows;
mod work;

use definition_files::FileError;
use fabric_sim::{Machine, MessageKind, machine, unloaded};
use record::Run;

use costs::Costs;
use evidence::Evidence;
pub use evidence::{CALIBRATING, PING_PONG};
pub use pauses::{TwinPause, TwinPauses};
pub use states::{LineStates, TurnCount};

/// A machine made from a run, and how well it meets what it was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// The machine file.
    pub text: String,
    /// For each measured length of the ping-pong.
    pub residuals: Vec<Residual>,
    /// The pauses of its processors, where the run holds `clock`.
    pub pauses: TwinPauses,
}

/// A measured time and the twin's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// The message size in bytes.
    pub size_bytes: u64,
    /// The median of the measurement in microseconds.
    pub measured_us: f64,
    /// The twin's in microseconds.
    pub twin_us: f64,
}

/// Why a run cannot be made into a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CalibrationError {
    /// It does not hold what is needed.
    #[error("the run holds {found} sizes of `{PING_PONG}` between 2 ranks; at least 2 are needed")]
    TooFewSizes {
        /// The number of sizes.
        found: usize,
    },
    /// An earlier version recorded it.
    #[error("the run does not say its plans in numbers: an earlier version made it; measure again")]
    PlansInWords,
    /// The machine made from it is refused, by a rule of machine files.
    #[error(transparent)]
    Machine(#[from] FileError),
}

/// A twin named `name` of the machine that `run` measured, in the state of `states`.
///
/// # Errors
/// A run without a ping-pong of at least two sizes, or of an earlier version.
pub fn calibrate(
    name: &str,
    run: &Run,
    states: &LineStates,
) -> Result<Calibration, CalibrationError> {
    let evidence = Evidence::of(run, states);
    if evidence.whole.len() < 2 {
        return Err(CalibrationError::TooFewSizes { found: evidence.whole.len() });
    }
    let fabric = &evidence.fabric;
    if fabric.shared_memory.is_none() && fabric.details.contains_key("both sides copy from") {
        return Err(CalibrationError::PlansInWords);
    }
    let pauses = pauses::find(run);
    let text = machine_file::describe(name, run, states, &Costs::of(&evidence), &pauses);
    let machine = machine::parse(name, &text)?;
    let residual = |(&size_bytes, &measured_us): (&u64, &f64)| Residual {
        size_bytes,
        measured_us,
        twin_us: end_to_end_us(&machine, size_bytes),
    };
    Ok(Calibration { residuals: evidence.whole.iter().map(residual).collect(), text, pauses })
}

/// A message that finds its receiver waiting, from end to end.
fn end_to_end_us(machine: &Machine, bytes: u64) -> f64 {
    let ends = machine.endpoint.send.of(bytes) + machine.endpoint.receive.of(bytes);
    let data = ends + unloaded::transfer(machine, bytes, 2, MessageKind::Data);
    if machine.protocol.sends_at_once(bytes) {
        return data.as_us();
    }
    let control = unloaded::transfer(machine, 0, 2, MessageKind::Control);
    (data + control + machine.protocol.answer + control).as_us()
}
