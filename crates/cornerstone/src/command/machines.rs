//! `machines`: lists the simulated machines, and describes one of them.

use std::process::ExitCode;

use fabric_sim::machine;

use crate::arguments::{MachinesAction, MachinesArguments};
use crate::failure::Failure;
use crate::output::{labelled, print, wrapped};

/// Lists the machines that are built in, or describes one.
pub(crate) fn execute(arguments: &MachinesArguments) -> Result<ExitCode, Failure> {
    let text = match &arguments.action {
        None => overview(),
        Some(MachinesAction::Show { name, toml: true }) => {
            let found = machine::built_in_text(name);
            found.map_err(|error| Failure::usage(error.to_string()))?.into()
        }
        Some(MachinesAction::Show { name, toml: false }) => {
            let found = machine::find(name).map_err(|error| Failure::usage(error.to_string()))?;
            machine::show(&found).lines().map(|line| hanging(line) + "\n").collect()
        }
    };
    print(&text).map(|()| ExitCode::SUCCESS)
}

/// Breaks a line that is too long for the terminal. Its further lines are indented more.
fn hanging(line: &str) -> String {
    const TERMINAL: usize = 80;
    if line.chars().count() < TERMINAL {
        return line.into();
    }
    let indent = line.chars().take_while(|&c| c == ' ').count();
    let deeper = " ".repeat(indent + 2);
    wrapped(line, &deeper).replacen("  ", "", 1)
}

fn overview() -> String {
    let machines = machine::built_in();
    let width = 4 + machines.iter().map(|machine| machine.name.len()).max().unwrap_or(0);
    let lines = machines
        .iter()
        .map(|machine| labelled(&format!("  {}", machine.name), width, &machine.title) + "\n");
    format!(
        "{}\n`cornerstone machines show NAME` explains one, and\n`cornerstone run --fabric sim:NAME` measures it.\n\
         A file of your own does as well: --fabric sim:my-machine.toml;\n\
         `cornerstone machines show NAME --toml` prints one to begin with\n",
        lines.collect::<String>()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_machine_is_told_within_80_columns() {
        let mut all = overview();
        for machine in machine::built_in() {
            all.extend(machine::show(&machine).lines().map(|line| hanging(line) + "\n"));
        }
        assert!(all.lines().all(|line| line.chars().count() < 80), "{all}");
    }

    #[test]
    fn a_long_line_goes_on_further_to_the_right() {
        let long = format!("  {}", "word ".repeat(16).trim_end());
        // 2 + 15 x 5 - 1 = 76 characters. One more word would make 81.
        let expected = format!("  {}\n    word", "word ".repeat(15).trim_end());
        assert_eq!(hanging(&long), expected);
        assert_eq!(hanging("   0 B:  as it is"), "   0 B:  as it is");
    }
}
