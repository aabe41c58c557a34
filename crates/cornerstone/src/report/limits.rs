//! The limits of the machine, and the shares of them that measurements reach.

use std::collections::HashMap;

use analysis::limits::{Bound, Limits as MachineLimits, Precision, Share, Shares};
use maud::{Markup, html};
use record::{Measurement, Run};

use super::elements::{heat, swatch};
use crate::wording::{quantity, significant, size, whole_percent};

/// Limits of the machine of each run, and the share that each measurement reaches.
pub(super) struct Limits {
    machines: Vec<MachineLimits>,
    /// Shares by the address of the measurement, which is stable because the runs outlive the report.
    shares: HashMap<*const Measurement, Share>,
}

impl Limits {
    /// Finds the limits among the measurements.
    pub(super) fn of(runs: &[Run]) -> Limits {
        let mut machines = Vec::new();
        let mut shares = HashMap::new();
        for run in runs {
            let of_run = Shares::of(run, benchmark::bound_rule);
            let found = run.measurements.iter().filter_map(|m| Some((m, of_run.share(m)?)));
            shares.extend(found.map(|(m, share)| (std::ptr::from_ref(m), share)));
            machines.push(of_run.limits().clone());
        }
        Limits { machines, shares }
    }

    /// Returns the share of a measurement in the limit that bounds it, if there is one.
    pub(super) fn share(&self, m: &Measurement) -> Option<Share> {
        self.shares.get(&std::ptr::from_ref(m)).copied()
    }

    /// As [`share`](Limits::share), in words: `63 % of the limit (1 hand-over + 1 copy)`.
    pub(super) fn words(&self, m: &Measurement) -> Option<String> {
        let Share { bound, share, .. } = self.share(m)?;
        Some(match bound {
            Bound::Path(path) => format!("{} of the limit ({path})", whole_percent(share)),
            Bound::Peak { .. } | Bound::Copy { .. } => {
                format!("{} of {bound}", whole_percent(share))
            }
        })
    }

    /// Returns the pairs of cores of each run as a heat map.
    pub(super) fn hand_over_tables(&self, runs: &[Run]) -> Markup {
        html! {
            @for (index, (run, machine)) in runs.iter().zip(&self.machines).enumerate() {
                @if !machine.hand_overs.is_empty() {
                    @if runs.len() > 1 { p { (swatch(index)) (run.label) } }
                    (hand_over_table(machine))
                }
            }
        }
    }

    /// Returns the limits of the machine of a run in a sentence, or `None` if they were not measured.
    pub(super) fn sentence(&self, run: usize) -> Option<String> {
        let machine = &self.machines[run];
        let mut parts = Vec::new();
        if let Some(hand_over) = machine.fastest_hand_over_us() {
            parts.push(format!(
                "hands a cache line from core to core in {}",
                quantity(hand_over, "us")
            ));
        }
        if let Some(copy) =
            machine.copies.iter().max_by(|a, b| a.rate_mb_per_s.total_cmp(&b.rate_mb_per_s))
        {
            let (rate, bytes) = (quantity(copy.rate_mb_per_s, "MB/s"), size(copy.size_bytes));
            parts.push(format!("copies with one core at up to {rate} ({bytes} at once)"));
        }
        if let Some(text) = peaks(machine) {
            parts.push(text);
        }
        if let Some(clock) = machine.clock_cost_us {
            parts.push(format!("reads its clock in {}", quantity(clock, "us")));
        }
        let last = parts.pop()?;
        let list = if parts.is_empty() { last } else { format!("{} and {last}", parts.join(", ")) };
        Some(format!("The machine itself {list}."))
    }
}

/// Returns the peak rates of a core.
fn peaks(machine: &MachineLimits) -> Option<String> {
    let rates: Vec<String> = [Precision::Single, Precision::Double]
        .into_iter()
        .filter_map(|precision| {
            let rate = machine.peak_mflop_per_s(precision)?;
            Some(format!("{} in {} precision", quantity(rate, "MFLOP/s"), precision.name()))
        })
        .collect();
    (!rates.is_empty()).then(|| format!("computes with one core at up to {}", rates.join(" and ")))
}

fn hand_over_table(machine: &MachineLimits) -> Markup {
    let mut cores: Vec<u64> =
        machine.hand_overs.iter().flat_map(|pair| [pair.from, pair.to]).collect();
    cores.sort_unstable();
    cores.dedup();
    html! {
        div.scroll tabindex="0" role="region" aria-label="Hand-over of a cache line" {
            table.heat {
                caption { "One cache line from core to core, one way, in ns" }
                thead { tr {
                    td {}
                    @for to in &cores { th scope="col" { (to) } }
                } }
                tbody { @for from in &cores { tr {
                    th scope="row" { (from) }
                    @for to in &cores { (heat_cell(machine, *from, *to)) }
                } } }
            }
        }
    }
}

fn heat_cell(machine: &MachineLimits, from: u64, to: u64) -> Markup {
    let pair = machine
        .hand_overs
        .iter()
        .find(|pair| [(from, to), (to, from)].contains(&(pair.from, pair.to)));
    let Some(pair) = pair.filter(|_| from != to) else { return html! { td.none {} } };
    let low = machine.fastest_hand_over_us().unwrap_or(pair.time_us);
    let high = machine.hand_overs.iter().map(|pair| pair.time_us).fold(low, f64::max);
    let title = format!("cores {from} and {to}: {}", quantity(pair.time_us, "us"));
    html! { td class=(heat(pair.time_us, low, high)) title=(title) { (significant(pair.time_us * 1e3)) } }
}
