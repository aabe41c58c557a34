//! The effect of pauses on collectives: the time of an allreduce, alone and alternating with computing, as measured and
//! on the twin with the pauses that `clock` measured.

use std::collections::BTreeSet;

use benchmark::{Settings, Step};
use calibration::TwinState;
use contract::WorkKind;
use fabric_sim::Machine;
use fabric_sim::quantity::{Cost, PerUnit, Piecewise};
use record::{Measurement, ParameterValue, Parameters, Run, Summary};

use super::twin;
use crate::failure::Failure;
use crate::output::table;
use crate::progress::note;

/// Command that makes the necessary measurements.
const MEASURE: &str = "cornerstone run clock noise allreduce clock-cost copy ping-pong bandwidth \
    reduce broadcast --ranks 2";
const NOISE: &str = "noise";
const ALLREDUCE: &str = "allreduce";
/// Parameter of `noise`: the time in microseconds for which the ranks compute between two allreduces.
const COMPUTING: &str = "computing_us";
const COMPUTING_US: [u64; 3] = [10, 100, 1000];
const SIZE_BYTES: u64 = 8;
/// Numbers of ranks to predict in addition to the measured ones, if the user gives none.
const RANKS: [usize; 1] = [16];
/// Number of samples on the twin, enough for the 99.9th percentile, and the limit of virtual time.
const SAMPLES: u64 = 2_000;
const TIME_LIMIT_S: f64 = 2.0;
/// Percentiles of the table, each with the least number of samples for one sample beyond it.
const P99: (&str, usize) = ("p99", 100);
const P999: (&str, usize) = ("p99.9", 1000);
/// Cell of a percentile for which there are too few samples.
const UNKNOWN: &str = "-";
/// Computing rate of the twin if the run has none. Its value does not matter, because the benchmark computes for a
/// given time.
const OPERATIONS_PER_US: f64 = 1_000.0;

/// Returns the table.
///
/// # Errors
/// If the run has no pauses, or no twin can be made from it, or there are more ranks than the twin can have.
pub(super) fn report(run: &Run, wanted: Option<&[usize]>) -> Result<String, Failure> {
    let made = twin("twin", run, &TwinState::of(run))?;
    if !made.pauses.looked {
        return Err(Failure::usage(
            "the run holds no `clock`, so the pauses of its processors are unknown",
        )
        .hint(format!("measure with `{MEASURE}`")));
    }
    let mut machine = fabric_sim::machine::parse("twin", &made.text)
        .map_err(|error| Failure::failed(error.to_string()))?;
    let measured_ranks: BTreeSet<usize> =
        run.measurements.iter().filter(|m| m.benchmark == NOISE).map(|m| m.ranks).collect();
    let wanted = wanted.unwrap_or(&RANKS).iter().copied().filter(|ranks| *ranks > 1);
    let ranks: BTreeSet<usize> = measured_ranks.into_iter().chain(wanted).collect();
    let most = ranks.last().copied().unwrap_or(0);
    if most > machine.most_ranks(1) {
        let can = machine.most_ranks(1);
        return Err(Failure::usage(format!("the twin has at most {can} ranks, not {most}")));
    }
    prepare(&mut machine, processors(run), most);
    let quiet = Machine { pauses: Vec::new(), ..machine.clone() };
    let mut rows = Vec::new();
    for ranks in ranks {
        note(&format!("predicting {ranks} ranks"));
        for work in Work::all() {
            let measured = measured(run, ranks, work);
            rows.extend(measured.map(|m| work.row(ranks, "measured", &m.summary)));
            let twin = predict(&machine, ranks, work, with_pauses())?;
            rows.push(work.row(ranks, "twin", &twin));
            let alone = predict(&quiet, ranks, work, Settings::default())?;
            rows.push(work.row(ranks, "twin without pauses", &alone));
        }
    }
    let columns =
        ["ranks", "computing", "", "median, us", "mean", P99.0, P999.0, "longest", "samples"];
    let text = table(&columns.map(String::from), 3, rows);
    Ok(format!(
        "Computing and an allreduce of {SIZE_BYTES} bytes by turns: the time of the slowest rank. The twin \
         has the pauses that `clock` measured; a processor beyond the measured ones has the pauses of one of \
         those, at other moments.\n\n{text}\n{}",
        few_samples(&text)
    ))
}

