//! Makes the twin of a measured machine: a simulated machine from a measured run.
//!
//! * [`TwinState`] is the state of the machine that most turns of a run have met;
//! * `evidence` takes the times of the benchmarks between two ranks from the run;
//! * `costs` derives from them the costs of a message, a copy and a collective;
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
pub use machine_file::MARK;
pub use pauses::{TwinPause, TwinPauses};
pub use states::{TurnCount, TwinState};

/// Machine made from a run, and how closely it reproduces the run's times.
#[derive(Clone, Debug, PartialEq)]
pub struct Calibration {
    /// Text of the machine file.
    pub text: String,
    /// Residual of each measured length of the ping-pong.
    pub residuals: Vec<Residual>,
    /// Pauses of its processors, if the run contains `clock`.
    pub pauses: TwinPauses,
}

/// A measured time and the twin's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Residual {
    /// Message size in bytes.
    pub size_bytes: u64,
    /// Median of the measurement in microseconds.
    pub measured_us: f64,
    /// Time of the twin in microseconds.
    pub twin_us: f64,
}

/// The reason why a run cannot be made into a machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CalibrationError {
    /// It lacks sizes of the ping-pong.
    #[error("the run holds {found} sizes of `{PING_PONG}` between 2 ranks; at least 2 are needed")]
    TooFewSizes {
        /// Number of sizes.
        found: usize,
    },
    /// An earlier version recorded it.
    #[error("the run does not say its plans in numbers: an earlier version made it; measure again")]
    PlansInWords,
    /// A rule of machine files refuses the machine made from it.
    #[error(transparent)]
    Machine(#[from] FileError),
}

/// Makes a twin named `name` of the machine that `run` measured, in the state of `states`.
///
/// # Errors
/// A run without a ping-pong of at least two sizes, or of an earlier version.
pub fn calibrate(
    name: &str,
    run: &Run,
    states: &TwinState,
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

/// Returns the time from end to end of a message whose receiver already waits.
fn end_to_end_us(machine: &Machine, bytes: u64) -> f64 {
    let ends = machine.endpoint.send.of(bytes) + machine.endpoint.receive.of(bytes);
    let data = ends + unloaded::transfer(machine, bytes, 2, MessageKind::Data);
    if machine.protocol.sends_at_once(bytes) {
        return data.as_us();
    }
    let control = unloaded::transfer(machine, 0, 2, MessageKind::Control);
    (data + control + machine.protocol.answer + control).as_us()
}
