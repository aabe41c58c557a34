//! What `launch` takes.

use std::ffi::OsString;

use clap::{Args, ValueEnum};

const LAUNCH_EXAMPLES: &str = "\
Examples:
  cornerstone launch -n 4 ./program input.txt            four ranks of an MPI program
  cornerstone launch -n 2 --bind core ./program          rank 0 on the first processor, rank 1 on the second
  cornerstone launch -n 2 --prefix python3 program.py    [0] or [1] before each line of output

The program must use libmpi_abi.so.1 of this build, which the loader finds by LD_LIBRARY_PATH or the
program's own run path. Options of the program follow its name.

Standard input goes to rank 0. SIGINT, SIGTERM and SIGHUP are passed on
and end the ranks; SIGUSR1 and SIGUSR2 are passed on. No rank outlives this command.

Exit status: that of the first rank that failed, or 128 and the number of the signal; else 0.";

/// Where ranks run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Bind {
    /// Where the system puts them, and it may move them
    #[default]
    None,
    /// Rank r on the r-th processor that this process may use, in turns if there are more ranks
    Core,
    /// All on the first processor that this process may use
    One,
}

#[derive(Args, Debug)]
#[command(after_help = LAUNCH_EXAMPLES)]
pub(crate) struct LaunchArguments {
    /// How many ranks
    #[arg(short = 'n', long = "ranks", value_name = "NUMBER")]
    pub(crate) ranks: usize,

    /// Where the ranks run
    #[arg(long, value_enum, default_value_t)]
    pub(crate) bind: Bind,

    /// Put the rank before each line of output
    #[arg(long)]
    pub(crate) prefix: bool,

    /// At MPI_Finalize, tell which requests, communicators, datatypes and other objects were not freed (our library only)
    #[arg(long)]
    pub(crate) check_leaks: bool,

    /// The program and its arguments
    #[arg(
        value_name = "PROGRAM",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub(crate) program: Vec<OsString>,
}
