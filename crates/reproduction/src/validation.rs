//! The difference between a paper's model and the machine that it models, here the simulated one (MPI-SHARC section
//! 5.4).

use record::Parameters;
use serde::Deserialize;

use crate::formula;
use crate::simulated::{Question, Simulator};

/// Largest deviation of a model over message sizes or over numbers of nodes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ValidationCell {
    machine: String,
    /// Models and the benchmarks that they describe.
    models: Vec<Model>,
    sizes_bytes: Vec<u64>,
    nodes: Vec<usize>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Model {
    call: String,
    benchmark: String,
}

/// Largest deviation that is taken for rounding of the arithmetic.
const ROUNDING_PERCENT: f64 = 1e-6;

impl ValidationCell {
    /// Returns the largest deviation in percent.
    pub(crate) fn value(&self, simulator: &mut Simulator) -> Result<f64, String> {
        let mut largest = 0.0f64;
        for model in &self.models {
            for &nodes in &self.nodes {
                for &size_bytes in &self.sizes_bytes {
                    let us = simulator.answer(&self.question(model, nodes, size_bytes))?;
                    let model_us = formula::sharc_time_us(&model.call, size_bytes, nodes)
                        .ok_or_else(|| format!("there is no model of `{}`", model.call))?;
                    largest = largest.max((model_us / us - 1.0).abs());
                }
            }
        }
        Ok((100.0 * largest / ROUNDING_PERCENT).round() * ROUNDING_PERCENT)
    }

    fn question(&self, model: &Model, ranks: usize, size_bytes: u64) -> Question {
        Question {
            machine: self.machine.clone(),
            packet_send_ps: None,
            answer_ps: None,
            packet_bytes: None,
            benchmark: model.benchmark.clone(),
            ranks,
            size_bytes,
            parameters: Parameters::new(),
            metric: "time".into(),
            which: Parameters::new(),
            samples: None,
            pattern: None,
            chain: None,
            ranks_per_processor: None,
            duration_s: None,
        }
    }
}
