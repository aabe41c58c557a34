//! `launch`: runs an MPI program as several ranks on this host, over shared memory or TCP.

mod activity;
mod call_sites;
mod orphans;

use std::fs::File;
use std::io::{BufRead, BufReader, PipeReader, Write};
use std::ops::ControlFlow;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use fabric_shm::{Binding, LaunchError, LaunchOptions, OnHang, Streams, Watch};
use fabric_tcp::Secret;

use crate::arguments::{Bind, HangAction, LaunchArguments, LaunchFabric};
use crate::descriptors;
use crate::failure::{Failure, STATUS_HANG};

/// Starts the ranks, and returns when all have ended.
pub(super) fn execute(arguments: LaunchArguments) -> Result<ExitCode, Failure> {
    let mut options = options(&arguments)?;
    options.descriptor_limit = descriptors::raise_limit();
    let mut readers = Vec::new();
    if arguments.prefix {
        for rank in 0..arguments.ranks {
            let streams = prefixed(rank, &mut readers).map_err(|error| {
                Failure::failed(format!("making the pipes for rank {rank}: {error}")).hint(
                    "it takes four descriptors a rank: raise `ulimit -Hn`, or leave --prefix out",
                )
            })?;
            options.streams.push(streams);
        }
    }
    orphans::adopt();
    let ended = fabric_shm::launch(&options, &mut |_| ControlFlow::Continue(()));
    if ended.is_err() {
        orphans::end();
    }
    // The readers end when the other ends of their pipes are closed.
    drop(options);
    for reader in readers {
        let _ = reader.join();
    }
    ended.map(|()| ExitCode::SUCCESS).map_err(explain)
}

fn options(arguments: &LaunchArguments) -> Result<LaunchOptions, Failure> {
    let (program, rest) = arguments.program.split_first().expect("clap asks for a program");
    let job = job(arguments.fabric, arguments.ranks)?;
    let mut options = LaunchOptions::new(arguments.ranks, job);
    options.program = PathBuf::from(program);
    options.arguments = rest.to_vec();
    options.any_program = true;
    options.environment.push(("CORNERSTONE_MPI_SIZE".into(), arguments.ranks.to_string().into()));
    if arguments.check_leaks {
        options.environment.push(("CORNERSTONE_CHECK_LEAKS".into(), "1".into()));
    }
    options.binding = match arguments.bind {
        Bind::None => Binding::None,
        Bind::Core => Binding::OneCoreEach,
        Bind::One => Binding::OneForAll,
    };
    options.watch = Some(Watch {
        on_hang: match arguments.on_hang {
            HangAction::End => OnHang::End,
            HangAction::Tell => OnHang::Tell,
        },
        standstill: arguments.watch.map(|limit| Duration::from_secs_f64(limit.0)),
        tell: activity::tell,
    });
    if arguments.ranks == 0 {
        return Err(Failure::usage("a run needs at least 1 rank, not 0"));
    }
    Ok(options)
}

/// The job of the ranks, which tells them the fabric. An empty job means shared memory.
fn job(fabric: LaunchFabric, ranks: usize) -> Result<Vec<u8>, Failure> {
    match fabric {
        LaunchFabric::Local => Ok(Vec::new()),
        LaunchFabric::Tcp if ranks > fabric_tcp::RANKS_MAX => Err(Failure::usage(format!(
            "a run over TCP has up to {} ranks, for each is connected with each, not {ranks}",
            fabric_tcp::RANKS_MAX
        ))
        .hint("more ranks run over shared memory: leave --fabric tcp out")),
        LaunchFabric::Tcp => {
            let secret = Secret::generate()
                .map_err(|error| Failure::failed(format!("no random numbers: {error}")))?;
            Ok(fabric_tcp::library::job(&secret))
        }
    }
}

/// Pipes whose lines are printed with the rank before them.
fn prefixed(rank: usize, readers: &mut Vec<JoinHandle<()>>) -> std::io::Result<Streams> {
    let (output, output_in) = std::io::pipe()?;
    let (error, error_in) = std::io::pipe()?;
    readers.push(std::thread::spawn(move || copy_lines(rank, output, std::io::stdout)));
    readers.push(std::thread::spawn(move || copy_lines(rank, error, std::io::stderr)));
    let file = |pipe| Arc::new(File::from(OwnedFd::from(pipe)));
    Ok(Streams { output: file(output_in), error: file(error_in) })
}

/// Copies lines, each with one write, so that the lines of several ranks never mix.
fn copy_lines<W: Write>(rank: usize, from: PipeReader, to: impl Fn() -> W) {
    let mut from = BufReader::new(from);
    let mut line = Vec::new();
    loop {
        line.clear();
        line.extend_from_slice(format!("[{rank}] ").as_bytes());
        let start = line.len();
        match from.read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        debug_assert!(line.len() > start);
        if line.last() != Some(&b'\n') {
            line.push(b'\n');
        }
        let mut to = to();
        if to.write_all(&line).and_then(|()| to.flush()).is_err() {
            return;
        }
    }
}

fn explain(error: LaunchError) -> Failure {
    match error {
        LaunchError::Hang { ref ranks } => {
            Failure::status(format!("{error}\n{}", activity::describe(ranks)), STATUS_HANG)
        }
        LaunchError::RankFailed { status, .. } => Failure::status(error.to_string(), status),
        LaunchError::Interrupted { signal } => Failure::signal(error.to_string(), signal),
        LaunchError::BadOptions(message) => Failure::usage(message),
        other => Failure::failed(other.to_string()),
    }
}
