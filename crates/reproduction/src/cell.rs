//! The cells of the papers' tables, as data.

use std::collections::BTreeMap;

use record::{ParameterValue, Parameters};
use serde::{Deserialize, Serialize};

use crate::array::ArrayCell;
use crate::bench_node::BenchNodeCell;
use crate::formula;
use crate::simulated::{Question, Simulator};
use crate::validation::ValidationCell;

/// Kind of a recomputed cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum How {
    /// The machine was fitted to this cell, among others.
    Fitted,
    /// By simulation of a machine that was not fitted to this cell.
    Predicted,
    /// By a formula that the paper gives.
    Formula,
}

/// A cell and its computation.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Cell {
    /// `paper/table/row/column`.
    pub id: String,
    /// The unit.
    pub unit: String,
    /// The published value; `None` if it was withheld.
    pub published: Option<f64>,
    /// True if the published value is an upper bound.
    #[serde(default)]
    at_most: bool,
    /// Kind of the recomputed value.
    pub how: How,
    /// Name of the formula of a cell that is computed by formula.
    formula: Option<String>,
    /// Benchmark and metric of a simulated cell.
    run: Option<RunCell>,
    /// Measurement on the Finite Element Machine, simulated word by word.
    array: Option<ArrayCell>,
    /// Node of the test bench.
    bench_node: Option<BenchNodeCell>,
    /// Deviation of a model. The published value is the largest deviation that the paper found.
    validation: Option<ValidationCell>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RunCell {
    machine: String,
    benchmark: String,
    ranks: usize,
    size_bytes: u64,
    metric: String,
    #[serde(default)]
    parameters: BTreeMap<String, ParameterValue>,
    /// Pattern of `pmp`: `pair`, a message and its empty answer, or `corner-turn`, the recursive one.
    pattern: Option<String>,
    /// Chain of `pipeline`: a file's name under pipelines/.
    chain: Option<String>,
    /// Number of ranks on a processor.
    ranks_per_processor: Option<usize>,
    /// Duration of each trial of a period.
    duration_s: Option<u64>,
    /// `pair` or `length` of one of several measurements with this metric.
    #[serde(default)]
    which: BTreeMap<String, ParameterValue>,
    /// Maximum number of samples, if runs differ by chance and take long.
    samples: Option<u64>,
    /// Replaces the machine's fixed cost of a packet at the sender.
    packet_send_us: Option<f64>,
    /// Replaces the time in which the machine's receiver answers an RTS.
    answer_us: Option<f64>,
    /// Replaces the machine's packet size.
    packet_bytes: Option<u32>,
    /// The value is divided by that of this benchmark, all else being equal.
    per: Option<String>,
    /// The value is divided by that with these parameters, all else being equal.
    per_parameters: Option<BTreeMap<String, ParameterValue>>,
    /// The value is the message size, from zero to the given one, at which the faster of this machine and that one
    /// becomes the slower.
    crossing_with: Option<String>,
    /// The value is the rise from this size on, for each byte.
    rise_from_bytes: Option<u64>,
    /// The value is the parallel efficiency in percent: the time of one rank over this one's, for each rank.
    #[serde(default)]
    efficiency: bool,
    /// The value is multiplied by this.
    scale: Option<f64>,
    /// The value is this over the value otherwise.
    inverse_of: Option<f64>,
}

/// Result of a program on an old processor, and the program.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ProcessorCell {
    pub(crate) id: String,
    pub(crate) unit: String,
    pub(crate) published: f64,
    pub(crate) program: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    cell: Vec<Cell>,
    #[serde(default)]
    processor: Vec<ProcessorCell>,
}

const FILES: [&str; 5] = [
    include_str!("../../../papers/mitre-1995.toml"),
    include_str!("../../../papers/mpi-sharc-2002.toml"),
    include_str!("../../../papers/fem-1983.toml"),
    include_str!("../../../papers/hypercube-1986.toml"),
    include_str!("../../../papers/scale-1996.toml"),
];

fn files() -> impl Iterator<Item = File> {
    FILES.iter().map(|text| toml::from_str(text).expect("a test reads every paper's file"))
}

/// Returns all cells, paper by paper and table by table.
pub fn cells() -> Vec<Cell> {
    files().flat_map(|file| file.cell).collect()
}

/// Returns the cells with which this machine's processors are compared.
pub(crate) fn processor_cells() -> Vec<ProcessorCell> {
    files().flat_map(|file| file.processor).collect()
}

