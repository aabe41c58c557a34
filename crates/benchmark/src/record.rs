//! Makes records of the outcomes of the timed loop.

use analysis::statistics::{Sample, summarise};
use contract::{Error, Result};
use record::{Better, Measurement, Parameters, Summary, Timing};

use crate::program::Program;
use crate::settings::Settings;
use crate::shape::Shape;
use crate::timed_loop::Outcome;

const PS_PER_US: f64 = 1e6;

/// All fields of a measurement except its numbers.
pub(crate) struct Subject<'a> {
    pub(crate) name: &'static str,
    pub(crate) group: &'static str,
    pub(crate) fabric: String,
    pub(crate) parameters: Parameters,
    pub(crate) shape: &'a Shape,
    pub(crate) settings: &'a Settings,
}

impl Subject<'_> {
    /// Returns the time of an event's parts, and the rate that follows from it.
    pub(crate) fn measurements(
        &self,
        program: Program,
        outcome: &Outcome,
    ) -> Result<Vec<Measurement>> {
        let time = self.time((program.parts)(self.shape), outcome)?;
        let moved = (program.moved)(self.shape);
        let rate = (moved > 0 && time.samples.iter().all(|&us| us > 0.0))
            .then(|| self.derived(&time, "rate", "MB/s", |us| moved as f64 / us))
            .transpose()?;
        Ok(std::iter::once(time).chain(rate).collect())
    }

    /// Returns the metric `time` in microseconds: an event's time divided by `parts`.
    pub(crate) fn time(&self, parts: u64, outcome: &Outcome) -> Result<Measurement> {
        let to_us = |&ps: &f64| (ps / parts as f64).round() / PS_PER_US;
        let samples: Vec<f64> = outcome.samples_ps.iter().map(to_us).collect();
        Ok(Measurement {
            stop_reason: outcome.stop_reason,
            warm_up_samples: outcome.warm_up_ps.iter().map(to_us).collect(),
            turns: outcome.repetitions.clone(),
            ..self.metric(("time", "us"), samples, outcome.timing.clone())?
        })
    }

    /// Returns a metric with these `samples`. Lower is better, and it was measured for the time that the user
    /// requested.
    pub(crate) fn metric(
        &self,
        (metric, unit): (&str, &str),
        samples: Vec<f64>,
        timing: Timing,
    ) -> Result<Measurement> {
        let summary = self.summary(&samples)?;
        Ok(Measurement {
            benchmark: self.name.into(),
            group: self.group.into(),
            fabric: self.fabric.clone(),
            ranks: self.shape.ranks,
            size_bytes: self.shape.size as u64,
            parameters: self.parameters.clone(),
            timing,
            samples,
            ..Measurement::new(metric, unit, Better::Lower, summary)
        })
    }

    /// Returns a metric computed from each sample of another. Higher is better.
    pub(crate) fn derived(
        &self,
        from: &Measurement,
        metric: &str,
        unit: &str,
        formula: impl Fn(f64) -> f64,
    ) -> Result<Measurement> {
        let values: Vec<f64> = from.samples.iter().map(|&sample| formula(sample)).collect();
        Ok(Measurement {
            metric: metric.into(),
            unit: unit.into(),
            better: Better::Higher,
            summary: self.summary(&values)?,
            samples: Vec::new(),
            warm_up_samples: Vec::new(),
            ..from.clone()
        })
    }

    /// Returns the summary of `samples`.
    pub(crate) fn summary(&self, samples: &[f64]) -> Result<Summary> {
        let sample = Sample::new(samples).map_err(|error| {
            Error::Program(format!("{} gave samples that are none: {error}", self.name))
        })?;
        Ok(summarise(&sample, self.settings.confidence))
    }
}
