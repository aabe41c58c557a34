//! The algorithm that a collective chooses, compared with the other algorithms that were measured.

use analysis::compare::effect_between;
use collectives::plan::{PlanRange, Transport};
use collectives::{Algorithm, Blocks, Call, Collective, Manner, Order, select};
use contract::FabricDescription;
use record::{Measurement, ParameterValue, Parameters};

use crate::comparison::is_of_one_launch;
use crate::fabric_name::{CLUSTER, is_mpi, simulated_machine};

/// The measurement of a collective as the fabric chooses, and the one of the fastest named algorithm.
pub(crate) struct Choice<'a> {
    pub(crate) chosen: &'a Measurement,
    /// Name of the choice, if it is known.
    pub(crate) name: Option<String>,
    pub(crate) fastest: &'a Measurement,
}

/// Judgement of a choice.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Verdict {
    /// No named algorithm had a smaller median, or the fastest is the chosen one.
    Right,
    /// A named algorithm is faster, by this factor.
    Slower(f64),
    /// Another algorithm had a smaller median, but launches differ too much.
    Undecided,
    /// Another algorithm had a smaller median, but in one launch only, which does not hold for others.
    OneLaunch,
}

/// Factor by which another algorithm must be faster to be a better choice. The fastest of several is partly so by
/// chance.
const AS_FAST: f64 = 1.05;

/// Confidence with which launches of one algorithm must take longer.
const CONFIDENCE: f64 = 0.95;

impl Choice<'_> {
    /// Returns the name of the fastest of the named algorithms.
    pub(crate) fn fastest_name(&self) -> String {
        named(&self.fastest.parameters).unwrap_or_default()
    }

    pub(crate) fn verdict(&self) -> Verdict {
        let [chosen, fastest] = [self.chosen, self.fastest].map(|one| &one.summary);
        let is_same = self.name.as_ref() == Some(&self.fastest_name());
        if is_same || chosen.median <= AS_FAST * fastest.median {
            Verdict::Right
        } else if [self.chosen, self.fastest].into_iter().any(is_of_one_launch) {
            Verdict::OneLaunch
        } else if self.is_slower() {
            Verdict::Slower(chosen.median / fastest.median)
        } else {
            Verdict::Undecided
        }
    }

    /// Returns whether the launches of the chosen algorithm took longer than those of the fastest. Of exact numbers the
    /// larger one is.
    fn is_slower(&self) -> bool {
        let both = [self.fastest, self.chosen];
        if both.iter().all(|one| one.is_exact()) {
            return true;
        }
        let effect = effect_between(both.map(Measurement::launches), CONFIDENCE);
        effect.is_some_and(|effect| effect.confidence >= CONFIDENCE && effect.low > 1.0)
    }
}

/// Returns the choices among measurements, some of which are by named algorithms. Only times are compared.
pub(crate) fn choices<'a>(
    found: impl Iterator<Item = &'a Measurement> + Clone,
    fabric: &FabricDescription,
) -> Vec<Choice<'a>> {
    let times = || found.clone().filter(|one| one.metric == "time");
    let choice = |chosen: &'a Measurement| {
        let rivals =
            times().filter(|one| named(&one.parameters).is_some() && is_same_case(one, chosen));
        let fastest = rivals.min_by(|a, b| a.summary.median.total_cmp(&b.summary.median))?;
        let name = name(fabric, &chosen.benchmark, chosen.ranks, chosen.size_bytes as usize);
        Some(Choice { chosen, name, fastest })
    };
    times().filter(|one| named(&one.parameters).is_none()).filter_map(choice).collect()
}

/// Returns the name of the algorithm that a measurement was requested for, or `None` if the fabric chose.
fn named(parameters: &Parameters) -> Option<String> {
    if benchmark::is_as_the_fabric_chooses(parameters) {
        return None;
    }
    parameters.get(benchmark::ALGORITHM).map(ToString::to_string)
}

fn is_same_case(one: &Measurement, other: &Measurement) -> bool {
    let is_rest = |(name, _): &(&String, &ParameterValue)| *name != benchmark::ALGORITHM;
    let key = |one: &Measurement| (one.ranks, one.size_bytes);
    key(one) == key(other)
        && one.benchmark == other.benchmark
        && one.parameters.iter().filter(is_rest).eq(other.parameters.iter().filter(is_rest))
}

