//! The messages of one node. They are drawn before a run, so that nothing is computed while it is timed.

use contract::{Error, Result, TimeSpan};
use random::{SplitMix64, mix};

use super::Model;

/// Length in bytes of the data that the program needs in a message: the time at which it was made, and its number among
/// those of its sender to its receiver.
pub(super) const HEADER_BYTES: usize = 16;

/// One message of a plan.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Planned {
    /// The destination.
    pub to: usize,
    /// Length in bytes, including the header that the program needs.
    pub bytes: usize,
    /// Time from the previous message until the node makes this one.
    pub gap: TimeSpan,
}

/// The messages of one node, in order.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MessagePlan {
    /// The messages.
    pub messages: Vec<Planned>,
}

impl MessagePlan {
    /// Draws the messages of node `me` of `nodes` in the run of this number. Each run and each node has random numbers
    /// of its own.
    ///
    /// # Errors
    /// [`Error::Program`] if the rule, or the depth of the stack, needs nodes that do not exist.
    pub fn new(model: &Model, me: usize, nodes: usize, run: u64) -> Result<MessagePlan> {
        let weights = model.rule.weights(me, nodes)?;
        check(model, &weights)?;
        let stream = mix(model.seed ^ mix(run ^ mix(me as u64)));
        let mut random = SplitMix64::new(stream);
        let mut stack: Vec<usize> = Vec::with_capacity(model.hits.len() + 1);
        let mut message = |number: usize| {
            if model.flush_every > 0 && number.is_multiple_of(model.flush_every) {
                stack.clear();
            }
            let to = next(&mut stack, model, &weights, &mut random);
            let exponential = |random: &mut SplitMix64| -random.uniform().ln();
            let bytes = (model.mean_bytes as f64 * exponential(&mut random)).round() as usize;
            let gap_us = model.mean_gap.as_us() * exponential(&mut random);
            Planned { to, bytes: bytes.max(HEADER_BYTES), gap: TimeSpan::from_s(gap_us / 1e6) }
        };
        Ok(MessagePlan { messages: (0..model.messages_of(me, nodes)).map(&mut message).collect() })
    }

    /// Returns the mean number of hops.
    pub fn mean_hops(&self, me: usize) -> f64 {
        let hops = self.messages.iter().map(|message| f64::from(super::rule::hops(me, message.to)));
        hops.sum::<f64>() / self.messages.len().max(1) as f64
    }
}

/// Checks the model. A miss needs a node that is not in the stack, even if the stack is full.
fn check(model: &Model, weights: &[f64]) -> Result<()> {
    let sum: f64 = model.hits.iter().sum();
    let reached = weights.iter().filter(|&&weight| weight > 0.0).count();
    if sum > 1.0 + 1e-9 || model.hits.iter().any(|hit| !(0.0..=1.0).contains(hit)) {
        let why = format!(
            "the probabilities of hits are {:?}; each is from 0 to 1, and so is their sum",
            model.hits
        );
        return Err(Error::Program(why));
    }
    if reached <= model.hits.len() {
        return Err(Error::Program(format!(
            "the rule {} has {reached} destinations and the stack holds {}: after a miss no node outside the stack is left; give \
             fewer probabilities of hits, or a wider rule",
            model.rule,
            model.hits.len()
        )));
    }
    Ok(())
}

/// Draws the next destination, and puts it on top of the stack.
fn next(stack: &mut Vec<usize>, model: &Model, weights: &[f64], random: &mut SplitMix64) -> usize {
    let mut left = random.uniform();
    let position = model.hits.iter().position(|hit| {
        left -= hit;
        left < 0.0
    });
    let hit = position.filter(|&position| position < stack.len());
    let to = match hit {
        Some(position) => stack.remove(position),
        None => outside(stack, weights, random),
    };
    stack.insert(0, to);
    stack.truncate(model.hits.len());
    to
}

/// Draws a node that is not in the stack, by the rule's weights among those.
fn outside(stack: &[usize], weights: &[f64], random: &mut SplitMix64) -> usize {
    let free = |to: &usize| !stack.contains(to) && weights[*to] > 0.0;
    let all: f64 = (0..weights.len()).filter(free).map(|to| weights[to]).sum();
    let mut left = random.uniform() * all;
    let mut last = 0;
    for to in (0..weights.len()).filter(free) {
        last = to;
        left -= weights[to];
        if left < 0.0 {
            break;
        }
    }
    last
}

