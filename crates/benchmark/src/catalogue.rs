//! What a benchmark is, and the list of all of them.

use analysis::limits::BoundRule;
use contract::record::Parameters;

use crate::Settings;
use crate::data::{Blocks, Data, Received, Shape};
use crate::execute::Bench;
use crate::plan::{Case, Scope};
use crate::programs;

/// A program that we time.
pub struct Benchmark {
    /// Its name, as a user types it.
    pub name: &'static str,
    /// The group it belongs to: `limits`, `cube`, `sharc`, `collectives`, `streams`, `paragon`,
    /// `real-time` or `processor`.
    pub group: &'static str,
    /// What it measures, in one line.
    pub summary: &'static str,
    /// Its definition: what is timed, at which rank, the formula of its rate, and the source.
    pub explains: &'static str,
    /// With how many ranks it runs.
    pub ranks: RankRule,
    /// Where its ranks must be.
    pub placement: Placement,
    /// Message sizes are rounded up to a multiple of this, in bytes: 8 where numbers are added, else 1.
    pub size_multiple_bytes: u64,
    /// Which of the machine's own limits bounds its numbers.
    pub bound: BoundRule,
    /// The measurements that it makes.
    pub(crate) cases: fn(&Scope) -> Vec<Case>,
    /// What each of them times.
    pub(crate) program: Program,
    /// How each of them is made: [`Bench::timed`] for most.
    pub(crate) measure: fn(&mut Bench<'_>) -> contract::Result<()>,
    /// Whether a measurement can be put together from turns.
    pub(crate) in_turns: bool,
    /// How long one takes, in seconds, where that does not follow from its messages.
    pub(crate) lasts_s: Option<fn(&Settings, &Parameters) -> f64>,
}

/// With how many ranks a benchmark runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RankRule {
    /// This many, whatever the user wants.
    Exactly(usize),
    /// Two, unless the user wants more; then ranks 0 and 1 communicate and the others wait.
    Pair,
    /// One for each processor, from 2 to 16, unless the user wants another number, of this many or more.
    AtLeast(usize),
    /// Pairs of ranks: this many pairs, unless the user wants another number of ranks. An odd one is left over.
    Pairs(usize),
    /// One for each processor, whatever the user wants.
    EveryProcessor,
    /// As many as the chain that is asked for has.
    OfChain,
}

/// Where the ranks of a launch must be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Placement {
    /// Wherever the fabric puts ranks: each on a processor of its own, as far as there are enough.
    #[default]
    Spread,
    /// All bound to one and the same processor.
    OneProcessor,
    /// The first half bound to one processor, the second half to another, as the tasks of two nodes. Where ranks cannot
    /// be put there they stay where they are, and the measurement says where that was.
    TwoProcessors,
}

/// A program for the timed loop: the same functions run on every rank.
#[derive(Clone, Copy)]
pub(crate) struct Program {
    /// Who times.
    pub(crate) timing: Timing,
    /// Whether an event begins only when the one before it is over on every rank that matters, so that the time of
    /// several in a row is the sum of theirs. A broadcast's root, for one, does not wait for the others.
    pub(crate) in_a_row: bool,
    /// How many blocks of `size` bytes a rank sends from and receives into.
    pub(crate) blocks: fn(&Shape) -> Blocks,
    /// One event.
    pub(crate) event: fn(&mut dyn contract::Rank, &mut Data) -> contract::Result<()>,
    /// What the blocks hold after an event.
    pub(crate) received: Received,
    /// The `time` of a measurement is an event's divided by this: 2 for half a round trip.
    pub(crate) parts: fn(&Shape) -> u64,
    /// The bytes that a `time` moves: the `rate` is this over the time. No rate where 0.
    pub(crate) moved: fn(&Shape) -> u64,
    /// Whether it needs memory that all ranks see.
    pub(crate) needs_shared_line: bool,
}

/// Who times an event, and from when to when.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Timing {
    /// The first rank of the pair, from its call to its return.
    First,
    /// From the call of the first rank of the pair to the return of the second, by their common clock. The second rank
    /// tells the first that it is ready before each event.
    OneWay,
    /// Every rank, from a synchronised start to its own return; the slowest counts.
    Slowest,
}

/// A name that is no benchmark and no group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no benchmark or group `{name}`{}", .nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default())]
pub struct UnknownBenchmark {
    /// The name.
    pub name: String,
    /// The benchmark or group that reads most like it, if any does.
    pub nearest: Option<&'static str>,
}

