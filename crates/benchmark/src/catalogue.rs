//! All benchmarks, and their selection by a user's names.

use analysis::limits::BoundRule;

use crate::declaration::Benchmark;
use crate::options::RunOption;
use crate::overview::OVERVIEW;
use crate::programs::ALL;
use crate::similar::most_similar;

/// A name that is no benchmark and no group.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no benchmark or group `{name}`{}", .nearest.map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default())]
pub struct UnknownBenchmark {
    /// The name.
    pub name: String,
    /// The most similar name, if one is similar.
    pub nearest: Option<&'static str>,
}

/// Returns all benchmarks, in a stable order, groups together.
pub fn catalogue() -> &'static [Benchmark] {
    ALL
}

/// Name of all benchmarks together, except those that must be requested.
pub const EVERYTHING: &str = "everything";

/// Returns the benchmarks that have these names, belong to these groups or come from the papers with these names, in
/// the catalogue's order. [`EVERYTHING`] is the name of all that need not be requested. Without names it returns those
/// of the overview.
///
/// # Errors
/// The first name that is none of these.
pub fn select(names: &[String]) -> Result<Vec<&'static Benchmark>, UnknownBenchmark> {
    let is_called = |benchmark: &Benchmark, name: &str| benchmark.names().any(|own| own == name);
    let exists = |name: &&String| {
        *name == EVERYTHING || catalogue().iter().any(|benchmark| is_called(benchmark, name))
    };
    if let Some(unknown) = names.iter().find(|name| !exists(name)) {
        return Err(UnknownBenchmark { name: unknown.clone(), nearest: nearest(unknown) });
    }
    let chosen = |benchmark: &&Benchmark| match names {
        [] => OVERVIEW.iter().any(|one| one.benchmark == benchmark.name),
        names => names.iter().any(|name| match name.as_str() {
            EVERYTHING => !benchmark.group.must_be_requested(),
            name => is_called(benchmark, name),
        }),
    };
    Ok(catalogue().iter().filter(chosen).collect())
}

/// Returns the benchmark with this name.
pub fn find(name: &str) -> Option<&'static Benchmark> {
    catalogue().iter().find(|benchmark| benchmark.name == name)
}

/// Returns the benchmarks that use an option.
pub fn users(option: RunOption) -> impl Iterator<Item = &'static Benchmark> {
    catalogue().iter().filter(move |benchmark| benchmark.uses(option))
}

/// Returns the bound of the benchmark with this name; [`BoundRule::None`] if no benchmark has the name.
pub fn bound_rule(name: &str) -> BoundRule {
    find(name).map_or(BoundRule::None, |benchmark| benchmark.bound)
}

/// Least similarity of a suggested name.
const SIMILAR: f64 = 0.7;

fn nearest(name: &str) -> Option<&'static str> {
    let names = catalogue().iter().flat_map(Benchmark::names).chain([EVERYTHING]);
    most_similar(&name.to_lowercase(), names, SIMILAR)
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::limits::Bound;
    use record::Parameters;

    fn selected(names: &[&str]) -> Result<Vec<&'static str>, UnknownBenchmark> {
        let names: Vec<String> = names.iter().map(|&name| name.into()).collect();
        Ok(select(&names)?.iter().map(|benchmark| benchmark.name).collect())
    }

    #[test]
    fn every_name_stands_once_and_is_no_group() {
        let mut names: Vec<_> = catalogue().iter().map(|benchmark| benchmark.name).collect();
        names.sort_unstable();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]), "{names:?}");
        let others = catalogue().iter().flat_map(|benchmark| benchmark.names().skip(1));
        assert!(others.into_iter().all(|other| !names.contains(&other)));
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

    /// Returns hand-overs, switches and copies of a benchmark without parameters.
    fn path(name: &str, ranks: usize, cores: usize) -> (u64, u64, f64) {
        match bound_rule(name).bound(ranks, &Parameters::new(), cores) {
            Some(Bound::Path(path)) => (path.hand_overs, path.switches, path.copies),
            other => panic!("{name} is bounded by {other:?}"),
        }
    }

    #[test]
    fn what_messages_cannot_do_without_is_declared() {
        // Only two of eight ranks make a ping-pong, and copy half a message each; on one core they must be switched.
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
        let unasked =
            catalogue().iter().filter(|benchmark| !benchmark.group.must_be_requested()).count();
        assert_eq!(selected(&["everything"]).unwrap().len(), unasked);
        assert_eq!(selected(&["everything", "hartstone"]).unwrap().len(), unasked + 1);
        assert_eq!(selected(&[]).unwrap()[..2], ["clock-cost", "copy"]);
        assert!(selected(&["real-time"]).unwrap().contains(&"hartstone"));
        assert_eq!(selected(&["ping-pong"]).unwrap(), ["ping-pong"]);
        let latencies = selected(&["latencies"]).unwrap();
        assert!(latencies.contains(&"ping-pong"));
        assert_eq!(selected(&["latencies", "ping-pong"]).unwrap(), latencies);
    }

    #[test]
    fn the_group_of_collectives_has_all_of_them() {
        let all = [
            "barrier",
            "broadcast",
            "node-broadcast",
            "ring-broadcast",
            "unicast-broadcast",
            "allgather",
            "allgather-in-place",
            "gather-broadcast",
            "reduce",
            "allreduce",
            "reduce-scatter",
            "scan",
            "exclusive-scan",
            "scatter",
            "gather",
            "all-to-all",
        ];
        assert_eq!(selected(&["collectives"]).unwrap(), all);
    }

    #[test]
    fn a_papers_name_selects_its_benchmarks_of_messages() {
        let sharc = [
            "ping-pong",
            "broadcast",
            "unicast-broadcast",
            "allgather",
            "allgather-in-place",
            "gather-broadcast",
        ];
        assert_eq!(selected(&["sharc"]).unwrap(), sharc);
        let cube =
            ["simple-transfer", "send-and-reply", "exchange", "node-broadcast", "ring-broadcast"];
        assert_eq!(selected(&["cube"]).unwrap(), cube);
        // Hartstone comes from the same paper, and is no benchmark of messages alone.
        assert_eq!(selected(&["paragon"]).unwrap(), ["adjacent-pair", "many-pairs"]);
        assert_eq!(selected(&["streams"]).unwrap(), ["latency", "bandwidth", "two-way-bandwidth"]);
    }

    #[test]
    fn an_unknown_name_gets_the_nearest_one() {
        let error = selected(&["ping-pong", "pingpong"]).unwrap_err();
        assert_eq!(error, UnknownBenchmark { name: "pingpong".into(), nearest: Some("ping-pong") });
        assert!(error.to_string().ends_with("did you mean `ping-pong`?"));
        let error = selected(&["zzz"]).unwrap_err();
        assert_eq!(error.to_string(), "there is no benchmark or group `zzz`");
    }
}
