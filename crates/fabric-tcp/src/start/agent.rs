//! One rank's process, started here or by an agent.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::process::{Child, Command, Stdio};

use super::StartOptions;
use crate::hosts_file::Host;
use crate::secret::Secret;

/// Starts rank `rank` on `host`, and hands it the secret through its standard input.
pub(super) fn start(
    options: &StartOptions,
    host: &Host,
    rank: usize,
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
    let processor = options.processors.get(rank).copied().flatten();
    let processor = processor.map_or_else(|| "-".into(), |place| place.to_string());
    command.args(&options.arguments).args([call.to_string(), rank.to_string(), processor]);
    // A rank's standard output would mix with the results.
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // An error means that it has ended, which the run notices anyway.
        let _ = writeln!(stdin, "{}", secret.to_line());
    }
    Ok(child)
}