/// Returns the lengths of runs of messages to one destination. The last run is left out, because the end has cut it.
pub fn run_lengths(plan: &MessagePlan) -> Vec<usize> {
    let mut runs: Vec<usize> =
        plan.messages.chunk_by(|a, b| a.to == b.to).map(<[Planned]>::len).collect();
    runs.pop();
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model(rule: &str, hits: &[f64], messages: usize) -> Model {
        Model {
            messages,
            hits: hits.to_vec(),
            rule: rule.parse().unwrap(),
            mean_bytes: 512,
            mean_gap: TimeSpan::from_us(700),
            flush_every: 0,
            seed: 5,
        }
    }

    fn plan(model: &Model, me: usize) -> MessagePlan {
        MessagePlan::new(model, me, 16, 0).unwrap()
    }

    /// For 50 000 draws the standard deviation of the mean of hops is 0.005, of lengths 2.3 bytes, of gaps 3 us. Five
    /// times these do not occur by chance.
    #[test]
    fn what_is_drawn_has_the_means_of_the_model() {
        for (rule, mean) in [("uniform", 2.1333), ("sphere:2", 1.6), ("decreasing:0.5", 1.7333)] {
            let model = model(rule, &[], 16 * 50_000);
            let plan = plan(&model, 3);
            assert!((plan.mean_hops(3) - mean).abs() < 0.025, "{rule}: {}", plan.mean_hops(3));
            let count = plan.messages.len() as f64;
            let bytes = plan.messages.iter().map(|one| one.bytes as f64).sum::<f64>() / count;
            assert!((bytes - 512.0).abs() < 12.0, "{bytes}");
            let gap = plan.messages.iter().map(|one| one.gap.as_us()).sum::<f64>() / count;
            assert!((gap - 700.0).abs() < 16.0, "{gap}");
        }
    }

    /// Figure 9: P(k) = 0.1 x 0.9^(k-1), with mean 10. A node that was missed is never drawn again at once.
    #[test]
    fn runs_at_one_entry_are_geometric() {
        let plan = plan(&model("decreasing:0.1", &[0.9], 16 * 200_000), 0);
        let runs = run_lengths(&plan);
        let count = runs.len() as f64;
        let mean = runs.iter().sum::<usize>() as f64 / count;
        // There are about 20 000 runs with a deviation of 9.5, so the deviation of the mean is 0.07.
        assert!((mean - 10.0).abs() < 0.35, "{mean}");
        for length in [1, 2, 5, 10, 20] {
            let expected = 0.1 * 0.9f64.powi(length - 1);
            let found = runs.iter().filter(|&&run| run as i32 == length).count() as f64 / count;
            let deviation = (expected * (1.0 - expected) / count).sqrt();
            assert!((found - expected).abs() < 5.0 * deviation, "{length}: {found} and {expected}");
        }
    }

    /// Compares with the obvious stack: a hit at position i is the i-th latest different destination.
    #[test]
    fn hits_at_each_position_are_as_likely_as_the_model_says() {
        let hits = [0.4, 0.2, 0.1];
        let plan = plan(&model("uniform", &hits, 16 * 50_000), 9);
        let mut latest: Vec<usize> = Vec::new();
        let mut found = [0usize; 3];
        for message in &plan.messages {
            if let Some(position) = latest.iter().position(|&to| to == message.to) {
                found[position.min(3)] += 1;
                latest.remove(position);
            }
            latest.insert(0, message.to);
            latest.truncate(3);
        }
        for (count, hit) in found.iter().zip(hits) {
            let share = *count as f64 / 50_000.0;
            assert!((share - hit).abs() < 0.012, "{found:?}");
        }
    }

    #[test]
    fn a_flush_forgets_the_stack() {
        let whole = model("uniform", &[1.0], 16 * 100);
        let destinations = |model: &Model| {
            let mut all: Vec<usize> = plan(model, 2).messages.iter().map(|one| one.to).collect();
            all.dedup();
            all.len()
        };
        assert_eq!(destinations(&whole), 1);
        let flushed = destinations(&Model { flush_every: 10, ..whole });
        // There are ten stacks, of which two in a row may begin with the same of 15 nodes.
        assert!((6..=10).contains(&flushed), "{flushed}");
    }

    #[test]
    fn a_stack_that_holds_all_destinations_is_refused() {
        let refused = |rule: &str, hits: &[f64]| {
            MessagePlan::new(&model(rule, hits, 16), 0, 16, 0).unwrap_err().to_string()
        };
        assert!(
            refused("sphere:1", &[0.1; 4]).contains("has 4 destinations and the stack holds 4")
        );
        assert!(refused("uniform", &[0.7, 0.7]).contains("so is their sum"));
    }

    #[test]
    fn messages_are_shared_out_and_runs_differ() {
        let model = model("uniform", &[0.5], 3000);
        let counts: Vec<usize> = (0..16).map(|me| plan(&model, me).messages.len()).collect();
        assert_eq!(
            (counts[0], counts[7], counts[8], counts.iter().sum::<usize>()),
            (188, 188, 187, 3000)
        );
        assert_eq!(plan(&model, 1), plan(&model, 1));
        assert_ne!(plan(&model, 1), MessagePlan::new(&model, 1, 16, 1).unwrap());
    }
}
