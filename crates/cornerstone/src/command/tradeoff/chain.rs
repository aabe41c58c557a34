//! `tradeoff --pipeline`: what limits a chain of stages on a simulated machine.

use std::path::Path;
use std::process::ExitCode;

use benchmark::Chain;
use fabric_sim::Machine;
use reproduction::{Bottleneck, ChainChanges, bottleneck};

use crate::arguments::{Format, TradeoffArguments};
use crate::command::pipeline;
use crate::failure::Failure;
use crate::output::{print, table};
use crate::wording::{change, limit_of_chain, percent, quantity};

pub(super) fn execute(
    arguments: &TradeoffArguments,
    machine: &Machine,
    file: &Path,
) -> Result<ExitCode, Failure> {
    let chain = pipeline::read(file)?;
    check_ranks(&chain, machine)?;
    let TradeoffArguments { clock, links, buffers, .. } = *arguments;
    let changes = ChainChanges { clock, links, buffers: buffers.map(usize::from) };
    let found = bottleneck(machine, &chain, changes).map_err(Failure::failed)?;
    let text = match arguments.format {
        Format::Table => in_words(&chain, machine, &found),
        Format::Csv => as_csv(&found),
        Format::Json => serde_json::to_string_pretty(&found).expect("times are plain data") + "\n",
    };
    print(&text).map(|()| ExitCode::SUCCESS)
}

/// Refuses a chain that the machine has no ranks, or no rates, for.
fn check_ranks(chain: &Chain, machine: &Machine) -> Result<(), Failure> {
    let (ranks, most) = (chain.ranks(), machine.most_ranks(machine.ranks_per_processor));
    if ranks > most {
        let why = format!("'{}' has {ranks} ranks, and {} has {most}", chain.file, machine.name);
        return Err(Failure::usage(why));
    }
    let without = machine.processor.without_rate();
    let missing = chain.kinds().into_iter().find(|kind| without.contains(kind));
    match missing {
        None => Ok(()),
        Some(kind) => {
            let (name, key) = (&machine.name, kind.rate_key());
            let why = format!("{name} does not know how long the work of '{}' takes", chain.file);
            Err(Failure::usage(why).hint(format!("add `{key}` to its table `processor`")))
        }
    }
}

fn in_words(chain: &Chain, machine: &Machine, found: &Bottleneck) -> String {
    let us = |us: f64| quantity(us, "us");
    let row = |what: String, matrix_us: f64| {
        let gain = 1.0 - matrix_us / found.matrix_us;
        vec![what, us(matrix_us), percent(gain)]
    };
    let as_it_is = row("as it is".into(), found.matrix_us);
    let changes = found.changes.iter().map(|changed| row(change(changed), changed.matrix_us));
    let header = ["with", "a matrix back to back", "saved"].map(String::from);
    let rows = std::iter::once(as_it_is).chain(changes).collect();
    let limit = limit_of_chain(found);
    format!("{}\non {}.\n\n{}{limit}\n", chain.title, machine.title, table(&header, 1, rows))
}

fn as_csv(found: &Bottleneck) -> String {
    let mut text = format!("change,matrix_us\nas it is,{}\n", found.matrix_us);
    for changed in &found.changes {
        text += &format!("\"{}\",{}\n", change(changed), changed.matrix_us);
    }
    text
}
