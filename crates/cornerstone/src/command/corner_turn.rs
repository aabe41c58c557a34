//! `corner-turn`: runs the corner turn of real data, or its messages alone, or writes its pattern.

use std::path::Path;
use std::process::ExitCode;

use benchmark::PatternText;
use pattern::BYTES_MAX;
use pattern::corner_turn::{self, Design, Schedule};

use super::run;
use crate::arguments::{CornerTurnArguments, RunArguments};
use crate::failure::Failure;
use crate::output_file;
use crate::progress::note;

/// Bytes of each node of a pattern unless sizes are given: 1 MiB, as in the paper's table 6.1.
const BYTES_A_NODE: u64 = 1 << 20;

pub(crate) fn execute(arguments: CornerTurnArguments) -> Result<ExitCode, Failure> {
    let design = Design::from(arguments.order);
    for &ranks in &arguments.ranks.0 {
        schedule(design, ranks)?;
    }
    if let Some(path) = &arguments.pattern_to {
        let text = pattern(&arguments, design, "--pattern-to")?.text;
        let is_ours = |path: &Path| output_file::is_marked(path, corner_turn::MARK);
        output_file::replace(path, &"the pattern", is_ours, &text)?;
        note(&format!("pattern  {}", path.display()));
        return Ok(ExitCode::SUCCESS);
    }
    if arguments.messages_only {
        let text = pattern(&arguments, design, "--messages-only")?;
        let run = arguments.periodic.run("pmp", Some(arguments.ranks));
        return run::execute(RunArguments { pattern: Some(text), ..run });
    }
    if arguments.in_step {
        return Err(Failure::usage("--in-step is for patterns: real data are turned as they come")
            .hint("add --messages-only or --pattern-to FILE, or leave --in-step out"));
    }
    run::execute(arguments.run())
}

fn schedule(design: Design, ranks: usize) -> Result<Schedule, Failure> {
    design.schedule(ranks).map_err(|error| {
        Failure::usage(error.to_string()).hint("choose other --ranks, or another --order")
    })
}

/// Returns the pattern for one number of ranks and one size.
fn pattern(
    arguments: &CornerTurnArguments,
    design: Design,
    option: &str,
) -> Result<PatternText, Failure> {
    let one = |what: &str| Failure::usage(format!("{option} takes one {what}, not several"));
    let [ranks] = arguments.ranks.0[..] else { return Err(one("number of ranks")) };
    let bytes = match arguments.sizes.as_ref().map(|sizes| sizes.bytes()) {
        None => BYTES_A_NODE / ranks as u64,
        Some(&[bytes]) => bytes,
        Some(_) => return Err(one("size")),
    };
    let bytes = u32::try_from(bytes).ok().filter(|&bytes| bytes <= BYTES_MAX).ok_or_else(|| {
        Failure::usage(format!("messages of {bytes} bytes are too long: the most are {BYTES_MAX}"))
    })?;
    let schedule = schedule(design, ranks)?;
    let schedule = if arguments.in_step { schedule.held_in_step() } else { schedule };
    let mode = if arguments.in_step { "-in-step" } else { "" };
    let name = format!("corner-turn-{}-{ranks}{mode}.pmp", design.name());
    Ok(PatternText { name, text: schedule.to_text(bytes) })
}
