//! The time or rate of each pair of ranks as a heat map, with the slow pairs.

use std::collections::BTreeMap;

use analysis::pairs::{PairMap, PairTime};
use maud::{Markup, html};
use record::Run;

use super::elements::{heat, swatch};
use super::grouping::Benchmark;
use crate::wording::{place_of_pairs, quantity, ranks, significant, size, slow_pairs};

/// Message length in bytes from which the map shows rates. For shorter messages it shows latencies.
const RATES_FROM_BYTES: u64 = 4 << 10;
/// Maximum number of ranks of a map with numbers in its cells. In larger maps the pointer shows them.
const NUMBERED_RANKS_MAX: usize = 24;

/// Returns the maps of each run: one for each number of ranks and length of messages.
pub(super) fn pictures(benchmark: &Benchmark, runs: &[Run]) -> Markup {
    let Some(times) = benchmark.metric("time") else { return html! {} };
    html! {
        @for (index, run) in runs.iter().enumerate() {
            @let of_run = times.points.iter().filter(|point| point.run == index);
            @let maps = PairMap::of(of_run.map(|point| point.measurement));
            @if runs.len() > 1 && !maps.is_empty() { p { (swatch(index)) (run.label) } }
            @for map in &maps { (picture(map)) }
        }
    }
}

fn picture(map: &PairMap) -> Markup {
    let is_rate = map.size_bytes >= RATES_FROM_BYTES;
    let (what, unit) = if is_rate { ("Rate", "MB/s") } else { ("Half of the round trip", "µs") };
    let place = place_of_pairs(map);
    let caption = format!(
        "{what} of each pair{place} of {}, {}, in {unit}",
        ranks(map.ranks),
        size(map.size_bytes)
    );
    let times = Times::of(map);
    html! {
        div.scroll tabindex="0" role="region" aria-label=(caption) {
            table.heat {
                caption { (caption) }
                thead { tr { td {} @for to in 0..map.ranks { th scope="col" { (to) } } } }
                tbody { @for from in 0..map.ranks { tr {
                    th scope="row" { (from) }
                    @for to in 0..map.ranks { (cell(map, &times, (from as u64, to as u64), is_rate)) }
                } } }
            }
        }
        p { (slow_pairs(map)) }
    }
}

/// Times of a map by pair, and their range in microseconds.
struct Times<'a> {
    by_pair: BTreeMap<[u64; 2], &'a PairTime>,
    low_us: f64,
    high_us: f64,
}

impl<'a> Times<'a> {
    fn of(map: &'a PairMap) -> Self {
        let by_pair = map.pairs.iter().map(|pair| (ordered(pair.from, pair.to), pair)).collect();
        let times = map.pairs.iter().map(|pair| pair.time_us);
        let (low_us, high_us) =
            times.fold((f64::MAX, 0.0), |(low, high): (f64, f64), us| (low.min(us), high.max(us)));
        Times { by_pair, low_us, high_us }
    }
}

fn ordered(from: u64, to: u64) -> [u64; 2] {
    [from.min(to), from.max(to)]
}

fn cell(map: &PairMap, times: &Times, (from, to): (u64, u64), is_rate: bool) -> Markup {
    let Some(pair) = times.by_pair.get(&ordered(from, to)) else { return html! { td.none {} } };
    let rate = map.size_bytes as f64 / pair.time_us;
    let title = format!(
        "ranks {from} and {to}: {}, {}",
        quantity(pair.time_us, "us"),
        quantity(rate, "MB/s")
    );
    let number = significant(if is_rate { rate } else { pair.time_us });
    html! {
        td class=(heat(pair.time_us, times.low_us, times.high_us)) title=(title) {
            @if map.ranks <= NUMBERED_RANKS_MAX { @if pair.time_us > map.fence_us { b { (number) } } @else { (number) } }
        }
    }
}
