//! The options of `launch` for the standard input and output of the ranks.

use std::str::FromStr;

use clap::Args;
use serde::{Deserialize, Serialize};

#[derive(Args, Clone, Debug, Default, Serialize, Deserialize)]
#[command(next_help_heading = "Input and output of the ranks")]
pub(crate) struct StreamArguments {
    /// Prefix each line of output with its rank
    #[arg(long)]
    pub(crate) prefix: bool,

    /// Prefix each line of output with the time at which it came (UTC)
    #[arg(long)]
    pub(crate) timestamps: bool,

    /// Write what ranks write to standard error to their standard output
    #[arg(long, conflicts_with = "error_files")]
    pub(crate) merge_errors: bool,

    /// Write the standard output of the ranks to files: in PATTERN, %r is the rank, %h the host and %% a '%'; missing
    /// folders are made
    #[arg(long, value_name = "PATTERN")]
    pub(crate) output_files: Option<String>,

    /// The same for standard error
    #[arg(long, value_name = "PATTERN")]
    pub(crate) error_files: Option<String>,

    /// Who reads standard input: the number of a rank, all or none [default: 0]
    #[arg(long, value_name = "RANK")]
    pub(crate) stdin: Option<Readers>,
}

/// The ranks that read the standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Readers {
    /// One of them.
    One(usize),
    /// Each reads all of it.
    All,
    /// None: it is empty for all of them.
    None,
}

impl Default for Readers {
    fn default() -> Self {
        Readers::One(0)
    }
}

impl FromStr for Readers {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match (text, text.parse()) {
            ("all", _) => Ok(Readers::All),
            ("none", _) => Ok(Readers::None),
            (_, Ok(rank)) => Ok(Readers::One(rank)),
            _ => Err(format!("'{text}' is no rank: write a number, all or none")),
        }
    }
}

impl StreamArguments {
    /// Returns whether something stands before each line.
    pub(crate) fn marks_lines(&self) -> bool {
        self.prefix || self.timestamps
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn standard_input_is_for_one_rank_for_all_or_for_none() {
        assert_eq!("3".parse(), Ok(Readers::One(3)));
        assert_eq!("all".parse(), Ok(Readers::All));
        assert_eq!("none".parse(), Ok(Readers::None));
        assert!("0,1".parse::<Readers>().unwrap_err().contains("'0,1' is no rank"));
    }
}
