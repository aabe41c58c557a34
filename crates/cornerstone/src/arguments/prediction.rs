//! The options of programs on simulated machines.

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use super::fabric::FabricChoice;
use super::simulation::LevelChoice;

/// Time of a program's computing on a simulated machine.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Compute {
    /// No time.
    None,
    /// The processor's time here, multiplied by a factor.
    Measured(f64),
    /// The time in a recording.
    Recorded(PathBuf),
}

impl Default for Compute {
    fn default() -> Self {
        Compute::Measured(1.0)
    }
}

impl FromStr for Compute {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong =
            || format!("'{text}' is none of: none, measured, measured*FACTOR, recorded:FILE");
        if let Some(file) = text.strip_prefix("recorded:").filter(|file| !file.is_empty()) {
            return Ok(Compute::Recorded(file.into()));
        }
        match text.split_once('*') {
            None if text == "none" => Ok(Compute::None),
            None if text == "measured" => Ok(Compute::Measured(1.0)),
            Some(("measured", factor)) => match factor.parse::<f64>() {
                Ok(factor) if factor > 0.0 && factor <= 1e6 => Ok(Compute::Measured(factor)),
                Ok(_) => {
                    Err(format!("a factor of computing is above 0 and up to 1e6, not {factor}"))
                }
                Err(_) => Err(wrong()),
            },
            _ => Err(wrong()),
        }
    }
}

#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Simulated machines (--fabric sim:MACHINE)")]
pub(crate) struct PredictionArguments {
    /// The time of computing: none, measured (the processor time that the program uses on this machine),
    /// measured*FACTOR, such as measured*0.5 for a processor twice as fast, or recorded:FILE, as in a recording of the
    /// program [default: measured]
    #[arg(long, value_name = "HOW")]
    pub(crate) compute: Option<Compute>,

    /// The level of detail [default: that of the machine file]
    #[arg(long, value_enum)]
    pub(crate) level: Option<LevelChoice>,

    /// The number of ranks on each processor of the machine: rank r is on processor r / N [default: that of the machine
    /// file, or 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) ranks_per_processor: Option<u32>,

    /// The seed of everything random, such as pauses of the operating system [default: 1]
    #[arg(long, value_name = "NUMBER")]
    pub(crate) seed: Option<u64>,
}

/// Help of `--compute` for commands that run no program.
pub(super) const COMPUTE_OF_RECORDINGS: &str = "The time of computing: measured (as recorded), measured*FACTOR, such as \
     measured*0.5 for a processor twice as fast, or none [default: measured]";

const REPLAY_EXAMPLES: &str = "\
Examples:
  cornerstone replay program.rec --fabric sim:cluster                   on another machine
  cornerstone replay program.rec --fabric sim:cluster --compute none    its messages alone
  cornerstone replay program.rec --to program.goal                      a file of LogGOPSim";

#[derive(Args, Debug)]
#[command(after_help = REPLAY_EXAMPLES, mut_arg("compute", |arg| arg.help(COMPUTE_OF_RECORDINGS)))]
pub(crate) struct ReplayArguments {
    /// The recording, made by `cornerstone launch --fabric sim:MACHINE --record FILE`, or a file of another simulator:
    /// FILE.goal of LogGOPSim, FILE.ti or .txt of SimGrid (time-independent traces, or an index that names one file a
    /// rank)
    #[arg(value_name = "FILE")]
    pub(crate) recording: PathBuf,

    /// The machine to replay it on: sim:MACHINE
    #[arg(long, value_name = "FABRIC")]
    pub(crate) fabric: Option<FabricChoice>,

    /// Convert the recording to a file of another simulator
    #[arg(long, value_name = "FILE")]
    pub(crate) to: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) prediction: PredictionArguments,
}

impl PredictionArguments {
    /// Returns the first given option, as typed.
    pub(crate) fn given(&self) -> Option<&'static str> {
        [
            (self.compute.is_some(), "--compute"),
            (self.level.is_some(), "--level"),
            (self.ranks_per_processor.is_some(), "--ranks-per-processor"),
            (self.seed.is_some(), "--seed"),
        ]
        .into_iter()
        .find_map(|(given, option)| given.then_some(option))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn computing_takes_no_time_or_a_factor_of_it() {
        assert_eq!("none".parse(), Ok(Compute::None));
        assert_eq!("measured".parse(), Ok(Compute::Measured(1.0)));
        assert_eq!("measured*0.25".parse(), Ok(Compute::Measured(0.25)));
        assert_eq!("recorded:a*b".parse(), Ok(Compute::Recorded("a*b".into())));
        for (text, words) in [
            ("recorded:", "is none of"),
            ("measured*0", "above 0"),
            ("measured*-1", "above 0"),
            ("measured*nan", "above 0"),
            ("measured*", "is none of"),
            ("none*2", "is none of"),
            ("guessed", "is none of: none, measured"),
            ("", "is none of"),
        ] {
            assert!(text.parse::<Compute>().unwrap_err().contains(words), "{text}");
        }
    }
}
