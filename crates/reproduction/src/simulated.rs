//! Benchmarks on simulated machines, each run once however many cells ask for it.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use benchmark::{Event, Job, Settings, Step};
use contract::TimeSpan;
use contract::record::{Measurement, ParameterValue, Parameters};
use fabric_sim::{Machine, Options, machine, run};

/// A number that a benchmark is to give.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Question {
    pub(crate) machine: String,
    pub(crate) packet_send_ps: Option<u64>,
    pub(crate) packet_bytes: Option<u32>,
    pub(crate) benchmark: String,
    pub(crate) ranks: usize,
    pub(crate) size_bytes: u64,
    pub(crate) parameters: Parameters,
    pub(crate) metric: String,
    pub(crate) pair: Option<String>,
}

/// Runs what is asked for, and remembers it.
#[derive(Default)]
pub struct Simulator {
    runs: HashMap<Question, Rc<Vec<Measurement>>>,
}

impl Simulator {
    /// The median of what is asked for.
    pub(crate) fn answer(&mut self, question: &Question) -> Result<f64, String> {
        let run = Question { metric: String::new(), pair: None, ..question.clone() };
        let measurements = match self.runs.get(&run) {
            Some(known) => Rc::clone(known),
            None => {
                let made = Rc::new(measure(&run)?);
                self.runs.insert(run, Rc::clone(&made));
                made
            }
        };
        let pair = question.pair.as_deref().map(ParameterValue::from);
        let found = measurements.iter().find(|measurement| {
            measurement.metric == question.metric
                && measurement.parameters.get("pair") == pair.as_ref()
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
    let step = Step {
        benchmark: question.benchmark.clone(),
        parameters: question.parameters.clone(),
        size_bytes: question.size_bytes,
        estimate_s: 0.0,
    };
    predict(&altered(question)?, question.ranks, step)
}

/// What `step` gives on `machine` between so many ranks.
///
/// # Errors
/// The rank that failed, and why.
pub fn predict(machine: &Machine, ranks: usize, step: Step) -> Result<Vec<Measurement>, String> {
    let settings = Settings { time_min_s: 0.0, samples_min: 30, ..Settings::default() };
    let job = Job { steps: vec![step], settings, limit_s: None };
    let made = Rc::new(RefCell::new(Vec::new()));
    let kept = Rc::clone(&made);
    run(machine, &Options::new(ranks), move |rank| {
        benchmark::execute(rank, &job, &mut |event| {
            if let Event::Measured(measurements) = event {
                kept.borrow_mut().extend(measurements);
            }
            Ok(())
        })
    })
    .map_err(|(rank, error)| format!("rank {rank}: {error}"))?;
    Ok(made.take())
}

fn altered(question: &Question) -> Result<Machine, String> {
    let mut machine = machine::find(&question.machine).map_err(|error| error.to_string())?;
    if let Some(ps) = question.packet_send_ps {
        machine.endpoint.packet_send.fixed = TimeSpan::from_ps(ps);
    }
    if let Some(bytes) = question.packet_bytes {
        machine.network.packet_bytes = bytes;
    }
    Ok(machine)
}