/// All benchmarks, in a stable order, groups together.
pub fn catalogue() -> &'static [Benchmark] {
    programs::ALL
}

/// The group of the benchmarks with a period. A search takes as long as it needs to be sure, so it has to be asked for.
const REAL_TIME: &str = "real-time";

/// The benchmarks with these names or of these groups, in the catalogue's order; if no name is given all but those with a
/// period.
///
/// # Errors
/// The first name that is neither.
pub fn select(names: &[String]) -> Result<Vec<&'static Benchmark>, UnknownBenchmark> {
    let known = |name: &&String| catalogue().iter().any(|b| b.is_called(name));
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        return Err(UnknownBenchmark { name: unknown.clone(), nearest: nearest(unknown) });
    }
    let chosen = |b: &&Benchmark| match names {
        [] => b.group != REAL_TIME,
        names => names.iter().any(|name| b.is_called(name)),
    };
    Ok(catalogue().iter().filter(chosen).collect())
}

/// The benchmark with this name.
pub(crate) fn find(name: &str) -> Option<&'static Benchmark> {
    catalogue().iter().find(|benchmark| benchmark.name == name)
}

/// What bounds the benchmark with this name; nothing where no benchmark has it.
pub fn bound_rule(name: &str) -> BoundRule {
    find(name).map_or(BoundRule::None, |benchmark| benchmark.bound)
}

/// Below this similarity a suggestion would only puzzle.
const SIMILAR: f64 = 0.7;

fn nearest(name: &str) -> Option<&'static str> {
    let names = catalogue().iter().flat_map(|benchmark| [benchmark.name, benchmark.group]);
    names
        .map(|known| (strsim::jaro_winkler(known, &name.to_lowercase()), known))
        .filter(|(similarity, _)| *similarity >= SIMILAR)
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .map(|(_, known)| known)
}

impl Benchmark {
    fn is_called(&self, name: &str) -> bool {
        self.name == name || self.group == name
    }
}

impl std::fmt::Debug for Benchmark {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Benchmark({})", self.name)
    }
}

impl RankRule {
    /// Collectives run on at most this many ranks unless asked for more.
    const RANKS_UNASKED_MAX: usize = 16;

    /// The numbers of ranks to run with, where the user asks for `wanted` ones, or for none. Empty if no wanted number
    /// will do.
    pub fn counts(self, wanted: Option<&[usize]>, processors: usize) -> Vec<usize> {
        let at_least = |least: usize, unasked: usize| match wanted {
            Some(wanted) => wanted.iter().copied().filter(|&count| count >= least).collect(),
            None => vec![unasked.max(least)],
        };
        match self {
            RankRule::Exactly(count) => vec![count],
            RankRule::Pair => at_least(2, 2),
            RankRule::AtLeast(least) => {
                at_least(least, processors.clamp(2, Self::RANKS_UNASKED_MAX))
            }
            RankRule::Pairs(unasked) => at_least(2, 2 * unasked),
            RankRule::EveryProcessor => vec![processors.max(1)],
            // The plan knows the chain.
            RankRule::OfChain => wanted.unwrap_or_default().to_vec(),
        }
    }

    /// Whether `ranks` will do.
    pub fn allows(self, ranks: usize) -> bool {
        match self {
            RankRule::Exactly(count) => ranks == count,
            RankRule::Pair => ranks >= 2,
            RankRule::AtLeast(least) => ranks >= least,
            RankRule::Pairs(_) => ranks >= 2,
            RankRule::EveryProcessor => ranks >= 1,
            RankRule::OfChain => ranks >= 1,
        }
    }
}

impl std::fmt::Display for RankRule {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            RankRule::Exactly(1) => f.write_str("1 rank"),
            RankRule::Exactly(count) => write!(f, "{count} ranks"),
            RankRule::Pair => f.write_str("2 ranks or more"),
            RankRule::AtLeast(1) => f.write_str("any number of ranks"),
            RankRule::AtLeast(least) => write!(f, "{least} ranks or more"),
            RankRule::Pairs(_) => f.write_str("2 ranks or more"),
            RankRule::EveryProcessor => f.write_str("a rank on each processor"),
            RankRule::OfChain => {
                f.write_str("the ranks that its file names, or one for the source, one for the sink, and those of its stages")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::limits::Bound;

    fn selected(names: &[&str]) -> Result<Vec<&'static str>, UnknownBenchmark> {
        let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
        Ok(select(&names)?.iter().map(|benchmark| benchmark.name).collect())
    }

