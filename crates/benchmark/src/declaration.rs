//! The declaration of a benchmark.

use analysis::limits::BoundRule;
use contract::collective::Algorithm;
use record::Parameters;

use crate::bench::Bench;
use crate::case::{Case, Scope};
use crate::options::RunOption;
use crate::paper::PaperPart;
use crate::presentation::{HasFigure, Headline, OsuTest, View};
use crate::program::{Definition, Program};
use crate::ranks::{Placement, RankRule};
use crate::settings::Settings;

/// A program that we time.
pub struct Benchmark {
    /// Name for users.
    pub name: &'static str,
    /// Its group.
    pub group: Group,
    /// Summary of the benchmark, in one line.
    pub summary: &'static str,
    /// Definition: the timed operation, the rank that times it, and the formula of its rate.
    pub explains: &'static str,
    /// Publication of the benchmark, if there is one.
    pub source: Option<PaperPart>,
    /// Permitted numbers of ranks.
    pub ranks: RankRule,
    /// Required placement of its ranks.
    pub placement: Placement,
    /// Rule of the machine's limit that bounds its numbers.
    pub bound: BoundRule,
    /// Rows among the headlines of a run.
    pub headlines: &'static [Headline],
    /// Figures in the report's summary.
    pub key_figures: &'static [HasFigure],
    /// Drawing in the report.
    pub view: View,
    /// Corresponding OSU test.
    pub osu: Option<OsuTest>,
    /// Function that returns its measurements.
    pub(crate) cases: fn(&Scope) -> Vec<Case>,
    /// Event that each of them times.
    pub(crate) program: Program,
    /// Function that makes each of them: [`Bench::timed`] for most.
    pub(crate) measure: fn(&mut Bench<'_>) -> contract::Result<()>,
    /// Repetition of a case beyond its samples.
    pub repeats: Repeats,
    /// True if a measurement can be combined from repetitions.
    pub(crate) repeatable: bool,
    /// Options that it uses, of those that not every benchmark uses.
    pub options: &'static [&'static [RunOption]],
    /// Algorithms over messages by which it can be made, if it is a collective that has some.
    pub algorithms: &'static [Algorithm],
    /// Time of a measurement in seconds, if that does not follow from its messages.
    pub(crate) lasts_s: Option<fn(&Settings, &Parameters) -> f64>,
}

/// Repetition of a case beyond its samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// In several launches of the ranks.
    Launches,
    /// By trials of periods within one launch.
    Trials,
    /// Never: it observes the processors for the time that the user specifies.
    Never,
}

/// A group of benchmarks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Group {
    /// The limits of the machine. Every other number is shown as a share of one of these.
    Limits,
    /// Times of single messages between two ranks.
    Latencies,
    /// Rates of streams of messages between pairs of ranks.
    Bandwidths,
    /// Operations of all ranks.
    Collectives,
    /// Operations on the memory of other ranks.
    Windows,
    /// Many messages at once, in patterns that are difficult for a network.
    Congestion,
    /// Messages and collectives while ranks compute.
    BesideComputing,
    /// Messages drawn from a model of a program. They take long, so they must be requested.
    Synthetic,
    /// Services over the fabric, beside its own messages.
    Services,
    /// Whole programs, beside the best serial program on the same machine. They take long, so they must be requested.
    Applications,
    /// The period that a periodic job sustains. A search takes as long as certainty requires, so it must be requested.
    RealTime,
    /// The work of one processor.
    Processor,
}

impl Group {
    /// Returns its name in commands and records.
    pub const fn name(self) -> &'static str {
        match self {
            Group::Limits => analysis::limits::GROUP,
            Group::Latencies => "latencies",
            Group::Bandwidths => "bandwidths",
            Group::Collectives => "collectives",
            Group::Windows => "windows",
            Group::Congestion => "congestion",
            Group::BesideComputing => "beside-computing",
            Group::Synthetic => "synthetic",
            Group::Services => "services",
            Group::Applications => "applications",
            Group::RealTime => "real-time",
            Group::Processor => "processor",
        }
    }

    /// Returns its heading.
    pub fn title(self) -> &'static str {
        match self {
            Group::Limits => "The machine's own limits",
            Group::Latencies => "Latencies: one message between two ranks",
            Group::Bandwidths => "Bandwidths: streams of messages between pairs of ranks",
            Group::Collectives => "Collectives",
            Group::Windows => "Windows: the memory of other ranks",
            Group::Congestion => "Congestion: many messages at once, and each pair by itself",
            Group::BesideComputing => {
                "Beside computing: what of messages is hidden, what noise costs"
            }
            Group::Synthetic => "Synthetic communication: messages drawn from a model of a program",
            Group::Services => {
                "Services: active messages, a tuple space, libraries of 1983 and 1996"
            }
            Group::Applications => {
                "Applications: whole programs and what they gain from more ranks"
            }
            Group::RealTime => "Real time: which period is kept?",
            Group::Processor => "Processor",
        }
    }

    /// Returns whether its benchmarks run only if they are requested by name or group.
    pub const fn must_be_requested(self) -> bool {
        matches!(self, Group::Synthetic | Group::Applications | Group::RealTime)
    }

    fn is_of_messages(self) -> bool {
        matches!(self, Group::Latencies | Group::Bandwidths | Group::Collectives)
    }
}

impl Benchmark {
    /// Returns its full definition, with its source.
    pub fn explanation(&self) -> String {
        let source = self.source.map(|source| format!(" Source: {source}."));
        format!("{}{}", self.explains, source.unwrap_or_default())
    }

    /// Returns the names that select it: its own, its group's, and that of its paper, which selects the paper's
    /// benchmarks of messages.
    pub(crate) fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        let paper = self.source.and_then(|source| source.paper.selects);
        let paper = paper.filter(|_| self.group.is_of_messages());
        [self.name, self.group.name()].into_iter().chain(paper)
    }

    /// Returns those of its algorithms that the user requests.
    pub(crate) fn wanted_algorithms(
        &self,
        settings: &Settings,
    ) -> impl Iterator<Item = &'static Algorithm> {
        let every = settings.wants_every_algorithm();
        let wanted = settings.algorithms.clone();
        self.algorithms
            .iter()
            .filter(move |one| every || wanted.iter().any(|name| name == one.name()))
    }

    /// Returns whether it uses an option.
    pub fn uses(&self, option: RunOption) -> bool {
        match option {
            RunOption::Turns => self.repeatable,
            option => self.options.iter().any(|group| group.contains(&option)),
        }
    }

    /// Returns the program that it measures.
    pub(crate) fn definition(&self) -> Definition {
        Definition {
            name: self.name,
            group: self.group.name(),
            placement: self.placement,
            program: self.program,
            repeatable: self.repeatable,
        }
    }
}

impl std::fmt::Debug for Benchmark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Benchmark({})", self.name)
    }
}
