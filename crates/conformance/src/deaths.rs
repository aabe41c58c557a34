//! Ranks that die while others wait, for fabrics whose ranks are processes.

use std::time::Duration;

use contract::{Buffer, Error, Rank, Reduction, Result, Source, Tag, TagSelector};

const TAG: Tag = Tag::new(3);

/// Runs the case `WAIT-END`: after a barrier rank 1 ends as END specifies, while the others wait as WAIT specifies.
/// Before the barrier each rank passes its process id to `report`.
///
/// # Errors
/// The outcome of a rank's wait, and an error of rank 1 if END is `error`.
///
/// # Panics
/// If `name` is not two words with a hyphen between them; and in rank 1 if END is `panic`.
pub fn one_dies(
    rank: &mut dyn Rank,
    report: impl FnOnce(&[u8]) -> Result<()>,
    name: &str,
) -> Result<()> {
    let (wait, end) = name.split_once('-').expect("a wait and an end");
    report(std::process::id().to_string().as_bytes())?;
    rank.barrier()?;
    if rank.rank() == 1 {
        std::thread::sleep(Duration::from_millis(50));
        return die(end);
    }
    wait_for_it(rank, wait)
}

fn wait_for_it(rank: &mut dyn Rank, wait: &str) -> Result<()> {
    let mut room = [0; 8];
    match wait {
        "receive" => rank.receive(Source::Rank(1), TAG.into(), &mut room).map(drop),
        "any" => rank.receive(Source::Any, TagSelector::Any, &mut room).map(drop),
        "send" => rank.send(1, TAG, &Buffer::zeroed(64 << 20)),
        "allreduce" => rank.allreduce(Reduction::SUM_F64, &[0; 8], &mut room),
        "busy" => loop {
            std::hint::spin_loop();
        },
        _ => rank.barrier(),
    }
}

fn die(end: &str) -> Result<()> {
    match end {
        "kill" => {
            let own = std::process::id().to_string();
            let _ = std::process::Command::new("kill").args(["-KILL", &own]).status();
        }
        "abort" => std::process::abort(),
        "exit" => std::process::exit(7),
        "exit0" => std::process::exit(0),
        "panic" => std::panic::resume_unwind(Box::new("on purpose")),
        "error" => return Err(Error::Program("a wrong result, on purpose".into())),
        "leaves" => {}
        // The launcher ends it.
        _ => std::thread::sleep(Duration::from_secs(1000)),
    }
    Ok(())
}

/// Fails if one of these processes still exists. `reports` are those of [`one_dies`].
///
/// # Errors
/// The process id of the first of them.
pub fn nobody_is_left(reports: &[Vec<u8>]) -> std::result::Result<(), String> {
    for report in reports {
        let process = String::from_utf8_lossy(report);
        let state = std::fs::read_to_string(format!("/proc/{process}/stat"));
        if state.is_ok_and(|state| !state.contains(") Z ")) {
            return Err(format!("process {process} is left"));
        }
    }
    Ok(())
}
