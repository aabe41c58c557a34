//! What a chain did while it kept up its shortest period: latency, jitter and computing time at each stage.

use contract::record::{Measurement, Summary};
use contract::{Result, TimeSpan};

use super::chain::Chain;
use super::geometry::levels;
use super::stamps::AllStamps;

/// Matrices at the beginning of a profile that are left out: the chain fills.
const FILLING: usize = 8;

/// A series of times in microseconds, as a measurement shows it.
struct Series {
    metric: &'static str,
    /// The stage it belongs to, with its number; none for the whole chain.
    stage: Option<String>,
    samples: Vec<f64>,
    summary: Summary,
}

/// What a chain did at a period.
pub(crate) struct Profile {
    series: Vec<Series>,
}

/// A matrix's time under way and at each stage, from what all ranks noted of a trial that began at `begin_ps`.
pub(crate) fn profile(
    chain: &Chain,
    stamps: &AllStamps,
    (begin_ps, period): (u64, TimeSpan),
    summarise: impl Fn(&[f64]) -> Result<Summary>,
) -> Result<Profile> {
    let mut series = Vec::new();
    let mut add = |metric, stage: Option<&str>, samples: Vec<f64>| {
        if !samples.is_empty() {
            let (stage, summary) = (stage.map(Into::into), summarise(&samples)?);
            series.push(Series { metric, stage, samples, summary });
        }
        Ok(())
    };
    let levels = levels(chain);
    let settled = filling(stamps);
    let sink = levels.len() - 1;
    let starts = |matrix: usize| begin_ps + period.as_ps() * matrix as u64;
    let latency = |(matrix, end): (usize, u64)| us(end.saturating_sub(starts(matrix)));
    let ends = stamps.ends(sink).into_iter().enumerate();
    let latency: Vec<f64> = ends.skip(settled).map(latency).collect();
    add("latency", None, latency)?;
    for level in &levels {
        let stage = match level.number {
            0 => "0 source".into(),
            number if number == sink => format!("{number} sink"),
            number => format!("{number} {}", chain.stages[number - 1].name),
        };
        let ends = stamps.ends(level.number);
        let jitter = |pair: &[u64]| (us(pair[1].saturating_sub(pair[0])) - period.as_us()).abs();
        let jitter = ends[settled..].windows(2).map(jitter).collect();
        add("jitter", Some(&stage), jitter)?;
        if level.number > 0 && level.number < sink {
            let busy = stamps.busy(level.number).into_iter().skip(settled).map(us).collect();
            add("computing", Some(&stage), busy)?;
        }
    }
    Ok(Profile { series })
}

/// The computing time that a matrix places on the busiest processor, in microseconds, from what all ranks noted of a
/// trial without messages. `processors`: where each rank is bound, if it is; `sharing`: how many processors unbound ranks
/// share.
pub(crate) fn computing_us(stamps: &AllStamps, processors: &[Option<u64>], sharing: usize) -> f64 {
    let settled = filling(stamps);
    let of_rank =
        |busy: Vec<u64>| median(busy.into_iter().skip(settled).map(us).collect::<Vec<_>>());
    busiest(&stamps.busy_of_ranks().map(of_rank).collect::<Vec<_>>(), processors, sharing)
}

/// How many matrices at the beginning are left out.
fn filling(stamps: &AllStamps) -> usize {
    FILLING.min(stamps.matrices() / 2)
}

fn us(ps: u64) -> f64 {
    ps as f64 / 1e6
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// The computing time of the busiest processor. Ranks that are bound to none are taken to be spread as well as can be
/// over `sharing` of them.
fn busiest(busy_us: &[f64], processors: &[Option<u64>], sharing: usize) -> f64 {
    let bound = |processor: u64| -> f64 {
        let there = busy_us.iter().zip(processors).filter(|(_, bound)| **bound == Some(processor));
        there.map(|(busy, _)| busy).sum()
    };
    let most_bound = processors.iter().flatten().map(|&processor| bound(processor));
    let unbound = || busy_us.iter().zip(processors).filter(|(_, bound)| bound.is_none());
    let spread = unbound().map(|(busy, _)| busy).sum::<f64>() / sharing.max(1) as f64;
    let longest = unbound().map(|(busy, _)| *busy).fold(0.0, f64::max);
    most_bound.fold(spread.max(longest), f64::max)
}

/// The share of the communication that does not show in the period, in per cent: what the messages take alone, less what
/// the period grows by when they flow.
pub(crate) fn hidden(with_us: f64, functions_us: f64, messages_us: f64) -> f64 {
    100.0 * (1.0 - (with_us - functions_us) / messages_us).clamp(0.0, 1.0)
}

impl Profile {
    /// The profile as measurements beside `period`.
    pub(crate) fn measurements(self, period: &Measurement) -> Vec<Measurement> {
        let mut all = Vec::new();
        for Series { metric, stage, samples, summary } in self.series {
            let mut parameters = period.parameters.clone();
            parameters
                .extend(stage.iter().map(|stage| ("stage".to_owned(), stage.as_str().into())));
            all.push(Measurement {
                parameters,
                metric: metric.into(),
                unit: "us".into(),
                summary,
                samples,
                search: None,
                ..period.clone()
            });
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_processor_is_the_sum_of_its_ranks_or_an_even_spread() {
        let busy = [0.0, 30.0, 10.0, 30.0, 0.0];
        // Ranks 1 and 2 on processor 0, rank 3 on processor 1: 40 and 30.
        let bound = [Some(0), Some(0), Some(0), Some(1), Some(1)];
        assert_eq!(busiest(&busy, &bound, 2), 40.0);
        // 70 over two processors; over four, no less than the longest.
        assert_eq!(busiest(&busy, &[None; 5], 2), 35.0);
        assert_eq!(busiest(&busy, &[None; 5], 4), 30.0);
    }

    #[test]
    fn two_thirds_are_hidden_in_the_papers_example() {
        // MITRE 5.2: 223 ms with data flow, 205 ms without, 52 ms of messages: 1 - 18 / 52.
        assert!((hidden(223.0, 205.0, 52.0) - 65.4).abs() < 0.1);
        assert_eq!(hidden(260.0, 205.0, 52.0), 0.0);
        assert_eq!(hidden(204.0, 205.0, 52.0), 100.0);
    }
}
