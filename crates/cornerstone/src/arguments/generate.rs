//! The arguments of `generate`.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

const GENERATE_EXAMPLES: &str = "\
Examples:
  cornerstone generate man -o ~/.local/share/man/man1
  cornerstone generate bash > ~/.local/share/bash-completion/completions/cornerstone
  cornerstone generate zsh > ~/.zfunc/_cornerstone
  cornerstone generate fish > ~/.config/fish/completions/cornerstone.fish";

/// The output of `generate`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Generated {
    /// Man pages, one for each subcommand
    Man,
    /// Completions for bash
    Bash,
    /// Completions for zsh
    Zsh,
    /// Completions for fish
    Fish,
}

#[derive(Args, Debug)]
#[command(after_help = GENERATE_EXAMPLES)]
pub(crate) struct GenerateArguments {
    /// The kind of output
    #[arg(value_enum, value_name = "WHAT")]
    pub(crate) what: Generated,

    /// The folder to write the files into; it must exist [default: standard output]
    #[arg(short, long, value_name = "FOLDER", required_if_eq("what", "man"))]
    pub(crate) output: Option<PathBuf>,
}