/// Returns whether a cell is of this paper or table.
pub(crate) fn is_of(id: &str, table: &str) -> bool {
    id.strip_prefix(table.trim_end_matches('/')).is_some_and(|rest| rest.starts_with('/'))
}

impl Cell {
    /// Returns whether the cell is of this paper or table.
    pub fn belongs_to(&self, table: Option<&str>) -> bool {
        table.is_none_or(|table| is_of(&self.id, table))
    }

    /// Computes the value.
    ///
    /// # Errors
    /// The error, in words.
    pub fn compute(&self, simulator: &mut Simulator) -> Result<f64, String> {
        let found = [
            self.formula.as_deref().map(formula::value),
            self.run.as_ref().map(|run| run.compute(simulator)),
            self.array.as_ref().map(ArrayCell::value),
            self.bench_node.as_ref().map(BenchNodeCell::value),
            self.validation.as_ref().map(|validation| validation.value(simulator)),
        ];
        let mut found = found.into_iter().flatten();
        match (found.next(), found.next()) {
            (Some(value), None) => value,
            _ => Err("a cell is computed in one way, and in no other".into()),
        }
    }

    /// Returns whether the published value is a bound that the recomputed one must not exceed, instead of a value to
    /// reproduce.
    pub fn is_bound(&self) -> bool {
        self.at_most || self.validation.is_some()
    }
}

impl RunCell {
    fn compute(&self, simulator: &mut Simulator) -> Result<f64, String> {
        if let Some(other) = &self.crossing_with {
            return self.crossing_bytes(other, simulator);
        }
        let mut value = simulator.answer(&self.question(&self.benchmark, self.size_bytes))?;
        if let Some(from) = self.rise_from_bytes {
            let less = simulator.answer(&self.question(&self.benchmark, from))?;
            value = (value - less) / (self.size_bytes - from) as f64;
        }
        if self.efficiency {
            let alone = Question { ranks: 1, ..self.question(&self.benchmark, self.size_bytes) };
            value = 100.0 * simulator.answer(&alone)? / value / self.ranks as f64;
        }
        if let Some(per) = &self.per {
            value /= simulator.answer(&self.question(per, self.size_bytes))?;
        }
        if let Some(parameters) = &self.per_parameters {
            let parameters = Parameters::from_iter(parameters.clone());
            let per = Question { parameters, ..self.question(&self.benchmark, self.size_bytes) };
            value /= simulator.answer(&per)?;
        }
        if let Some(numerator) = self.inverse_of {
            value = numerator / value;
        }
        Ok(value * self.scale.unwrap_or(1.0))
    }

    /// Returns the size in bytes from which the other of two machines has the smaller value, by bisection.
    ///
    /// # Errors
    /// Machines one of which is better at both ends, and errors of a run.
    fn crossing_bytes(&self, other: &str, simulator: &mut Simulator) -> Result<f64, String> {
        let mut is_ahead = |size_bytes: u64| -> Result<bool, String> {
            let this = self.question(&self.benchmark, size_bytes);
            let that = Question { machine: other.into(), ..this.clone() };
            Ok(simulator.answer(&this)? < simulator.answer(&that)?)
        };
        let (mut low, mut high) = (0, self.size_bytes);
        let ahead_at_first = is_ahead(low)?;
        if is_ahead(high)? == ahead_at_first {
            return Err(format!(
                "{} and {other} do not change places from 0 to {high} bytes",
                self.machine
            ));
        }
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if is_ahead(middle)? == ahead_at_first { low = middle } else { high = middle }
        }
        Ok(high as f64)
    }

    fn question(&self, benchmark: &str, size_bytes: u64) -> Question {
        Question {
            machine: self.machine.clone(),
            packet_send_ps: self.packet_send_us.map(|us| (us * 1e6).round() as u64),
            answer_ps: self.answer_us.map(|us| (us * 1e6).round() as u64),
            packet_bytes: self.packet_bytes,
            benchmark: benchmark.into(),
            ranks: self.ranks,
            size_bytes,
            parameters: Parameters::from_iter(self.parameters.clone()),
            metric: self.metric.clone(),
            which: Parameters::from_iter(self.which.clone()),
            samples: self.samples,
            pattern: self.pattern.clone(),
            chain: self.chain.clone(),
            ranks_per_processor: self.ranks_per_processor,
            duration_s: self.duration_s,
        }
    }
}
