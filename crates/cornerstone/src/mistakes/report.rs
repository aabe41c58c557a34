//! The findings of a run as data: the contents of all formats. The names of the fields are those of the JSON.

use std::time::Instant;

use contract::name_ranks;
use serde::Serialize;

use super::kind::MistakeKind;
use super::mistake::{Mistake, Side};
use super::table::kind_named;
use crate::wording::counted;

/// Version of this format. It changes when a field changes its meaning or is removed.
pub(super) const SCHEMA: &str = "cornerstone-findings-1";

/// The run.
#[derive(Clone, Debug)]
pub(super) struct About {
    pub(super) program: String,
    pub(super) command: String,
    pub(super) fabric: String,
    pub(super) ranks: usize,
    pub(super) started: String,
    pub(super) began: Instant,
}

/// The findings of a run.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) schema: &'static str,
    pub(super) generator: &'static str,
    pub(super) program: String,
    pub(super) command: String,
    pub(super) fabric: String,
    pub(super) ranks: usize,
    pub(super) started: String,
    /// Time from the start to the end of the run.
    pub(super) run_s: f64,
    /// How the program ended, in words; null if it ended well.
    pub(super) outcome: Option<String>,
    /// Exit status of the command.
    pub(super) status: u8,
    /// Names of the kinds that were looked for.
    pub(super) checked: Vec<&'static str>,
    pub(super) findings: Vec<Finding>,
    /// Number of findings that are left out because a line of the suppressions names them.
    pub(super) suppressed: usize,
    /// Remarks on lines of the suppressions that have suppressed nothing.
    pub(super) unused_suppressions: Vec<String>,
}

/// A mistake of some ranks.
#[derive(Debug, Serialize)]
pub(super) struct Finding {
    pub(super) kind: &'static str,
    pub(super) title: &'static str,
    pub(super) message: String,
    /// Sections of MPI 5.0; empty if the standard does not forbid it.
    pub(super) sections: &'static str,
    pub(super) remedy: &'static str,
    pub(super) ranks: Vec<usize>,
    pub(super) times: u64,
    /// The calls that have a part in it, if their places are known.
    pub(super) sides: Vec<Place>,
}

/// A call of a finding. What is unknown is null.
#[derive(Debug, Serialize)]
pub(super) struct Place {
    pub(super) rank: Option<usize>,
    pub(super) call: Option<String>,
    pub(super) function: Option<String>,
    pub(super) file: Option<String>,
    pub(super) line: Option<u32>,
}

impl Report {
    pub(super) fn new(
        about: &About,
        outcome: Option<String>,
        status: u8,
        checked: Vec<&'static MistakeKind>,
        mistakes: Vec<Mistake>,
        suppressed: usize,
        unused_suppressions: Vec<String>,
    ) -> Self {
        Report {
            schema: SCHEMA,
            generator: crate::report::GENERATOR,
            program: about.program.clone(),
            command: about.command.clone(),
            fabric: about.fabric.clone(),
            ranks: about.ranks,
            started: about.started.clone(),
            run_s: about.began.elapsed().as_secs_f64(),
            outcome,
            status,
            checked: checked.into_iter().map(|kind| kind.name).collect(),
            findings: mistakes.into_iter().map(Finding::from).collect(),
            suppressed,
            unused_suppressions,
        }
    }

    /// Returns how the program ended if no finding says so: it was not started, or was interrupted.
    pub(super) fn unexplained(&self) -> Option<&str> {
        let ends = |one: &Finding| kind_named(one.kind).is_some_and(|kind| !kind.goes_on());
        self.outcome.as_deref().filter(|_| !self.findings.iter().any(ends))
    }

    /// Returns the text for people.
    pub(super) fn text(&self) -> String {
        let outcome = self.outcome.as_deref().unwrap_or("it ended well");
        let mut out = format!("{}: findings of {}\n", self.generator, self.command);
        out += &format!("{}, {} ranks, started {}\n", self.fabric, self.ranks, self.started);
        out += &format!("{outcome}\nstatus {}\n", self.status);
        for finding in &self.findings {
            let Finding { kind, title, message, ranks, times, sections, remedy, .. } = finding;
            out += &format!(
                "\n{kind}: {title}\n  {}, {}: {message}\n",
                name_ranks(ranks),
                counted(*times as usize, "time")
            );
            out.extend(finding.sides.iter().map(|side| format!("  at {}\n", side.words())));
            if !remedy.is_empty() {
                out += &format!("  what to do: {remedy}\n");
            }
            if !sections.is_empty() {
                out += &format!("  MPI 5.0: {sections}\n");
            }
        }
        if self.findings.is_empty() {
            out += "\nno mistakes found\n";
        }
        out += &format!("\nlooked for: {}\n", self.checked.join(", "));
        out += &format!("suppressed: {}\n", self.suppressed);
        out.extend(self.unused_suppressions.iter().map(|line| format!("  {line}\n")));
        out
    }
}

impl From<Mistake> for Finding {
    fn from(mistake: Mistake) -> Self {
        let Mistake { kind, message, sides, ranks, times } = mistake;
        let MistakeKind { name, title, sections, remedy, .. } = *kind;
        let sides = sides.into_iter().map(Place::from).collect();
        Finding { kind: name, title, message, sections, remedy, ranks, times, sides }
    }
}

impl From<Side> for Place {
    fn from(Side { rank, call, place }: Side) -> Self {
        let (file, line) = place.line.unzip();
        let function = place.function.or(place.code);
        Place { rank, call, function, file, line }
    }
}

impl Place {
    /// Returns words for it, with the whole path of the file.
    pub(super) fn words(&self) -> String {
        let rank = self.rank.map(|rank| format!("rank {rank}"));
        let line = self.file.as_ref().zip(self.line).map(|(file, line)| format!("{file}:{line}"));
        let parts = [rank, self.call.clone(), self.function.clone(), line];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }
}