/// Returns a line on percentiles that are left out of the table. Empty if there are none.
fn few_samples(table: &str) -> String {
    if !table.split_whitespace().any(|cell| cell == UNKNOWN) {
        return String::new();
    }
    let ((p99, needed), (p999, more)) = (P99, P999);
    format!(
        "{UNKNOWN}: a percentile needs one sample beyond it at least: {p99} {needed} samples, {p999} {more}. On the twin \
         without pauses\nall samples are alike, so it takes few.\n\n"
    )
}

/// Work of the ranks between two allreduces.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Work {
    Nothing,
    Computing { us: u64 },
}

impl Work {
    fn all() -> impl Iterator<Item = Work> {
        std::iter::once(Work::Nothing).chain(COMPUTING_US.map(|us| Work::Computing { us }))
    }

    fn benchmark(self) -> &'static str {
        match self {
            Work::Nothing => ALLREDUCE,
            Work::Computing { .. } => NOISE,
        }
    }

    fn parameters(self) -> Parameters {
        match self {
            Work::Nothing => Parameters::new(),
            Work::Computing { us } => [(COMPUTING.into(), us.into())].into(),
        }
    }

    fn row(self, ranks: usize, what: &str, times: &Summary) -> Vec<String> {
        let computing = match self {
            Work::Nothing => "none".into(),
            Work::Computing { us } => format!("{us} us"),
        };
        let Summary { median, mean, p99, p999, max, .. } = times;
        let shown = |us: &f64| format!("{us:.2}");
        let of_tail = |us: &f64, (_, needed): (&str, usize)| match times.n as usize >= needed {
            true => shown(us),
            false => UNKNOWN.into(),
        };
        let tail = [of_tail(p99, P99), of_tail(p999, P999)];
        let numbers = [shown(median), shown(mean)].into_iter().chain(tail).chain([shown(max)]);
        let cells = [ranks.to_string(), computing, what.into()].into_iter().chain(numbers);
        cells.chain([times.n.to_string()]).collect()
    }
}

/// Returns the measured time, if the run contains it.
fn measured(run: &Run, ranks: usize, work: Work) -> Option<&Measurement> {
    let parameters = work.parameters();
    run.measurements.iter().find(|m| {
        let same = m.benchmark == work.benchmark() && m.metric == "time" && m.ranks == ranks;
        same && m.size_bytes == SIZE_BYTES && m.parameters == parameters
    })
}

/// Returns the number of processors that `clock` measured.
fn processors(run: &Run) -> usize {
    let ranks = run.measurements.iter().filter(|m| m.pauses.is_some()).filter_map(|m| {
        match m.parameters.get("rank") {
            Some(ParameterValue::Number(rank)) => Some(*rank as usize + 1),
            _ => None,
        }
    });
    ranks.max().unwrap_or(1)
}

/// Assigns the pauses of the measured processors to the processors beyond them in turn, and a computing rate to the
/// machine if it has none.
fn prepare(machine: &mut Machine, measured: usize, ranks: usize) {
    for pause in &mut machine.pauses {
        if let Some(on) = &mut pause.processors {
            *on = (0..ranks.max(measured)).filter(|one| on.contains(&(one % measured))).collect();
        }
    }
    let work = &mut machine.processor.work;
    if !work.iter().any(|(kind, _)| *kind == WorkKind::FloatingPoint) {
        let per_byte = PerUnit::from_rate_per_us(OPERATIONS_PER_US);
        let line = Piecewise::line(Cost { per_byte, ..Cost::default() });
        work.push((WorkKind::FloatingPoint, line));
    }
}

/// Returns settings for a fixed number of samples. Most samples meet no pause and are equal, which would end a
/// measurement at once.
fn with_pauses() -> Settings {
    Settings {
        samples_min: SAMPLES,
        samples_max: SAMPLES,
        time_limit_s: TIME_LIMIT_S,
        time_min_s: 0.0,
        ..Settings::default()
    }
}

