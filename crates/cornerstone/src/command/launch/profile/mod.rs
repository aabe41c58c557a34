//! The report of a program that is launched. The records of its ranks are read when they have ended, and written for
//! people and programs.

mod at_end;
mod conflicts;
mod findings;
mod limits;
mod model;
mod output;
mod page;
mod pictures;
mod places;
mod strips;
mod summarise;
mod text;
mod trace;

use std::process::ExitCode;

use analysis::limits::Limits;
use launcher::{LaunchOptions, OtherProgram};
use profile::RankRecord;
use profile::layout::{WANTS_CHECKS, WANTS_SPANS};

use output::Output;
use summarise::{About, Followed, summarise};

use super::program_file::{self, Purpose};
use crate::arguments::{LaunchArguments, LaunchFabric};
use crate::failure::{Failure, STATUS_HANG};
use crate::mistakes::{Checked, Mistakes};
use crate::observed_memory::{self, Memory};
use crate::own_line;
use crate::progress::{note, say};
use crate::utc;

/// Reading of the monotonic clock at the beginning of virtual time: `OTHERS_S` of libvirtual-time.
const VIRTUAL_BEGINNING_NS: u64 = 1_000_000_000_000;

/// What to do about a hang that may come from the checks.
const UNBUFFERED: &str = "with --check a standard send waits for its receive, and a collective for all members, as they may \
                          with any MPI: if the program ends without --check, it depends on buffers";

/// Requested outputs of a run, and the records of its ranks so far.
pub(super) struct Observation {
    /// Memory of the ranks if they are on this host. On other hosts the processes that start the ranks have it.
    memory: Option<Memory>,
    /// Records from other hosts.
    regions: Vec<Vec<u8>>,
    outputs: Vec<Output>,
    /// True if the text for the terminal is requested, and true if mistakes are.
    tells: bool,
    checks: bool,
    wanted: u64,
    limits: Option<Limits>,
    ranks: usize,
    fabric: LaunchFabric,
    command: String,
    started: String,
    /// Remarks for the reader that the records do not show.
    remarks: Vec<String>,
    /// True if a rank is known to have called MPI_Init of our library.
    has_joined: bool,
}

impl Observation {
    /// Prepares the outputs that the arguments request, or returns `None` if they request none. Files that cannot be
    /// written are refused now, not after the run.
    pub(super) fn prepare(
        arguments: &LaunchArguments,
        others: &[OtherProgram],
    ) -> Result<Option<Self>, Failure> {
        let options = &arguments.observation;
        let tells = !options.report.is_empty();
        if !tells && options.trace.is_none() && !options.check {
            return Ok(None);
        }
        let fabric = arguments.fabric();
        let is_simulated = matches!(fabric, LaunchFabric::Simulated(_));
        if is_simulated && options.limits.is_some() {
            let why = "--limits are those of this machine, not of a simulated one";
            return Err(Failure::usage(why)
                .hint("leave --limits out: the report tells each call's time, waiting and bytes"));
        }
        program_file::check_all(&arguments.program[0], others, Purpose::Records, &[])?;
        let outputs = output::prepare(options, &arguments.program[0])?;
        let limits = options.limits.as_deref().map(limits::read).transpose()?;
        let spans = if options.trace.is_some() { WANTS_SPANS } else { 0 };
        let wanted = spans | if options.check { WANTS_CHECKS } else { 0 };
        let ranks = arguments.ranks;
        let memory = match fabric {
            LaunchFabric::Cluster(_) => None,
            _ => Some(Memory::new(ranks, ranks, wanted)?),
        };
        let words = arguments.program.iter().map(|word| word.to_string_lossy().into_owned());
        Ok(Some(Observation {
            memory,
            regions: Vec::new(),
            outputs,
            tells,
            checks: options.check,
            wanted,
            limits,
            ranks,
            fabric,
            command: words.collect::<Vec<_>>().join(" "),
            started: utc::now(),
            remarks: Vec::new(),
            has_joined: false,
        }))
    }

