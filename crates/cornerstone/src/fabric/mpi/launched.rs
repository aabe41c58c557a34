//! Starts the launcher of an MPI.
//!
//! This program plans and keeps the results. For each launch it starts itself again under the launcher. The launcher
//! connects its standard input and output with those of rank 0. The launch is written to rank 0 as a line of JSON, and
//! rank 0 writes each report as a line of JSON behind a mark.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, ExitCode, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use benchmark::Launch;
use contract::{Error, Result as RankResult};
use fabric_mpi::{Flavour, Launcher, Options, World, launcher};
use serde::{Deserialize, Serialize};

use super::{be_a_rank, execute, not_joined};
use crate::arguments::FabricChoice;
use crate::fabric::job::{LaunchEnd, OnReport, RankReport, exit_code};
use crate::interruption::Interruption;
use crate::progress::note;

/// First argument of a process that is a rank. The second is a [`JoinArgument`].
const RANK: &str = "--as-an-mpi-rank";
/// Mark before each report. It begins with a control character that no library prints by accident.
const MARK: &str = "\u{1e}cornerstone ";
/// Longest delay until a signal is noticed.
const SIGNAL_CHECK_INTERVAL: Duration = Duration::from_millis(50);

/// Information that a rank needs to join the world.
#[derive(Debug, Serialize, Deserialize)]
struct JoinArgument {
    library: Option<PathBuf>,
    name: String,
}

/// Starts the launcher of `flavour` for `launch`, and returns when all ranks have ended.
pub(in crate::fabric) fn launch(
    flavour: Flavour,
    library: Option<&Path>,
    launch: &Launch,
    on_report: &mut OnReport<'_>,
) -> Result<(), LaunchEnd> {
    let failed = |words: String| LaunchEnd::Failed(words);
    let found = Launcher::find(flavour, library).map_err(|error| failed(error.to_string()))?;
    let program = std::env::current_exe()
        .map_err(|error| failed(format!("this program's own file cannot be found: {error}")))?;
    let argument = JoinArgument {
        library: found.library.clone(),
        name: FabricChoice::MpiLaunched(flavour).to_string(),
    };
    let argument = serde_json::to_string(&argument).expect("an argument is plain data");
    let interruption = Interruption::watch();
    let mut command = found.command(launch.ranks, &program, &[RANK.into(), argument]);
    let mut child =
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().map_err(|error| {
            failed(format!("cannot start '{}': {error}", found.mpiexec.display()))
        })?;
    let (stdin, stdout) = (child.stdin.take().expect("piped"), child.stdout.take().expect("piped"));
    // A launcher that ends at once does not read its input. Its exit status is reported then.
    let _ = hand_in(stdin, launch);
    let heard = listen(&lines(stdout), &interruption, on_report);
    if let Err(end) = heard {
        launcher::end(&mut child);
        return Err(end);
    }
    wait(&mut child, &found, &interruption)
}

fn hand_in(mut stdin: ChildStdin, launch: &Launch) -> std::io::Result<()> {
    let mut line = serde_json::to_vec(launch).expect("a launch is plain data");
    line.push(b'\n');
    stdin.write_all(&line)
}

/// Returns the lines of the launcher's output, as they arrive.
fn lines(stdout: ChildStdout) -> Receiver<String> {
    let (sender, receiver) = channel();
    std::thread::spawn(move || {
        for line in BufReader::new(stdout).split(b'\n').map_while(Result::ok) {
            if sender.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
        }
    });
    receiver
}

/// Passes the reports of rank 0 on until the launcher's output ends.
fn listen(
    lines: &Receiver<String>,
    interruption: &Interruption,
    on_report: &mut OnReport<'_>,
) -> Result<(), LaunchEnd> {
    loop {
        if let Some(signal) = interruption.signal() {
            return Err(LaunchEnd::Interrupted(signal));
        }
        let line = match lines.recv_timeout(SIGNAL_CHECK_INTERVAL) {
            Ok(line) => line,
            Err(RecvTimeoutError::Timeout) => continue,
            Err(RecvTimeoutError::Disconnected) => return Ok(()),
        };
        let Some((before, message)) = line.split_once(MARK) else {
            note(&line);
            continue;
        };
        if !before.is_empty() {
            note(before);
        }
        let report = serde_json::from_str(message).map_err(|error| {
            LaunchEnd::Failed(format!("rank 0 said what is not to be understood: {error}"))
        })?;
        if on_report(report).is_break() {
            return Err(LaunchEnd::Stopped);
        }
    }
}

fn wait(
    child: &mut Child,
    launcher: &Launcher,
    interruption: &Interruption,
) -> Result<(), LaunchEnd> {
    let ended = child.wait();
    if let Some(signal) = interruption.signal() {
        return Err(LaunchEnd::Interrupted(signal));
    }
    match ended {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(LaunchEnd::Failed(format!(
            "'{}' ended with {status}; what it and the ranks said stands above",
            launcher.mpiexec.display()
        ))),
        Err(error) => Err(LaunchEnd::Failed(format!("waiting for the launcher: {error}"))),
    }
}

/// Executes a rank's part if the launcher has started this process as a rank.
pub(in crate::fabric) fn serve() -> Option<ExitCode> {
    let mut arguments = std::env::args().skip(1);
    if arguments.next()? != RANK {
        return None;
    }
    let argument = arguments.next().and_then(|text| serde_json::from_str(&text).ok());
    let Some(JoinArgument { library, name }) = argument else {
        note(&format!("cornerstone: error: {RANK} is for this program itself"));
        return Some(exit_code(2));
    };
    let world = match World::join(Options { library, name, ..Options::default() }) {
        Ok(world) => world,
        Err(error) => return Some(not_joined(&error, false).report()),
    };
    Some(if world.rank() == 0 { be_the_first(world) } else { be_a_rank(world) })
}

/// Reads the launch, distributes it, executes it, and reports on it.
fn be_the_first(world: World) -> ExitCode {
    let outcome = read_and_execute(&world);
    if let Err(error) = &outcome {
        note(&format!("cornerstone: error: rank 0: {error}"));
    }
    exit_code(world.finish(&outcome))
}

fn read_and_execute(world: &World) -> RankResult<()> {
    let mut work = Vec::new();
    // One line is read, not all input, because some launchers do not pass the end of their input on.
    let read = std::io::stdin().lock().read_until(b'\n', &mut work);
    let reading = |reason: String| Error::System { what: "reading the launch".into(), reason };
    read.map_err(|error| reading(error.to_string()))?;
    let launch: Launch =
        serde_json::from_slice(&work).map_err(|error| reading(error.to_string()))?;
    world.hand_out(&work)?;
    execute(world, &launch, &mut |message| say(&message))?;
    world.hand_out(&[])
}

fn say(message: &RankReport) -> RankResult<()> {
    let text = serde_json::to_string(message).expect("messages are plain data");
    let mut stdout = std::io::stdout().lock();
    let written = writeln!(stdout, "{MARK}{text}").and_then(|()| stdout.flush());
    written.map_err(|error| Error::System {
        what: "handing a message to the launcher".into(),
        reason: error.to_string(),
    })
}
