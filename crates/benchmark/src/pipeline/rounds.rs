//! The time of a matrix back to back: of the whole chain, of its functions alone, and of its messages alone, round by
//! round.

use contract::Result;
use record::{Better, Summary};

use super::mode::Mode;
use super::results::{MetricSeries, Profile};

/// Variants of a round in the order of its numbers: the chain, its functions, its messages. Without a period no stage
/// waits for the clock.
pub(crate) const VARIANTS: [Mode; 3] = [Mode::SelfTimed, Mode::FunctionsOnly, Mode::MessagesOnly];

/// Numbers of a round, in microseconds a matrix.
struct Round {
    chain: f64,
    functions: f64,
    messages: f64,
}

fn read(rounds: &[Vec<f64>]) -> impl Iterator<Item = Round> {
    rounds.iter().filter_map(|round| match round[..] {
        [chain, functions, messages] => Some(Round { chain, functions, messages }),
        _ => None,
    })
}

/// Returns the round whose numbers are printed, so that each follows from the others: the one with the middle ratio of the
/// chain to its functions. `None` without rounds.
fn middle(rounds: &[Vec<f64>]) -> Option<Round> {
    let mut all: Vec<Round> = read(rounds).collect();
    let ratio = |round: &Round| round.chain / round.functions.max(f64::MIN_POSITIVE);
    all.sort_by(|a, b| ratio(a).total_cmp(&ratio(b)).then(a.chain.total_cmp(&b.chain)));
    let at = all.len() / 2;
    all.into_iter().nth(at)
}

/// Returns the time of the functions alone on the busiest processor for a matrix, in microseconds. `None` if they take no
/// time, or if there are no rounds.
pub(crate) fn computing_us(rounds: &[Vec<f64>]) -> Option<f64> {
    middle(rounds).map(|round| round.functions).filter(|us| *us > 0.0)
}

/// Returns the rounds as series of measurements; none without rounds. The median is the number of the middle round.
pub(crate) fn in_rounds(
    rounds: &[Vec<f64>],
    summarise: impl Fn(&[f64]) -> Result<Summary>,
) -> Result<Profile> {
    let mut series = Vec::new();
    let middle = middle(rounds);
    let mut add = |(metric, unit), better, of: fn(&Round) -> Option<f64>| {
        let samples: Vec<f64> = read(rounds).filter_map(|round| of(&round)).collect();
        if let Some(median) = middle.as_ref().and_then(of) {
            let summary = Summary { median, ..summarise(&samples)? };
            series.push(MetricSeries { metric, unit, better, of: None, samples, summary });
        }
        Ok(())
    };
    let lower = Better::Lower;
    add(("back-to-back", "us"), lower, |round| Some(round.chain))?;
    add(("busiest-processor", "us"), lower, |round| Some(round.functions))?;
    add(("messages-only", "us"), lower, |round| Some(round.messages))?;
    add(("back-to-back-per-computing", "ratio"), lower, |round| {
        (round.functions > 0.0).then(|| round.chain / round.functions)
    })?;
    add(("hidden", "%"), Better::Higher, hidden)?;
    Ok(Profile { series })
}

/// Returns the share of the communication that is hidden behind computing, in per cent. The visible part is the time of
/// the chain less that of its functions; the whole is the time of the messages alone. `None` if messages take no time.
fn hidden(round: &Round) -> Option<f64> {
    let shown = (round.chain - round.functions) / round.messages;
    (round.messages > 0.0).then(|| 100.0 * (1.0 - shown).clamp(0.0, 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use analysis::statistics::{Sample, summarise};

    #[test]
    fn two_thirds_are_hidden_in_the_papers_example() {
        let hidden = |chain, functions, messages| hidden(&Round { chain, functions, messages });
        // MITRE 5.2: 223 ms with data flow, 205 ms without, 52 ms of messages: 1 - 18 / 52.
        assert!((hidden(223.0, 205.0, 52.0).unwrap() - 65.4).abs() < 0.1);
        assert_eq!(hidden(260.0, 205.0, 52.0), Some(0.0));
        assert_eq!(hidden(204.0, 205.0, 52.0), Some(100.0));
        assert_eq!(hidden(205.0, 205.0, 0.0), None);
    }

    #[test]
    fn each_turn_has_its_own_ratio_and_share_and_one_turn_is_told() {
        // The machine is half as fast in the second round, so medians over different rounds would have no meaning.
        let rounds = [[120.0, 100.0, 40.0], [250.0, 200.0, 80.0], [150.0, 100.0, 40.0]];
        let rounds: Vec<Vec<f64>> = rounds.iter().map(|round| round.to_vec()).collect();
        let summary = |samples: &[f64]| Ok(summarise(&Sample::new(samples).unwrap(), 0.95));
        let found = in_rounds(&rounds, summary).unwrap().series;
        let of = |metric| {
            let series = found.iter().find(|series| series.metric == metric).unwrap();
            (series.samples.clone(), series.summary.median)
        };
        assert_eq!(of("back-to-back"), (vec![120.0, 250.0, 150.0], 250.0));
        assert_eq!(of("busiest-processor"), (vec![100.0, 200.0, 100.0], 200.0));
        assert_eq!(of("messages-only"), (vec![40.0, 80.0, 40.0], 80.0));
        assert_eq!(of("back-to-back-per-computing"), (vec![1.2, 1.25, 1.5], 1.25));
        // 20 of 40, 50 of 80 and 50 of 40 are visible.
        assert_eq!(of("hidden"), (vec![50.0, 37.5, 0.0], 37.5));
        assert_eq!(computing_us(&rounds), Some(200.0));
    }

    #[test]
    fn without_turns_or_work_there_is_nothing_to_tell() {
        let summary = |samples: &[f64]| Ok(summarise(&Sample::new(samples).unwrap(), 0.95));
        assert!(in_rounds(&[], summary).unwrap().series.is_empty());
        assert_eq!(computing_us(&[]), None);
        // A chain that only passes rows on, on a machine where that is free.
        let idle = vec![vec![5.0, 0.0, 5.0]];
        let metrics: Vec<_> =
            in_rounds(&idle, summary).unwrap().series.into_iter().map(|s| s.metric).collect();
        assert_eq!(metrics, ["back-to-back", "busiest-processor", "messages-only", "hidden"]);
        assert_eq!(computing_us(&idle), None);
    }
}