    /// Lets ranks of this host record what they do.
    pub(super) fn observe(&self, options: &mut LaunchOptions) {
        self.memory.iter().for_each(|memory| memory.lend(options));
    }

    /// Records that a rank has called MPI_Init of our library, whether its calls were seen or not.
    pub(super) fn note_joined(&mut self) {
        self.has_joined = true;
    }

    /// Returns the records that ranks must make in addition to tables.
    pub(super) fn wanted(&self) -> u64 {
        self.wanted
    }

    /// Adds the records of a rank of another host.
    pub(super) fn take(&mut self, region: &[u8]) {
        self.regions.push(region.to_vec());
    }

    /// Adds a remark for the reader of the report.
    pub(super) fn remark(&mut self, remark: &str) {
        self.remarks.push(remark.to_owned());
    }

    /// Writes the requested outputs for any outcome of the run, and returns that outcome.
    /// Adds the mistakes that ranks have recorded.
    pub(super) fn report(
        self,
        ended: Result<ExitCode, Failure>,
        mistakes: &mut Mistakes,
    ) -> Result<ExitCode, Failure> {
        let message = ended.as_ref().map_or_else(Failure::message, |_| "it ended well");
        let mut lines = message.lines().map(str::to_owned);
        let outcome = lines.next().unwrap_or_default();
        let state = lines.collect();
        let checks = self.checks;
        let ended = ended.map_err(|failure| match checks && failure.code() == STATUS_HANG {
            true => failure.hint(UNBUFFERED),
            false => failure,
        });
        let written = self.write(outcome, state, mistakes);
        Failure::of_both(ended, written)
    }

    fn write(
        mut self,
        outcome: String,
        state: Vec<String>,
        mistakes: &mut Mistakes,
    ) -> Result<(), Failure> {
        let unreadable =
            |why: String| Failure::failed(format!("reading what ranks have noted: {why}"));
        let is_here = self.memory.is_some();
        let launched_ns = match self.fabric {
            LaunchFabric::Simulated(_) => VIRTUAL_BEGINNING_NS,
            _ => self.memory.as_ref().map_or(0, |memory| memory.made_ns),
        };
        if let Some(memory) = self.memory.take() {
            self.regions = memory.regions().map_err(|error| unreadable(error.to_string()))?;
        }
        let mut records: Vec<RankRecord> = Vec::new();
        for region in std::mem::take(&mut self.regions) {
            let record = observed_memory::read(&region, self.ranks);
            records.extend(record.map_err(|error| unreadable(error.to_string()))?);
        }
        records.sort_by_key(|record| record.rank);
        let about = About {
            command: self.command,
            fabric: self.fabric.to_string(),
            started: self.started,
            outcome,
            state,
            ranks: self.ranks,
            launched_ns,
            is_here,
            limits: self.limits.take(),
            remarks: std::mem::take(&mut self.remarks),
            has_joined: self.has_joined,
        };
        let followed = summarise(&records, about);
        if self.checks {
            add_mistakes((records.len(), self.has_joined), &followed, mistakes);
        }
        let mut words = String::new();
        if self.tells {
            words += &text::text(&followed.profile);
        }
        let mut failures = Vec::new();
        for output in &self.outputs {
            match output.write(&records, &followed) {
                Ok(line) => words += &line,
                Err(failure) => failures.push(failure),
            }
        }
        if !words.is_empty() {
            own_line::begin();
        }
        say(&words);
        failures.into_iter().next().map_or(Ok(()), Err)
    }
}

/// Adds what `--check` has found, by the records of some ranks. `has_joined` is true if a rank has called MPI_Init.
fn add_mistakes((ranks, has_joined): (usize, bool), followed: &Followed, mistakes: &mut Mistakes) {
    let unseen = (ranks == 0 && has_joined).then_some(summarise::UNSEEN);
    let compares_windows = followed.compares_windows;
    mistakes.set_checked(Checked { ranks, unseen, compares_windows });
    if !compares_windows {
        note(
            "cornerstone: the order of accesses to windows was not checked: a rank has no record, or has made more calls than are kept",
        );
    }
    followed.mistakes.iter().for_each(|one| mistakes.add(one.clone()));
}