fn predict(
    machine: &Machine,
    ranks: usize,
    work: Work,
    settings: Settings,
) -> Result<Summary, Failure> {
    let step = Step {
        benchmark: work.benchmark().into(),
        parameters: work.parameters(),
        size_bytes: SIZE_BYTES,
        estimate_s: 0.0,
        repetition: 1,
    };
    let failed = |why: String| Failure::failed(format!("{} on the twin: {why}", work.benchmark()));
    let made = reproduction::predict_with(machine, ranks, step, settings).map_err(failed)?;
    let time = made.into_iter().find(|made| made.metric == "time");
    Ok(time.ok_or_else(|| failed("it gave no time".into()))?.summary)
}

#[cfg(test)]
mod tests {
    use contract::TimeSpan;
    use fabric_sim::machine::find;

    use super::*;

    /// Returns a machine without pauses, and the same machine with a pause of 500 us in every 100 ms, at a random
    /// moment, on the first processor.
    fn machines() -> [Machine; 2] {
        let mut machine = find("cluster").unwrap();
        machine.pauses.clear();
        prepare(&mut machine, 1, 2);
        let mut pausing = machine.clone();
        pausing.pauses.push(fabric_sim::machine::Pause {
            period: TimeSpan::from_us(100_000),
            length: TimeSpan::from_us(500),
            period_jitter: TimeSpan::from_us(99_000),
            length_jitter: TimeSpan::ZERO,
            at_once: false,
            processors: Some(vec![0]),
        });
        [machine, pausing]
    }

    #[test]
    fn pauses_lengthen_the_tail_by_as_many_rounds_as_they_hit() {
        let [quiet, mut pausing] = machines();
        prepare(&mut pausing, 1, 4);
        let work = Work::Computing { us: 1000 };
        let alone = predict(&quiet, 4, work, Settings::default()).unwrap();
        let found = predict(&pausing, 4, work, with_pauses()).unwrap();
        // All four processors have the pause now. A round of 1 ms meets the pause of one processor with the chance
        // (1000 + 500) / 100000, and that of any of four with 5.9 %. The median does not change, but the 99th
        // percentile does.
        assert!((found.median / alone.median - 1.0).abs() < 0.01, "{found:?} {alone:?}");
        assert!(found.p99 > alone.p99 + 250.0, "{found:?} {alone:?}");
        // No round takes longer than all four pauses one after the other.
        assert!(found.max > alone.max + 450.0 && found.max < alone.max + 2_050.0, "{found:?}");
        // A round loses on average at least half of the time of the pause that it meets, and at most all of it: 4 * 500
        // us in 100 ms are 2 % of the computing.
        let lost = found.mean / alone.mean - 1.0;
        assert!((0.008..0.025).contains(&lost), "{lost}");
    }

    #[test]
    fn percentiles_of_few_samples_are_left_out() {
        let row = |n: u64| {
            let times =
                Summary { n, median: 1.0, mean: 2.0, p99: 3.0, p999: 4.0, max: 5.0, ..empty() };
            Work::Nothing.row(2, "twin", &times)[3..].join(" ")
        };
        assert_eq!(row(99), "1.00 2.00 - - 5.00 99");
        assert_eq!(row(100), "1.00 2.00 3.00 - 5.00 100");
        assert_eq!(row(1000), "1.00 2.00 3.00 4.00 5.00 1000");
        assert!(
            few_samples(&row(100)).contains("p99.9 1000") && few_samples(&row(1000)).is_empty()
        );
    }

    fn empty() -> Summary {
        analysis::statistics::summarise(&analysis::statistics::Sample::new([0.0]).unwrap(), 0.95)
    }

    #[test]
    fn further_processors_have_the_pauses_of_the_measured_ones_in_turn() {
        let [_, mut machine] = machines();
        machine.pauses[0].processors = Some(vec![1]);
        prepare(&mut machine, 2, 7);
        assert_eq!(machine.pauses[0].processors, Some(vec![1, 3, 5]));
        machine.pauses[0].processors = None;
        prepare(&mut machine, 2, 7);
        assert_eq!(machine.pauses[0].processors, None);
        let rates =
            machine.processor.work.iter().filter(|(kind, _)| *kind == WorkKind::FloatingPoint);
        assert_eq!(rates.count(), 1);
    }
}
