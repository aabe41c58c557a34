//! `machines`: which machines are simulated, and what one of them is.

use std::process::ExitCode;

use fabric_sim::machine;

use crate::arguments::{MachinesAction, MachinesArguments};
use crate::failure::Failure;
use crate::output::print;

/// Lists the machines that are built in, or explains one.
pub(crate) fn execute(arguments: &MachinesArguments) -> Result<ExitCode, Failure> {
    let text = match &arguments.action {
        None => overview(),
        Some(MachinesAction::Show { name }) => {
            machine::show(&machine::find(name).map_err(|error| Failure::usage(error.to_string()))?)
        }
    };
    print(&text).map(|()| ExitCode::SUCCESS)
}

fn overview() -> String {
    let machines = machine::built_in();
    let width = machines.iter().map(|machine| machine.name.len()).max().unwrap_or(0);
    let lines =
        machines.iter().map(|machine| format!("  {:width$}  {}\n", machine.name, machine.title));
    format!(
        "{}\n`cornerstone machines show NAME` explains one; `cornerstone run --fabric sim:NAME` measures it.\n\
         A file of your own does as well: --fabric sim:my-machine.toml\n",
        lines.collect::<String>()
    )
}
