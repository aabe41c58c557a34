//! Benchmarks on simulated machines, each run once for all cells that need it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use benchmark::{Chain, Event, Group, Job, PatternText, RealTime, Settings, Step};
use contract::TimeSpan;
use fabric_sim::{Machine, Options, machine, run};
use pattern::corner_turn::Design;
use record::{Measurement, Parameters};

/// A number that a benchmark measures.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    pub(crate) machine: String,
    pub(crate) packet_send_ps: Option<u64>,
    pub(crate) answer_ps: Option<u64>,
    pub(crate) packet_bytes: Option<u32>,
    pub(crate) benchmark: String,
    pub(crate) ranks: usize,
    pub(crate) size_bytes: u64,
    pub(crate) parameters: Parameters,
    pub(crate) metric: String,
    /// Selects one of several measurements with this metric, by [`PARTS`].
    pub(crate) which: Parameters,
    /// Maximum number of samples, if not that of the settings.
    pub(crate) samples: Option<u64>,
    pub(crate) pattern: Option<String>,
    pub(crate) chain: Option<String>,
    pub(crate) ranks_per_processor: Option<usize>,
    pub(crate) duration_s: Option<u64>,
}

/// Parameters that distinguish the measurements of one run with the same metric.
const PARTS: [&str; 2] = ["pair", "length"];

/// Runs benchmarks, and keeps their measurements.
#[derive(Default)]
pub struct Simulator {
    runs: HashMap<Question, Rc<Vec<Measurement>>>,
}

impl Simulator {
    /// Returns the median of the question's measurement.
    pub(crate) fn answer(&mut self, question: &Question) -> Result<f64, String> {
        let run = Question { metric: String::new(), which: Parameters::new(), ..question.clone() };
        let measurements = match self.runs.get(&run) {
            Some(kept) => Rc::clone(kept),
            None => {
                let made = Rc::new(measure(&run)?);
                self.runs.insert(run, Rc::clone(&made));
                made
            }
        };
        let found = measurements.iter().find(|measurement| {
            let is_the_one = |name| measurement.parameters.get(name) == question.which.get(name);
            measurement.metric == question.metric && PARTS.into_iter().all(is_the_one)
        });
        found.map(|measurement| measurement.summary.median).ok_or_else(|| {
            format!(
                "`{}` on {} gave no `{}`",
                question.benchmark, question.machine, question.metric
            )
        })
    }
}

fn measure(question: &Question) -> Result<Vec<Measurement>, String> {
    let chain = question.chain.as_deref().map(chain).transpose()?;
    let step = Step {
        benchmark: question.benchmark.clone(),
        parameters: match &chain {
            Some(chain) => flow(chain),
            None => question.parameters.clone(),
        },
        size_bytes: question.size_bytes,
        estimate_s: 0.0,
        repetition: 1,
    };
    let mut settings = in_virtual_time();
    settings.samples_max = question.samples.unwrap_or(settings.samples_max);
    settings.real_time.duration_s = question.duration_s.map(|seconds| seconds as f64);
    // The papers' periods are those at which every deadline of a trial was met.
    settings.real_time.miss_rate = RealTime::NONE_MISSED;
    settings.pattern =
        question.pattern.as_deref().map(|name| pattern(name, question)).transpose()?;
    // The results of chains and applications are checked by their own tests; only their time is needed here.
    let computes = benchmark::find(&question.benchmark).map(|found| found.group);
    let check_results = chain.is_none() && computes != Some(Group::Applications);
    settings.pipeline.chain = chain;
    let options = Options {
        check_results,
        ranks_per_processor: question.ranks_per_processor,
        ..Options::new(question.ranks)
    };
    execute(&altered(question)?, &options, step, settings)
}

/// Returns the result of `step` on `machine` with this number of ranks.
///
/// # Errors
/// The rank that failed, and the reason.
pub fn predict(machine: &Machine, ranks: usize, step: Step) -> Result<Vec<Measurement>, String> {
    predict_with(machine, ranks, step, in_virtual_time())
}

/// As [`predict`], with these settings.
///
/// # Errors
/// The rank that failed, and the reason.
pub fn predict_with(
    machine: &Machine,
    ranks: usize,
    step: Step,
    settings: Settings,
) -> Result<Vec<Measurement>, String> {
    execute(machine, &Options::new(ranks), step, settings)
}

/// Returns settings with few samples, because no sample differs from the next by chance.
fn in_virtual_time() -> Settings {
    Settings { time_min_s: 0.0, samples_min: 30, ..Settings::default() }
}

