//! What limits a chain of stages: the time of a matrix back to back, predicted with one part changed at a time.

use benchmark::{Chain, matrix_us};
use fabric_sim::machine::parse;
use fabric_sim::{Machine, Options, run};
use serde::Serialize;

/// The changes that are compared.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChainChanges {
    /// Factor by which the processors of a stage become faster.
    pub clock: f64,
    /// Factor by which links become faster.
    pub links: f64,
    /// Number of buffers; twice those of the chain if `None`.
    pub buffers: Option<usize>,
}

impl Default for ChainChanges {
    /// Everything is doubled.
    fn default() -> Self {
        ChainChanges { clock: 2.0, links: 2.0, buffers: None }
    }
}

/// A part of a chain that may limit it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChainPart {
    /// The stage with this number, counted from 1, and its name.
    Stage(usize, String),
    /// The links between ranks.
    Links,
    /// The buffers of each rank.
    Buffers,
    /// The number of ranks of the source.
    Source,
    /// The number of ranks of the sink.
    Sink,
}

/// A chain with one part changed.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangedChain {
    /// The part.
    pub part: ChainPart,
    /// The number of buffers or ranks afterwards, or the factor of the speed.
    pub to: f64,
    /// Time of a matrix back to back in microseconds.
    pub matrix_us: f64,
}

/// A chain, and what each change would bring.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Bottleneck {
    /// Time of a matrix back to back in microseconds.
    pub matrix_us: f64,
    /// Each change, the one that brings most first.
    pub changes: Vec<ChangedChain>,
}

impl Bottleneck {
    /// Share of the time that a change must save to count as one that helps.
    pub const LEAST_SAVING: f64 = 0.02;

    /// Returns the change that brings most; `None` if none brings anything.
    pub fn limits(&self) -> Option<&ChangedChain> {
        self.changes
            .first()
            .filter(|first| first.matrix_us < (1.0 - Self::LEAST_SAVING) * self.matrix_us)
    }
}

/// Predicts a chain on `machine`, without its pauses, as it is and with each change for which the machine has the ranks.
///
/// # Errors
/// The rank that failed, and the reason.
pub fn bottleneck(
    machine: &Machine,
    chain: &Chain,
    changes: ChainChanges,
) -> Result<Bottleneck, String> {
    let machine = Machine { pauses: Vec::new(), ..machine.clone() };
    let ChainChanges { clock, links, buffers } = changes;
    let as_it_is = matrix(&machine, chain, true)?;
    let mut found = Vec::new();
    let mut add = |part: ChainPart, to: f64, machine: &Machine, chain: &Chain| {
        let matrix_us = matrix(machine, chain, true)?;
        found.push(ChangedChain { part, to, matrix_us });
        Ok::<(), String>(())
    };
    for (index, stage) in chain.stages.iter().enumerate() {
        let part = ChainPart::Stage(index + 1, stage.name.clone());
        add(part, clock, &machine, &chain.with_faster_stage(index, clock))?;
    }
    add(ChainPart::Links, links, &machine.scaled(1.0, links), chain)?;
    let buffers = buffers.unwrap_or(2 * chain.buffers);
    let buffered = Chain { buffers, ..chain.clone() };
    add(ChainPart::Buffers, buffers as f64, &machine, &buffered)?;
    let most_ranks = machine.most_ranks(1);
    let ends = [
        (ChainPart::Source, chain.with_wider_source(), chain.source.len()),
        (ChainPart::Sink, chain.with_wider_sink(), chain.sink.len()),
    ];
    for (part, wider, ranks) in ends {
        if let Some(wider) = wider.filter(|wider| wider.ranks() <= most_ranks) {
            add(part, 2.0 * ranks as f64, &machine, &wider)?;
        }
    }
    found.sort_by(|a, b| a.matrix_us.total_cmp(&b.matrix_us));
    Ok(Bottleneck { matrix_us: as_it_is, changes: found })
}

