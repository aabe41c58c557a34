//! What limits a measured chain: predicted on the machine that was simulated, or on a model made of the measured times.

use std::collections::BTreeMap;

use benchmark::{Chain, Pipeline};
use record::{Measurement, Parameters, RunHeader};
use reproduction::{Bottleneck, ChainChanges, bottleneck, model_of_chain};

use crate::fabric_name::{machine_of, simulated_machine};
use crate::wording::{limit_of_chain, quantity};

/// Parameters of a case of a chain that is measured as its file describes it.
const OWN: [&str; 3] = ["chain", "mode", "rows"];
/// Largest number of ranks of a chain that is simulated for this. Larger ones take longer than a reader of a table waits.
const RANKS_MAX: usize = 16;
/// Difference of the model's time from the measured one, as a share, from which it is stated.
const DIFFERENCE: f64 = 0.02;

/// Returns the sentence that names what limits the chain of a case. `get` returns a metric of the case with further
/// parameters. `None` for variants of the chain of a file, and where something is unknown.
pub(crate) fn chain_limit<'a>(
    header: &RunHeader,
    case: &Parameters,
    get: impl Fn(&Parameters, &str) -> Option<&'a Measurement>,
) -> Option<String> {
    let chain = chain_of(&header.texts, case)?;
    if chain.ranks() > RANKS_MAX {
        let file = &chain.file;
        return Some(format!(
            "`cornerstone tradeoff MACHINE --pipeline {file}` finds what limits the chain"
        ));
    }
    let measured_us = get(case, "back-to-back")?.summary.median;
    let changes = ChainChanges::default();
    if simulated_machine(&header.fabric.name).is_some() {
        let machine = machine_of(header)?;
        return bottleneck(&machine, &chain, changes).ok().map(|found| limit_of_chain(&found));
    }
    let computing = |(index, stage): (usize, &benchmark::Stage)| {
        let mut of_stage = case.clone();
        of_stage.insert("stage".into(), format!("{} {}", index + 1, stage.name).as_str().into());
        get(&of_stage, "computing").map(|found| found.summary.median)
    };
    let stages_us: Vec<Option<f64>> = chain.stages.iter().enumerate().map(computing).collect();
    if stages_us.iter().all(Option::is_none) {
        return None;
    }
    let messages_us = get(case, "messages-only")?.summary.median;
    let (machine, model) = model_of_chain(&chain, &stages_us, messages_us).ok()?;
    let found = bottleneck(&machine, &model, changes).ok()?;
    Some(format!("{}{}", limit_of_chain(&found), of_the_model(&found, measured_us)))
}

/// Returns the chain of a case, if the case is the whole chain of a file.
fn chain_of(texts: &BTreeMap<String, String>, case: &Parameters) -> Option<Chain> {
    let chain = Chain::among(texts).unwrap_or_else(|| Pipeline::default().chain());
    let is_own = case.keys().all(|name| OWN.contains(&name.as_str()));
    let is_its = case.get("chain").map(ToString::to_string) == Some(chain.name.clone());
    let is_self_timed = case.get("mode").map(ToString::to_string) == Some("self-timed".into());
    let rows_per_message = case.get("rows")?.to_string().parse().ok()?;
    (is_own && is_its && is_self_timed).then_some(Chain { rows_per_message, ..chain })
}

/// Returns what the model is made of, and by how much it is wrong.
fn of_the_model(found: &Bottleneck, measured_us: f64) -> String {
    let model = " (predicted from the times of the stages and of the messages";
    let ratio = found.matrix_us / measured_us;
    match (ratio - 1.0).abs() > DIFFERENCE {
        false => format!("{model})"),
        true => format!("{model}, where {} was measured)", quantity(measured_us, "us")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(parameters: &[(&str, &str)]) -> Parameters {
        parameters.iter().map(|(name, value)| ((*name).to_owned(), (*value).into())).collect()
    }

    #[test]
    fn only_the_whole_chain_of_the_file_has_a_limit() {
        let example = Pipeline::default().chain();
        let own = [("chain", example.name.as_str()), ("mode", "self-timed"), ("rows", "8")];
        let chain = chain_of(&BTreeMap::new(), &case(&own)).unwrap();
        assert_eq!(chain, Chain { rows_per_message: 8, ..example.clone() });
        for other in [("part", "1 fft"), ("mode", "synchronised"), ("chain", "other")] {
            let parameters: Vec<_> = own.iter().copied().chain([other]).collect();
            assert_eq!(chain_of(&BTreeMap::new(), &case(&parameters)), None, "{other:?}");
        }
    }

    #[test]
    fn a_model_that_is_wrong_states_what_was_measured() {
        let found = Bottleneck { matrix_us: 100.0, changes: Vec::new() };
        assert!(!of_the_model(&found, 101.0).contains("measured"));
        assert!(of_the_model(&found, 120.0).contains("where 120 µs was measured"));
    }
}
