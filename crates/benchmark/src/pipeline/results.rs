//! The profile of a chain at its shortest period: latency and jitter of its results, jitter and computing time of each
//! stage.

use contract::{Result, TimeSpan};
use record::{Better, Measurement, Summary};

use super::detection::Found;
use super::stamps::AllStamps;
use crate::chain::{Chain, level_names, levels};
use crate::period::SearchOutcome;

/// Number of matrices at the beginning of a profile that are left out, because the chain fills.
const FILLING: usize = 8;

/// A series of times in the form of a measurement.
pub(super) struct MetricSeries {
    pub(super) metric: &'static str,
    pub(super) unit: &'static str,
    pub(super) better: Better,
    /// Stage of the series, with its number, or target; `None` for the whole chain.
    pub(super) of: Option<(&'static str, String)>,
    pub(super) samples: Vec<f64>,
    pub(super) summary: Summary,
}

/// The profile of a chain.
pub(crate) struct Profile {
    pub(super) series: Vec<MetricSeries>,
}

/// Makes the profile. Latency and jitter of the results are those of the judged instances; what is known of the stages is
/// from the stamps of all ranks in a trial of `period`, and from the sink's targets.
pub(crate) fn profile(
    chain: &Chain,
    judged: &SearchOutcome,
    (stamps, found): (&AllStamps, Vec<Found>),
    period: TimeSpan,
    summarise: impl Fn(&[f64]) -> Result<Summary>,
) -> Result<Profile> {
    let mut series = Vec::new();
    let mut add = |metric, stage: Option<&str>, samples: Vec<f64>| {
        if !samples.is_empty() {
            let (of, summary) = (stage.map(|name| ("stage", name.into())), summarise(&samples)?);
            let (unit, better) = ("us", Better::Lower);
            series.push(MetricSeries { metric, unit, better, of, samples, summary });
        }
        Ok(())
    };
    let (levels, names) = (levels(chain), level_names(chain));
    let settled = filling(stamps);
    let sink = levels.len() - 1;
    add("latency", None, judged.latencies_us.clone())?;
    add("jitter", None, judged.jitters_us.clone())?;
    for level in &levels {
        let stage = format!("{} {}", level.number, names[level.number]);
        let ends = stamps.ends(level.number);
        let jitter = |pair: &[u64]| (us(pair[1].saturating_sub(pair[0])) - period.as_us()).abs();
        let jitter = ends[settled..].windows(2).map(jitter).collect();
        add("jitter", Some(&stage), jitter)?;
        if level.number > 0 && level.number < sink {
            let busy = stamps.busy(level.number).into_iter().skip(settled).map(us).collect();
            add("computing", Some(&stage), busy)?;
        }
    }
    // A machine that only lets time pass searches nothing.
    let found = found.into_iter().filter(|found| !found.signal_to_noise_db.is_empty());
    for Found { target, signal_to_noise_db: samples } in found {
        let (of, summary) = (Some(("target", target)), summarise(&samples)?);
        let (metric, unit, better) = ("signal-to-noise", "dB", Better::Higher);
        series.push(MetricSeries { metric, unit, better, of, samples, summary });
    }
    Ok(Profile { series })
}

/// Returns the number of matrices at the beginning that are left out.
fn filling(stamps: &AllStamps) -> usize {
    FILLING.min(stamps.matrices() / 2)
}

fn us(ps: u64) -> f64 {
    ps as f64 / 1e6
}

impl Profile {
    /// Returns the profile as measurements beside `period`, or beside the measurement in its place.
    pub(crate) fn measurements(self, period: &Measurement) -> Vec<Measurement> {
        let mut all = Vec::new();
        for MetricSeries { metric, unit, better, of, samples, summary } in self.series {
            let mut parameters = period.parameters.clone();
            parameters
                .extend(of.iter().map(|(kind, name)| ((*kind).to_owned(), name.as_str().into())));
            all.push(Measurement {
                parameters,
                metric: metric.into(),
                unit: unit.into(),
                better,
                summary,
                samples,
                search: None,
                ..period.clone()
            });
        }
        all
    }
}