/// Returns the name of the benchmark of a collective.
pub(crate) fn benchmark_name(collective: &str) -> String {
    collective.replace('_', "-")
}

/// Returns the name of the fabric's choice for a blocking collective of a program of Cornerstone: a transport of a
/// plan, or an algorithm by messages. `None` if a library or the machine itself executes the collective.
fn name(
    fabric: &FabricDescription,
    collective: &str,
    ranks: usize,
    bytes: usize,
) -> Option<String> {
    let is_it = |(_, own): &(Collective, &str)| benchmark_name(own) == collective;
    let (collective, _) = Collective::ALL.into_iter().find(is_it)?;
    if let Some(plans) = &fabric.plans {
        // The plans of a run are those of its first launch.
        if plans.ranks != ranks {
            return None;
        }
        let applies =
            |range: &&PlanRange| range.collective == collective && range.from_bytes <= bytes as u64;
        // A collective without a range has no plans at all.
        let range = plans.ranges.iter().rfind(applies);
        if let Some(range) = range.filter(|range| range.transport != Transport::Messages) {
            return Some(transport(range.transport).into());
        }
    } else if makes_own(fabric) {
        return None;
    }
    Some(by_messages(collective, ranks, bytes).name().into())
}

/// Returns whether a fabric may execute collectives by its own methods. These are the library of an MPI, a cluster (if
/// all ranks are on one host, it uses the plans of that host), and a simulated machine that has collectives or is
/// unknown.
pub(crate) fn makes_own(fabric: &FabricDescription) -> bool {
    let has_collectives = |name: &str| match fabric_sim::machine::find_built_in(name) {
        Ok(machine) => machine.ring_collectives.is_some(),
        Err(_) => true,
    };
    let machine = simulated_machine(&fabric.name);
    is_mpi(&fabric.name) || fabric.name == CLUSTER || machine.is_some_and(has_collectives)
}

/// Returns the words for a transport.
pub(crate) fn transport(transport: Transport) -> &'static str {
    match transport {
        Transport::Messages => "messages",
        Transport::Boards => "boards",
        Transport::BoardByBoard => "boards, one after the other",
        Transport::Memory => "from memory to memory",
        Transport::MemoryInHalves => "from memory to memory, half each",
    }
}

/// Returns the algorithm of a blocking call by messages between `ranks` ranks. `bytes` is the length of all data, or of
/// a block if the collective has blocks.
pub(crate) fn by_messages(collective: Collective, ranks: usize, bytes: usize) -> Algorithm {
    let (root, length, order) = (0, bytes, Order::Any);
    let blocks = || Blocks::equal(ranks, bytes);
    let call = match collective {
        Collective::Barrier => Call::Barrier,
        Collective::Broadcast => Call::Broadcast { root, length },
        Collective::Scatter => Call::Scatter { root, blocks: blocks() },
        Collective::Gather => Call::Gather { root, blocks: blocks() },
        Collective::Allgather => Call::Allgather { blocks: blocks() },
        Collective::AllToAll => Call::AllToAll { input: blocks(), output: blocks() },
        Collective::Reduce => Call::Reduce { root, length, order },
        Collective::Allreduce => Call::Allreduce { length, order },
        Collective::ReduceScatter => Call::ReduceScatter { blocks: blocks(), order },
        Collective::InclusiveScan => Call::Scan { length, exclusive: false },
        Collective::ExclusiveScan => Call::Scan { length, exclusive: true },
    };
    select(&call, ranks, 1, Manner::Blocking, None)
}

/// Returns the fabric of this host with the plans of ranks that have a processor each.
#[cfg(test)]
pub(crate) fn local_with_plans(ranks: usize) -> FabricDescription {
    use collectives::plan::{Boards, Capabilities, Plans, Topology};
    let boards = Boards {
        most_ranks: 32,
        most_bytes: 1 << 20,
        slots: 16,
        slot_bytes: 72 << 10,
        piece_bytes: 32 << 10,
    };
    let capabilities = Capabilities { boards, cma: false };
    FabricDescription {
        name: "local".into(),
        plans: Some(Plans::of(ranks, Topology::OwnProcessors, capabilities)),
        ..FabricDescription::default()
    }
}