/// Returns a pattern of messages as long as the question's size.
fn pattern(name: &str, question: &Question) -> Result<PatternText, String> {
    let bytes = u32::try_from(question.size_bytes).map_err(|error| error.to_string())?;
    let text = match name {
        "pair" => format!("0: S 1 {bytes} R E\n1: R S 0 0 E\n"),
        "corner-turn" => Design::Recursive
            .schedule(question.ranks)
            .map_err(|error| error.to_string())?
            .to_text(bytes),
        other => return Err(format!("there is no pattern `{other}`")),
    };
    Ok(PatternText { name: name.into(), text })
}

/// Every whole chain of the paper's section 5.
const CHAINS: [(&str, &str); 2] = [
    (
        "paragon-fft+corner-turn-fft",
        include_str!("../../../pipelines/paragon-fft+corner-turn-fft.toml"),
    ),
    (
        "paragon-fft-corner-turn-fft",
        include_str!("../../../pipelines/paragon-fft-corner-turn-fft.toml"),
    ),
];

fn chain(name: &str) -> Result<Chain, String> {
    let found = CHAINS.iter().find(|(its_name, _)| *its_name == name);
    let (_, text) = found.ok_or_else(|| format!("there is no chain `{name}`"))?;
    Chain::parse(&format!("{name}.toml"), text).map_err(|error| error.to_string())
}

/// Returns the flow of the chain's messages, from the file.
fn flow(chain: &Chain) -> Parameters {
    let rows = chain.rows_per_message as u64;
    Parameters::from([("rows".into(), rows.into()), ("mode".into(), "self-timed".into())])
}

fn execute(
    machine: &Machine,
    options: &Options,
    step: Step,
    settings: Settings,
) -> Result<Vec<Measurement>, String> {
    let job = Job { steps: vec![step], settings, limit_s: None };
    let made = Rc::new(RefCell::new(Vec::new()));
    let skipped = Rc::new(RefCell::new(None));
    let (kept, why) = (Rc::clone(&made), Rc::clone(&skipped));
    run(machine, options, move |rank| {
        benchmark::execute(rank, &job, &mut |event| {
            match event {
                Event::Measured(measurements) => kept.borrow_mut().extend(measurements),
                Event::Skipped { reason, .. } => *why.borrow_mut() = Some(reason),
                _ => {}
            }
            Ok(())
        })
    })
    .map_err(|(rank, error)| format!("rank {rank}: {error}"))?;
    skipped.take().map_or_else(|| Ok(made.take()), Err)
}

fn altered(question: &Question) -> Result<Machine, String> {
    let mut machine = machine::find(&question.machine).map_err(|error| error.to_string())?;
    if let Some(ps) = question.packet_send_ps {
        machine.endpoint.packet_send.fixed = TimeSpan::from_ps(ps);
    }
    if let Some(ps) = question.answer_ps {
        machine.protocol.answer = TimeSpan::from_ps(ps);
    }
    if let Some(bytes) = question.packet_bytes {
        machine.network.packet_bytes = bytes;
    }
    Ok(machine)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time_us(machine: &str, ranks: usize, size_bytes: u64) -> f64 {
        let machine = machine::find(machine).unwrap();
        let step = Step {
            benchmark: "exchange".into(),
            parameters: Parameters::new(),
            size_bytes,
            estimate_s: 0.0,
            repetition: 1,
        };
        let all = predict(&machine, ranks, step).unwrap();
        let time = all.iter().find(|one| one.metric == "time").unwrap();
        // All samples are equal in virtual time.
        assert_eq!(time.summary.min, time.summary.max);
        time.summary.median
    }

    #[test]
    fn an_exchange_takes_as_long_beside_idle_ranks_as_alone() {
        for machine in ["mark-iii", "ipsc", "ametek-s14"] {
            for size_bytes in [0, 1024] {
                let alone = time_us(machine, 2, size_bytes);
                for ranks in [3, 4, 8] {
                    assert_eq!(time_us(machine, ranks, size_bytes), alone, "{machine} {ranks}");
                }
            }
        }
    }

    #[test]
    fn a_run_without_the_metric_is_named() {
        let question = Question {
            machine: "mark-iii".into(),
            packet_send_ps: None,
            answer_ps: None,
            packet_bytes: None,
            benchmark: "simple-transfer".into(),
            ranks: 2,
            size_bytes: 0,
            parameters: Parameters::new(),
            metric: "time".into(),
            which: Parameters::from([("length".to_string(), 3u64.into())]),
            samples: None,
            pattern: None,
            chain: None,
            ranks_per_processor: None,
            duration_s: None,
        };
        let mut simulator = Simulator::default();
        let none = simulator.answer(&question).unwrap_err();
        assert_eq!(none, "`simple-transfer` on mark-iii gave no `time`");
        let any = Question { which: Parameters::new(), ..question };
        // Table 5: 95 us.
        assert!((simulator.answer(&any).unwrap() - 95.0).abs() < 0.1);
    }
}
