//! Pairs of ranks inside a host and between hosts. Their messages take other paths, so they are measurements of their own.

use record::{ParameterValue, Parameters};

use crate::case::Case;
use crate::declaration::{Benchmark, Group};
use crate::ranks::RankRule;
use crate::settings::Settings;

/// Parameter of the place of a pair, in runs on several hosts.
pub const PAIR: &str = "pair";
/// Parameter of the second rank of a pair, if it is not rank 1.
pub(crate) const TO: &str = "to";
/// Value of [`PAIR`] for two ranks of one host.
const INSIDE: &str = "inside-a-host";
/// Value of [`PAIR`] for ranks of two hosts.
const BETWEEN: &str = "between-hosts";

/// Returns whether a measurement is of ranks of two hosts.
pub fn is_between_hosts(parameters: &Parameters) -> bool {
    parameters.get(PAIR).is_some_and(|pair| *pair == BETWEEN.into())
}

/// Returns the case for each place of a pair of ranks, or unchanged if it is of no pair, or if the ranks are on one host.
pub(crate) fn by_hosts(
    benchmark: &Benchmark,
    ranks: usize,
    case: Case,
    settings: &Settings,
) -> Vec<Case> {
    let Some(other) = first_of_second_host(settings).filter(|&other| other < ranks) else {
        return vec![case];
    };
    let with = |case: &Case, added: &[(&str, ParameterValue)]| {
        let mut parameters = case.parameters.clone();
        parameters.extend(added.iter().map(|(name, value)| ((*name).into(), value.clone())));
        Case { parameters, ..case.clone() }
    };
    let number = |name: &str| match case.parameters.get(name) {
        Some(ParameterValue::Number(number)) => Some(*number as usize),
        _ => None,
    };
    if let (Some(from), Some(to)) = (number("from"), number(TO)) {
        let is_one = host_of(from, settings) == host_of(to, settings);
        return vec![with(&case, &[(PAIR, if is_one { INSIDE } else { BETWEEN }.into())])];
    }
    if !is_of_two(benchmark) {
        return vec![case];
    }
    let between = with(&case, &[(PAIR, BETWEEN.into()), (TO, (other as u64).into())]);
    match other {
        1 => vec![with(&case, &[(PAIR, BETWEEN.into())])],
        _ => vec![with(&case, &[(PAIR, INSIDE.into())]), between],
    }
}

/// Returns the number of ranks that a benchmark of two ranks has on several hosts unless the user requests another: the
/// first host's and one of the second, so that there are pairs of both kinds.
pub(crate) fn ranks_unasked(benchmark: &Benchmark, settings: &Settings) -> Option<usize> {
    let other = first_of_second_host(settings)?;
    is_of_two(benchmark).then_some(other + 1)
}

/// Returns whether a benchmark sends messages between two ranks.
fn is_of_two(benchmark: &Benchmark) -> bool {
    benchmark.ranks == RankRule::Pair
        && matches!(benchmark.group, Group::Latencies | Group::Bandwidths)
}

fn first_of_second_host(settings: &Settings) -> Option<usize> {
    (settings.host_slots.len() > 1).then(|| settings.host_slots[0])
}

/// Returns the index of the host of a rank.
fn host_of(rank: usize, settings: &Settings) -> usize {
    let mut before = 0;
    settings
        .host_slots
        .iter()
        .take_while(|&slots| {
            before += slots;
            before <= rank
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::find;

    /// Returns the places of the pairs of a benchmark's first case, and their second rank.
    fn places(name: &str, ranks: usize, host_slots: &[usize]) -> Vec<(String, usize)> {
        let settings = Settings { host_slots: host_slots.into(), ..Settings::default() };
        let cases = by_hosts(find(name).unwrap(), ranks, Case::default(), &settings);
        let place = |case: Case| {
            let pair = case.parameters.get(PAIR).map_or("-".into(), ToString::to_string);
            (pair, crate::shape::Shape::new(ranks, 0, 8, &case.parameters).pair.1)
        };
        cases.into_iter().map(place).collect()
    }

    #[test]
    fn pairs_of_both_kinds_are_cases_of_their_own() {
        let [inside, between] = [INSIDE, BETWEEN].map(String::from);
        let both = [(inside, 1), (between.clone(), 2)];
        assert_eq!(places("ping-pong", 4, &[2, 2]), both);
        // One rank on the first host, ranks on one host alone, one host, and a benchmark of all ranks.
        assert_eq!(places("ping-pong", 2, &[1, 1]), [(between, 1)]);
        for (name, ranks, slots) in
            [("ping-pong", 2, &[2, 2][..]), ("ping-pong", 4, &[]), ("barrier", 4, &[2, 2])]
        {
            assert_eq!(places(name, ranks, slots), [("-".into(), 1)], "{name} {ranks} {slots:?}");
        }
    }

    #[test]
    fn each_pair_of_a_map_says_of_which_kind_it_is() {
        let settings = Settings { host_slots: vec![2, 3], ..Settings::default() };
        let map = find("pair-map").unwrap();
        let between = |from: u64, to: u64| {
            let parameters = [("from".into(), from.into()), ("to".into(), to.into())].into();
            let case = Case { parameters, ..Case::default() };
            is_between_hosts(&by_hosts(map, 5, case, &settings)[0].parameters)
        };
        assert_eq!([between(0, 1), between(1, 2), between(2, 4)], [false, true, false]);
        assert_eq!(ranks_unasked(find("ping-pong").unwrap(), &settings), Some(3));
        assert_eq!(ranks_unasked(map, &settings), None);
    }
}
