//! The started processes, on this host or by an agent.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use super::{StartOptions, Starting};
use crate::hosts_file::Host;
use crate::secret::Secret;

/// Starts the process of `ranks` on `host`, and sends it the secret through its standard input.
pub(super) fn start(
    options: &StartOptions,
    host: &Host,
    ranks: &[usize],
    call: SocketAddr,
    secret: &Secret,
) -> io::Result<Child> {
    let mut command = if host.is_here() {
        Command::new(&options.program)
    } else {
        let mut command = Command::new(&options.agent);
        command.arg(&host.name).arg(&options.program);
        command
    };
    command.args(&options.arguments).arg(call.to_string());
    let numbers: Vec<String> = ranks.iter().map(usize::to_string).collect();
    command.arg(numbers.join(","));
    // A rank's standard output would mix with the results; any program's is the result.
    let mut output = Stdio::null();
    let mut input = format!("{}\n", secret.to_line());
    let mut passes_input_on = false;
    match &options.starting {
        Starting::EachRank => {
            let processor = options.processors.get(ranks[0]).copied().flatten();
            command.arg(processor.map_or_else(|| "-".into(), |place| place.to_string()));
        }
        Starting::EachHost { task, any_program } => {
            input += &format!("{task}\n");
            if *any_program {
                output = Stdio::inherit();
                passes_input_on = ranks.contains(&0);
            }
        }
    }
    let mut child = command.stdin(Stdio::piped()).stdout(output).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // An error means that it has ended, which the supervision detects anyway.
        let _ = stdin.write_all(input.as_bytes());
        if passes_input_on {
            // It ends with this process at the latest.
            std::thread::spawn(move || io::copy(&mut io::stdin().lock(), &mut stdin));
        }
    }
    Ok(child)
}