#[cfg(test)]
mod tests {
    use record::{Better, Summary};

    use super::*;

    /// Returns a time of an allreduce of four ranks, by an algorithm or as the fabric chooses.
    fn time(algorithm: &str, low: f64, median: f64, high: f64, size_bytes: u64) -> Measurement {
        let summary = Summary::of_interval((low, median, high), 100, 0.95);
        Measurement {
            benchmark: "allreduce".into(),
            ranks: 4,
            size_bytes,
            parameters: [(benchmark::ALGORITHM.to_string(), algorithm.into())].into(),
            launch_medians: vec![low, median, median, median, high],
            ..Measurement::new("time", "us", Better::Lower, summary)
        }
    }

    fn verdicts(found: &[Measurement], fabric: &str) -> Vec<(Option<String>, String, Verdict)> {
        let fabric = FabricDescription { name: fabric.into(), ..FabricDescription::default() };
        let choices = choices(found.iter(), &fabric);
        choices.iter().map(|one| (one.name.clone(), one.fastest_name(), one.verdict())).collect()
    }

    /// Over messages an allreduce uses recursive doubling below 16 KiB, and Rabenseifner's algorithm from there on.
    #[test]
    fn a_choice_is_judged_by_the_fastest_of_its_own_length() {
        // With five launches on each side, 2 of 252 arrangements are as extreme as the complete separation.
        let found = [
            time("chosen", 9.0, 10.0, 11.0, 8),
            time("recursive-doubling", 7.0, 8.0, 8.5, 8),
            time("ring", 19.0, 20.0, 21.0, 8),
            time("chosen", 38.0, 40.0, 42.0, 16 << 10),
            time("recursive-doubling", 49.0, 50.0, 51.0, 16 << 10),
            time("ring", 19.0, 20.0, 21.0, 16 << 10),
            time("chosen", 9.0, 10.0, 11.0, 64),
            time("ring", 8.0, 9.0, 10.5, 64),
            time("chosen", 9.0, 10.0, 11.0, 128),
        ];
        let name = |name: &str| Some(name.to_string());
        let expected = [
            (name("recursive-doubling"), "recursive-doubling".into(), Verdict::Right),
            (name("rabenseifner"), "ring".into(), Verdict::Slower(2.0)),
            (name("recursive-doubling"), "ring".into(), Verdict::Undecided),
        ];
        assert_eq!(verdicts(&found, "tcp"), expected);
        for fabric in ["mpi", "mpi:mpich", "cluster", "sim:a/file.toml"] {
            let unknown = verdicts(&found[..3], fabric);
            let slower = Verdict::Slower(1.25);
            assert_eq!(unknown, [(None, "recursive-doubling".into(), slower)], "{fabric}");
        }
    }

    #[test]
    fn one_launch_and_a_few_percent_decide_nothing() {
        let mut found = [time("chosen", 9.9, 10.0, 10.1, 8), time("ring", 4.9, 5.0, 5.1, 8)];
        found[1].launch_medians.truncate(1);
        assert_eq!(verdicts(&found, "tcp")[0].2, Verdict::OneLaunch);
        let near = [time("chosen", 9.9, 10.0, 10.1, 8), time("ring", 9.5, 9.6, 9.7, 8)];
        assert_eq!(verdicts(&near, "tcp")[0].2, Verdict::Right);
    }

    #[test]
    fn plans_of_other_numbers_of_ranks_name_nothing() {
        assert_eq!(name(&local_with_plans(4), "allreduce", 4, 8), Some("boards".into()));
        assert_eq!(
            name(&local_with_plans(4), "allreduce", 4, 4 << 20),
            Some("rabenseifner".into())
        );
        assert_eq!(name(&local_with_plans(2), "allreduce", 4, 8), None);
        // Collectives without plans are by messages. 4 blocks of 64 KiB are long.
        let without = |collective, bytes| name(&local_with_plans(4), collective, 4, bytes);
        assert_eq!(without("scan", 8), Some("recursive-doubling".into()));
        assert_eq!(without("reduce-scatter", 64 << 10), Some("recursive-halving".into()));
    }
}
