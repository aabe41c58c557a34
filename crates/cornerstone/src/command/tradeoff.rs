//! `tradeoff`: the benefit of faster processors and faster links on a simulated machine.

mod chain;
mod program;

use std::fmt::Write;
use std::process::ExitCode;

use fabric_sim::Machine;
use reproduction::{CallTradeoff, Crossing, SYSTEMS, SystemCurve, TradeoffQuestion, tradeoff};

use crate::arguments::{Format, RankCounts, TradeoffArguments};
use crate::failure::Failure;
use crate::output::{print, table};
use crate::wording::{quantity, size};

/// Number of ranks for all sizes, and numbers of ranks for few sizes, unless the user chooses. Machines may have fewer.
const RANKS_OF_SIZES: usize = 8;
const RANKS: [usize; 5] = [2, 4, 8, 16, 32];

/// Simulates the machine as it is and with each improvement, and compares the times.
pub(crate) fn execute(arguments: &TradeoffArguments) -> Result<ExitCode, Failure> {
    if let Some(file) = &arguments.program {
        return program::execute(arguments, file);
    }
    if let Some(option) = arguments.prediction.given() {
        let why = format!("{option} is for programs, and calls are compared");
        return Err(Failure::usage(why).hint("add --program FILE, or leave it out"));
    }
    let name = arguments.machine.as_deref().expect("clap asks for it without --program");
    let machine = fabric_sim::machine::find(name).map_err(|error| {
        Failure::usage(error.to_string()).hint("`cornerstone machines` lists them")
    })?;
    if let Some(file) = &arguments.pipeline {
        return chain::execute(arguments, &machine, file);
    }
    let question = question(arguments, &machine)?;
    let found = tradeoff(&machine, &question).map_err(Failure::failed)?;
    let text = match arguments.format {
        Format::Table => in_words(&machine, &question, &found),
        Format::Csv => as_csv(&found),
        Format::Json => serde_json::to_string_pretty(&found).expect("times are plain data") + "\n",
    };
    print(&text).map(|()| ExitCode::SUCCESS)
}

/// Returns the request, checked against the machine.
fn question(arguments: &TradeoffArguments, machine: &Machine) -> Result<TradeoffQuestion, Failure> {
    let TradeoffArguments { clock, links, .. } = *arguments;
    let calls = arguments.calls.clone();
    if let Some(unknown) = calls.iter().find(|call| benchmark::find(call).is_none()) {
        return Err(Failure::usage(format!("there is no benchmark `{unknown}`"))
            .hint("`cornerstone list` lists them"));
    }
    let sorted = |mut list: Vec<u64>| {
        list.sort_unstable();
        list.dedup();
        list
    };
    let most = machine.most_ranks(1);
    let at = arguments.at.unwrap_or(RANKS_OF_SIZES.min(most));
    let ranks = match &arguments.ranks {
        Some(RankCounts(ranks)) => ranks.clone(),
        None => RANKS.into_iter().filter(|&ranks| ranks <= most).collect(),
    };
    if let Some(count) = ranks.iter().chain([&at]).find(|&&count| !(2..=most).contains(&count)) {
        return Err(Failure::usage(format!(
            "{} does not have {count} ranks, but 2 to {most}",
            machine.name
        ))
        .hint("choose numbers of ranks with --ranks and --at"));
    }
    let (sizes_bytes, sizes_of_ranks) =
        (sorted(arguments.sizes.bytes().to_vec()), sorted(arguments.lengths.bytes().to_vec()));
    Ok(TradeoffQuestion {
        clock,
        links,
        calls,
        sizes_bytes,
        ranks_of_sizes: at,
        ranks,
        sizes_of_ranks,
    })
}

fn in_words(machine: &Machine, question: &TradeoffQuestion, found: &[CallTradeoff]) -> String {
    let mut text = format!(
        "{}.\nProcessors {} times as fast, links {} times as fast, or both; times are predicted,\n\
         in parentheses cell the machine as it is.\n",
        machine.title, question.clock, question.links
    );
    for CallTradeoff { call, over_sizes, over_ranks } in found {
        let _ = writeln!(text, "\n{call} on {} ranks", over_sizes.fixed);
        text += &curve("bytes", over_sizes, size);
        for curve_of_size in over_ranks {
            let _ = writeln!(text, "\n{call} of {}", size(curve_of_size.fixed));
            text += &curve("ranks", curve_of_size, |ranks| ranks.to_string());
        }
    }
    text
}

/// Returns the table of a curve, its crossings, and its slopes.
fn curve(what: &str, curve: &SystemCurve, named: impl Fn(u64) -> String) -> String {
    let header = std::iter::once(what).chain(SYSTEMS).map(String::from).collect::<Vec<_>>();
    let rows = curve.points.iter().map(|point| {
        let base = point.time_us[0];
        let cell = |(system, us): (usize, &f64)| match system {
            0 => quantity(*us, "us"),
            _ => format!("{} ({:.2})", quantity(*us, "us"), us / base),
        };
        let times = point.time_us.iter().enumerate().map(cell);
        std::iter::once(named(point.at)).chain(times).collect()
    });
    let mut text = table(&header, 0, rows.collect());
    for Crossing { at, links_beyond } in &curve.crossings {
        let [below, beyond] = match links_beyond {
            true => ["a faster clock", "faster links"],
            false => ["faster links", "a faster clock"],
        };
        let at = if *at < 100.0 { format!("{at:.1}") } else { format!("{at:.0}") };
        let _ = writeln!(
            text,
            "  up to {at} {what} more is gained by {below}, beyond that by {beyond}"
        );
    }
    if curve.crossings.is_empty() && curve.points.len() > 1 {
        let links = curve.points[0].time_us[2] < curve.points[0].time_us[1];
        let better = if links { "faster links gain" } else { "a faster clock gains" };
        let _ = writeln!(text, "  at all sizes here, {better} more");
    }
    if let Some([_, clock, links, both]) = curve.slopes {
        let percent = |share: f64| format!("{:.1} %", 100.0 * share);
        let _ = writeln!(
            text,
            "  the time grows at {} of the rate with a faster clock, {} with faster links, {} with both",
            percent(clock),
            percent(links),
            percent(both)
        );
    }
    text
}

fn as_csv(found: &[CallTradeoff]) -> String {
    let mut text = String::from("call,ranks,size_bytes,system,time_us\n");
    for CallTradeoff { call, over_sizes, over_ranks } in found {
        let curves =
            std::iter::once((over_sizes, true)).chain(over_ranks.iter().map(|one| (one, false)));
        for (curve, over_sizes) in curves {
            for point in &curve.points {
                let (ranks, size) =
                    if over_sizes { (curve.fixed, point.at) } else { (point.at, curve.fixed) };
                for (system, us) in SYSTEMS.iter().zip(point.time_us) {
                    let _ = writeln!(text, "{call},{ranks},{size},{system},{us}");
                }
            }
        }
    }
    text
}