/// A machine on which work takes a picosecond for each operation and byte, and messages only the time of their bytes.
const MODEL: &str = "\
name = \"model\"
title = \"a chain\"
[processor]
polling_us = 1e-5
floating_point_mflops = 1e6
fft_mflops = 1e6
copy_mb_per_s = 1e6
corner_turn_mb_per_s = 1e6
reduction_mops = 1e6
matrix_multiply_mflops = 1e6
sort_mops = 1e6
[network]
shape = \"switch\"
link_mb_per_s = 1000
[[source]]
of = [\"processor\", \"network\"]
kind = \"assumed\"
from = \"units, which measured times replace\"
";

/// Returns a model of a measured chain: the chain and a machine, on which each rank of a stage computes for as long as was
/// measured, and all links have the rate at which the messages alone take as long as was measured. All times are of a
/// matrix, in microseconds.
///
/// # Errors
/// The rank that failed, and the reason.
pub fn model_of_chain(
    chain: &Chain,
    stages_us: &[Option<f64>],
    messages_us: f64,
) -> Result<(Machine, Chain), String> {
    let machine = parse("model.toml", MODEL).map_err(|error| error.to_string())?;
    let chain = chain.with_stage_times(stages_us);
    // Messages take time only on links, so that it is in proportion to that of a byte.
    let at_this_rate_us = matrix(&machine, &chain, false)?;
    let faster = at_this_rate_us / messages_us;
    let is_known = faster.is_finite() && faster > 0.0;
    Ok((machine.scaled(1.0, if is_known { faster } else { 1.0 }), chain))
}

fn matrix(machine: &Machine, chain: &Chain, computes: bool) -> Result<f64, String> {
    let ranks = chain.ranks();
    let options = Options { check_results: false, ..Options::new(ranks) };
    let chain = chain.clone();
    let times = run(machine, &options, move |rank| matrix_us(rank, &chain, computes))
        .map_err(|(rank, error)| format!("rank {rank}: {error}"))?
        .results;
    times.into_iter().next().flatten().ok_or_else(|| "rank 0 has timed nothing".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A machine on which an operation takes a nanosecond, but for the rate of its links.
    const MACHINE: &str = "\
name = \"m\"
title = \"a machine\"
[processor]
polling_us = 1e-5
floating_point_mflops = 1000
[[source]]
of = [\"processor\", \"network\"]
kind = \"assumed\"
from = \"a test\"
[network]
shape = \"switch\"
link_mb_per_s = ";

    /// Returns what limits a chain of two stages. A matrix of 64 x 64 elements has 32 KiB, in 8 messages of 1.6384 us with
    /// links of 2500 MB/s, and of 0.4096 us with 10 000. The first stage takes 2 operations an element, 8.192 us in all, and the second one 4, 16.384 us.
    ///
    /// A stage takes note of the messages that have left only when it has no block to work on. With B buffers it therefore
    /// works on B blocks, and then waits until a block was sent on, was asked for, and has come: for a message that leaves
    /// and two links that another one crosses: three times a message. A matrix takes 16.384 us + 8 / B x that.
    fn found(link_mb_per_s: u32, buffers: usize, to: usize) -> Bottleneck {
        let text = format!(
            "title = \"two stages\"\n[matrix]\nrows = 64\ncolumns = 64\n[flow]\n\
             rows_per_message = 8\nbuffers = {buffers}\n\
             [[stage]]\nfunctions = [\"weight\"]\n[[stage]]\nfunctions = [\"magnitude\"]\n"
        );
        let chain = Chain::parse("two.toml", &text).unwrap();
        let changes = ChainChanges { buffers: Some(to), ..ChainChanges::default() };
        let machine = parse("m.toml", &format!("{MACHINE}{link_mb_per_s}\n")).unwrap();
        bottleneck(&machine, &chain, changes).unwrap()
    }

    fn is_about(found_us: f64, expected_us: f64) -> bool {
        (found_us / expected_us - 1.0).abs() < 0.02
    }

    #[test]
    fn the_slowest_stage_limits_a_chain_with_enough_buffers() {
        let found = found(10_000, 4, 8);
        assert!(is_about(found.matrix_us, 16.384 + 2.0 * 1.2288), "{found:#?}");
        let first = found.limits().unwrap();
        assert_eq!(first.part, ChainPart::Stage(2, "magnitude".into()));
        // Both stages then take 8.192 us, and wait for each other.
        assert!((8.192 + 2.0 * 1.2288..11.5).contains(&first.matrix_us), "{found:#?}");
        let weight = ChainPart::Stage(1, "weight".into());
        let other = found.changes.iter().find(|one| one.part == weight).unwrap();
        assert!(is_about(other.matrix_us, found.matrix_us), "{found:#?}");
    }

    #[test]
    fn few_buffers_limit_a_chain() {
        let found = found(2500, 1, 4);
        assert!(is_about(found.matrix_us, 16.384 + 8.0 * 4.9152), "{found:#?}");
        let first = found.limits().unwrap();
        assert_eq!((&first.part, first.to), (&ChainPart::Buffers, 4.0), "{found:#?}");
        assert!(is_about(first.matrix_us, 16.384 + 2.0 * 4.9152), "{found:#?}");
        // Links twice as fast take half of what is waited for.
        let links = found.changes.iter().find(|one| one.part == ChainPart::Links).unwrap();
        assert!(is_about(links.matrix_us, 16.384 + 4.0 * 4.9152), "{found:#?}");
    }

    #[test]
    fn a_model_of_a_chain_takes_the_times_that_were_measured() {
        let text = "title = \"two\"\n[matrix]\nrows = 64\ncolumns = 64\n[flow]\nrows_per_message = 8\n\
            [[stage]]\nfunctions = [\"fft\"]\n[[stage]]\nfunctions = [\"magnitude\"]\n";
        let chain = Chain::parse("two.toml", text).unwrap();
        let (machine, model) = model_of_chain(&chain, &[Some(70.0), Some(50.0)], 20.0).unwrap();
        let messages_us = matrix(&machine, &model, false).unwrap();
        assert!(is_about(messages_us, 20.0), "{messages_us}");
        let found = bottleneck(&machine, &model, ChainChanges::default()).unwrap();
        // Three buffers hide nothing of the messages, as above: 3 x 20 / 8 us for each 3 of the 8 blocks.
        assert!(is_about(found.matrix_us, 90.0), "{found:#?}");
        let first = found.limits().unwrap();
        assert_eq!(first.part, ChainPart::Stage(1, "fft".into()));
        // The other stage then takes longest.
        assert!(is_about(first.matrix_us, 70.0), "{found:#?}");
    }
}
