//! `generate`: man pages and completions, from the definition of the command line.

use std::process::ExitCode;

use clap::CommandFactory;
use clap_complete::Shell;

use crate::arguments::{Arguments, GenerateArguments, Generated};
use crate::failure::Failure;
use crate::output::print;

const NAME: &str = "cornerstone";

/// Writes the requested output.
pub(super) fn execute(arguments: &GenerateArguments) -> Result<ExitCode, Failure> {
    let shell = match arguments.what {
        Generated::Man => None,
        Generated::Bash => Some(Shell::Bash),
        Generated::Zsh => Some(Shell::Zsh),
        Generated::Fish => Some(Shell::Fish),
    };
    let mut command = Arguments::command();
    let Some(folder) = &arguments.output else {
        let mut text = Vec::new();
        let shell = shell.expect("clap asks for a folder of man pages");
        clap_complete::generate(shell, &mut command, NAME, &mut text);
        return print(&String::from_utf8_lossy(&text)).map(|()| ExitCode::SUCCESS);
    };
    let made = match shell {
        Some(shell) => clap_complete::generate_to(shell, &mut command, NAME, folder).map(drop),
        None => clap_mangen::generate_to(command, folder),
    };
    made.map(|()| ExitCode::SUCCESS)
        .map_err(|error| Failure::failed(format!("writing into '{}': {error}", folder.display())))
}