    #[test]
    fn every_name_stands_once_and_is_no_group() {
        let mut names: Vec<_> = catalogue().iter().map(|benchmark| benchmark.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        assert!(catalogue().iter().all(|benchmark| !names.contains(&benchmark.group)));
    }

    #[test]
    fn each_benchmark_explains_itself_in_one_line_and_in_full() {
        for benchmark in catalogue() {
            let Benchmark { name, summary, explains, .. } = benchmark;
            assert!(
                !summary.is_empty() && summary.len() <= 80 && !summary.contains('\n'),
                "{name}"
            );
            assert!(explains.len() > summary.len(), "{name}");
        }
    }

    /// Hand-overs, switches and copies of a benchmark without parameters.
    fn path(name: &str, ranks: usize, cores: usize) -> (u64, u64, f64) {
        match bound_rule(name).bound(ranks, &Parameters::new(), cores) {
            Some(Bound::Path(path)) => (path.hand_overs, path.switches, path.copies),
            other => panic!("{name} is bounded by {other:?}"),
        }
    }

    #[test]
    fn what_messages_cannot_do_without_is_declared() {
        // Of eight ranks only two play ping-pong, and copy half a message each; on one core they must be switched.
        assert_eq!(path("ping-pong", 8, 2), (1, 0, 0.5));
        assert_eq!(path("send-and-reply", 2, 1), (0, 2, 2.0));
        assert_eq!(path("exchange", 2, 1), (0, 1, 2.0));
        assert_eq!(path("barrier", 8, 2), (1, 3, 0.0));
        // Seven of eight ranks receive; four ranks receive three blocks each, or four with their own.
        assert_eq!(path("broadcast", 8, 0), (1, 0, 0.875));
        assert_eq!(path("ring-broadcast", 4, 4), (3, 0, 3.0));
        assert_eq!(path("allgather-in-place", 4, 2), (1, 1, 6.0));
        assert_eq!(path("all-to-all", 4, 2), (1, 1, 8.0));
        assert_eq!(path("bandwidth", 2, 2), (0, 0, 0.5));
        assert!(bound_rule("no-such-benchmark").bound(2, &Parameters::new(), 2).is_none());
    }

    #[test]
    fn names_and_groups_select_in_the_catalogues_order() {
        let unasked = catalogue().iter().filter(|benchmark| benchmark.group != REAL_TIME).count();
        assert_eq!(selected(&[]).unwrap().len(), unasked);
        assert!(selected(&["real-time"]).unwrap().contains(&"hartstone"));
        assert_eq!(selected(&["ping-pong"]).unwrap(), ["ping-pong"]);
        let sharc = selected(&["sharc"]).unwrap();
        assert!(sharc.contains(&"ping-pong"));
        assert_eq!(selected(&["sharc", "ping-pong"]).unwrap(), sharc);
    }

    #[test]
    fn an_unknown_name_gets_the_nearest_one() {
        let error = selected(&["ping-pong", "pingpong"]).unwrap_err();
        assert_eq!(error, UnknownBenchmark { name: "pingpong".into(), nearest: Some("ping-pong") });
        assert!(error.to_string().ends_with("did you mean `ping-pong`?"));
        let error = selected(&["zzz"]).unwrap_err();
        assert_eq!(error.to_string(), "there is no benchmark or group `zzz`");
    }

    #[test]
    fn rank_counts_follow_the_user_within_the_rule() {
        assert_eq!(RankRule::Exactly(1).counts(Some(&[4]), 8), [1]);
        assert_eq!(RankRule::Pair.counts(None, 8), [2]);
        assert_eq!(RankRule::Pair.counts(Some(&[1, 2, 16]), 8), [2, 16]);
        assert_eq!(RankRule::AtLeast(2).counts(None, 1), [2]);
        assert_eq!(RankRule::AtLeast(2).counts(None, 8), [8]);
        assert_eq!(RankRule::AtLeast(2).counts(None, 96), [16]);
        assert!(RankRule::AtLeast(2).counts(Some(&[1]), 8).is_empty());
        assert_eq!(RankRule::Pairs(3).counts(None, 8), [6]);
        assert_eq!(RankRule::Pairs(3).counts(Some(&[1, 2, 3, 8]), 8), [2, 3, 8]);
        assert_eq!(RankRule::EveryProcessor.counts(Some(&[2]), 8), [8]);
    }
}
